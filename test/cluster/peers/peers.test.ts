import { readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY_FILE } from "../../../src/config/devNetwork.ts";
import { itIfThorough } from "../../thorough.ts";
import {
  freePort,
  logOf,
  type NodeProcess,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";

const NETWORK = [
  `--genesis-file=${DEV_GENESIS_FILE}`,
  "--rpc-http-enabled",
  "--rpc-http-api=ETH,NET,ADMIN",
  // One thread is enough for their callers, and leaves the cores to the other nodes.
  "--rpc-threads=1",
  "--min-gas-price=0",
  "--p2p-port=0",
];
/** For the node that produces the blocks. */
const PUBLIC_KEY = [`--node-private-key-file=${DEV_VALIDATOR_KEY_FILE}`];
/** For the node whose metrics are read. */
const COUNTING = ["--metrics-enabled", "--metrics-port=0", "--metrics-category=PEERS"];

describe("two nodes of one network", () => {
  itIfThorough(
    "have different keys whatever their genesis file: only npm start uses the well-known key by itself",
    async () => {
      const validator = await startNodeProcess({ options: ["--p2p-enabled", "--p2p-port=0"] });
      const enode = (await validator.rpc<string>("net_enode")).replace("?discport=0", "");
      const follower = await startNodeProcess({ options: [...NETWORK, `--bootnodes=${enode}`] });
      expect(await follower.rpc("eth_coinbase")).not.toBe(await validator.rpc("eth_coinbase"));
      await until(
        async () => (Number(await follower.rpc("eth_blockNumber")) >= 2 ? true : undefined),
        "blocks of the other",
      );
      const number = await follower.rpc("eth_blockNumber");
      const [here, there] = await Promise.all(
        [follower, validator].map((node) => node.rpc("eth_getBlockByNumber", [number, false])),
      );
      expect(here).toEqual(there);
      expect(follower.output()).toContain(
        `start with --node-private-key-file=${DEV_VALIDATOR_KEY_FILE.replaceAll("\\", "\\\\")}`,
      );
      expect(validator.output()).not.toContain("this node is not a validator");
      // A second node with the same key could split the chain: it warns when it is to connect to the first.
      const twin = await startNodeProcess({
        options: ["--p2p-enabled", "--p2p-port=0", `--bootnodes=${enode}`],
      });
      expect(twin.output()).toContain("a configured peer has this node's own id");
      expect(follower.output()).not.toContain("own id");
      for (const node of [twin, follower, validator]) expect(await node.stop()).toBe(0);
    },
  );

  itIfThorough(
    "connect by their static nodes, follow each other's head, and reconnect after one was killed",
    async () => {
      const validator = await startNodeProcess({ options: [...NETWORK, ...PUBLIC_KEY, ...COUNTING] });
      const folder = temporaryFolder();
      const start = (): Promise<NodeProcess> =>
        startNodeProcess({
          dataPath: folder,
          options: [...NETWORK, `--node-private-key-file=${join(folder, "own.key")}`],
        });
      writeFileSync(join(folder, "own.key"), "11".repeat(32), { mode: 0o600 });
      writeFileSync(join(folder, "static-nodes.json"), JSON.stringify([await validator.rpc("net_enode")]));
      const follower = await start();
      await peersOf(validator, "0x1");
      await peersOf(follower, "0x1");
      expect(await follower.rpc("net_listening")).toBe(true);
      expect(await follower.rpc("net_services")).toMatchObject({ p2p: { host: "127.0.0.1" } });
      await expect.poll(() => validator.output()).toContain("peer connected");
      await peerHeadAdvances(validator);
      await peerHeadAdvances(follower);
      await follower.kill();
      await peersOf(validator, "0x0");
      const again = await start();
      await peersOf(validator, "0x1");
      expect(await again.stop()).toBe(0);
      await peersOf(validator, "0x0");
      await expect.poll(() => validator.output()).toContain("clientQuitting");
      const { metrics } = await validator.rpc<{ metrics: { host: string; port: string } }>("net_services");
      const counted = await (await fetch(`http://${metrics.host}:${metrics.port}/metrics`)).text();
      expect(counted).toMatch(/^besu_peers_connected_total 2/m);
      expect(counted).toMatch(
        /^besu_peers_disconnected_total\{initiator="remote",disconnectReason="CLIENT_QUITTING",?\} 1/m,
      );
      expect(await validator.stop()).toBe(0);
    },
  );

  itIfThorough(
    "log which peer they cannot reach and why, and warn of their own rules when all peers' blocks break them",
    async () => {
      const other = join(temporaryFolder(), "other.json");
      const genesis = readFileSync(DEV_GENESIS_FILE, "utf8");
      writeFileSync(other, genesis.replace('"gasLimit": "0x17d78400"', '"gasLimit": "0x17d78401"'));
      const slower = join(temporaryFolder(), "slower.json");
      writeFileSync(slower, genesis.replace('"blockperiodseconds": 1', '"blockperiodseconds": 2'));
      const validator = await startNodeProcess({ options: ["--p2p-enabled", "--p2p-port=0"] });
      const enode = (await validator.rpc<string>("net_enode")).replace("?discport=0", "");
      const foreigner = await startNodeProcess({ options: [`--genesis-file=${other}`, ...NETWORK.slice(1)] });
      const elsewhere = (await foreigner.rpc<string>("net_enode")).replace("?discport=0", "");
      const [, address] = enode.split("@");
      const otherKey = `${elsewhere.split("@")[0]}@${address}`;
      const unreachable = `enode://${"ab".repeat(64)}@127.0.0.1:${await freePort()}`;
      const follower = await startNodeProcess({
        options: [...NETWORK, `--bootnodes=${elsewhere},${unreachable}`],
      });
      const wrongKey = await startNodeProcess({ options: [...NETWORK, `--bootnodes=${otherKey}`] });
      const differing = await startNodeProcess({
        options: [`--genesis-file=${slower}`, ...NETWORK.slice(1), `--bootnodes=${enode}`],
      });
      const warnings = (node: NodeProcess) =>
        logOf(node).flatMap(({ level, message }) => (level === "WARN" ? [message] : []));
      for (const why of [
        /^no connection to .* for 1\d s: another genesis: theirs 0x\w{64}, ours 0x\w{64}$/,
        /^no connection to .* for 1\d s: nothing listens there/,
      ])
        await expect.poll(() => warnings(follower).filter((line) => why.test(line))).toHaveLength(1);
      await expect
        .poll(() => warnings(wrongKey))
        .toContainEqual(expect.stringMatching(/its key may differ from the one in its enode URL$/));
      await expect
        .poll(() => warnings(differing))
        .toContainEqual(expect.stringMatching(/^the blocks of every peer break this node's rules/));
      for (const node of [differing, wrongKey, follower, foreigner, validator])
        expect(await node.stop()).toBe(0);
    },
  );

  it("do not start on a port that another program has", async () => {
    const occupant = createServer();
    await new Promise<void>((resolve) => occupant.listen(0, "0.0.0.0", resolve));
    const { port } = occupant.address() as AddressInfo;
    await expect(
      startNodeProcess({ options: [...NETWORK.slice(0, -1), `--p2p-port=${port}`] }),
    ).rejects.toThrow(
      `Port ${port} on 0.0.0.0 is in use by another program: choose another one with --p2p-port.`,
    );
    occupant.close();
  });
});

/** Waits until the node sees a newer head of its only peer. */
async function peerHeadAdvances(node: NodeProcess): Promise<void> {
  const headNumber = async () => {
    const [peer] = await node.rpc<readonly { protocols: { eth: { head: string } } }[]>("admin_peers");
    const block = await node.rpc<{ number: string } | null>("eth_getBlockByHash", [
      peer?.protocols.eth.head,
      false,
    ]);
    return block === null ? undefined : Number(block.number);
  };
  // The peer may have a head that the node has not fetched yet.
  const first = await until(headNumber, "a head of the peer");
  await until(
    async () => (((await headNumber()) ?? first) >= first + 2 ? true : undefined),
    "a newer head of the peer",
  );
}

async function peersOf(node: NodeProcess, count: string): Promise<void> {
  await until(async () => ((await node.rpc("net_peerCount")) === count ? true : undefined), `${count} peers`);
}
