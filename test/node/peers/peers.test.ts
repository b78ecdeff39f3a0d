import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { nodeListKind } from "../../../src/config/permissionSettings.ts";
import type { SubProtocol } from "../../../src/network/subProtocol.ts";
import { openPeers, type Peers } from "../../../src/node/peers/peers.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import type { NodeEndpoint } from "../../../src/permissioning/contract/nodePayload.ts";
import { NodePermissions } from "../../../src/permissioning/contract/nodePermissions.ts";
import { openPermissions, type Permissions } from "../../../src/permissioning/permissions.ts";
import { toDigits } from "../../../src/primitives/hex.ts";
import { ok } from "../../../src/primitives/result.ts";
import { addressOfPublicKey } from "../../../src/primitives/secp256k1.ts";
import { createHandClock } from "../../builders/handClock.ts";
import { identity } from "../../network/identities.ts";
import { closeAfterEach, startToy, until } from "../../network/toyNetwork.ts";
import { temporaryFolder } from "../../storage/temporaryFolder.ts";
import { settingsOf } from "../settingsOf.ts";

const BOOTNODE = `enode://${"ab".repeat(64)}@127.0.0.1:1`;

closeAfterEach();

const open: Peers[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map(({ close }) => close()));
});

const NO_LISTS: Permissions = {
  accounts: undefined,
  nodes: undefined,
  isSenderPermitted: () => true,
  reload: () => ok([]),
};

/** Opens the network of a node that asks a contract, or a list in its place, and notes as whom the node is judged. */
async function opened(
  options: Readonly<Record<string, string>>,
  {
    permissions = NO_LISTS,
    protocols = [],
  }: { readonly permissions?: Permissions; readonly protocols?: readonly SubProtocol[] } = {},
) {
  const folder = temporaryFolder();
  const { privateKey, nodeId: publicKey } = identity(1);
  const owns: (NodeEndpoint | undefined)[] = [];
  const clock = createHandClock(0);
  const peers = await openPeers(
    settingsOf(folder, {
      "data-path": folder,
      "genesis-file": DEV_GENESIS_FILE,
      "p2p-port": "0",
      ...options,
    }),
    {
      key: { privateKey, publicKey, address: addressOfPublicKey(publicKey) },
      protocols,
      permissions,
      openNodePermissions:
        permissions.nodes === undefined
          ? ({ own, ...parts }) =>
              new NodePermissions({
                ...parts,
                own() {
                  const known = own();
                  owns.push(known);
                  return known;
                },
                contract: { permits: () => "permitted" },
                fixed: () => [],
                metrics: undefined,
              })
          : undefined,
      isValidator: () => false,
      headOf: () => undefined,
      forks: { own: () => ({ checksum: 0, next: 0n }), isCompatible: () => true },
      knownNodesFile: join(folder, "nodes.json"),
      clock,
      logger: silentLogger,
      metrics: undefined,
      counters: {
        connected: () => undefined,
        disconnected: () => undefined,
        traffic: undefined,
        refused: () => undefined,
      },
      onSharedKey: () => undefined,
    },
  );
  if (peers.ok && peers.value !== undefined) open.push(peers.value);
  return { peers, owns, clock };
}

it("a node knows its own address when its first search asks a contract about bootnodes", async () => {
  const { peers, owns } = await opened({ bootnodes: BOOTNODE });
  const port = peers.ok ? peers.value?.network.advertisedPort : undefined;
  expect(new Set(owns.map((own) => own && `${own.host}:${own.tcpPort}`))).toEqual(
    new Set([`127.0.0.1:${port}`]),
  );
});

it("a node whose announced host is a name is asked about by the address that the name has", async () => {
  const { owns } = await opened({ bootnodes: BOOTNODE, "p2p-host": "localhost" });
  expect(new Set(owns.map((own) => own?.host))).toEqual(new Set(["127.0.0.1"]));
});

it("a node whose announced host is a name without an address does not start where a contract is asked", async () => {
  const { peers } = await opened({ "p2p-host": "absent.invalid" });
  expect(peers).toMatchObject({
    ok: false,
    error: { code: "unusablePermissions", message: expect.stringContaining("absent.invalid") as string },
  });
});

it("a change of the list of nodes takes effect at once: permitted nodes are called, others are disconnected", async () => {
  const other = await startToy(2);
  const { nodeId, host, tcpPort } = other.address;
  const enode = `enode://${toDigits(nodeId)}@${host}:${tcpPort}`;
  const nodesFile = join(temporaryFolder(), "permissions.toml");
  writeFileSync(nodesFile, "nodes-allowlist=[]");
  const permissions = openPermissions(
    { accountsFile: undefined, nodesFile },
    { nodeKind: nodeListKind({ hostNames: "none", maintained: () => [] }), logger: silentLogger },
  );
  if (!permissions.ok) throw new Error(permissions.error.message);
  const { nodes, reload } = permissions.value;
  const staticNodes = join(temporaryFolder(), "static-nodes.json");
  writeFileSync(staticNodes, JSON.stringify([enode]));
  const { peers, clock } = await opened(
    { "static-nodes-file": staticNodes, "p2p-interface": "127.0.0.1", "discovery-enabled": "false" },
    { permissions: permissions.value, protocols: [other.toy] },
  );
  const network = peers.ok ? peers.value?.network : undefined;
  clock.advanceBy(0);
  expect(network?.unreachable.map(({ explanation }) => explanation)).toEqual(["it is not permitted"]);
  expect(nodes?.add([enode]).ok).toBe(true);
  clock.advanceBy(0);
  await until(() => network?.peerCount === 1);
  expect(nodes?.remove([enode]).ok).toBe(true);
  await until(() => network?.peers.length === 0);
  writeFileSync(nodesFile, `nodes-allowlist=["${enode}"]`);
  expect(reload().ok).toBe(true);
  clock.advanceBy(0);
  await until(() => network?.peerCount === 1);
});
