import { lookupService } from "node:dns/promises";
import { isIP } from "node:net";
import { hostname } from "node:os";
import { type Enode, parseEnode } from "../../config/enode.ts";
import type { NodeAddress } from "../../network/dialer.ts";
import { ipBytes, ipText } from "../../network/discovery/endpoint.ts";
import type { Metrics } from "../../observability/registry.ts";
import { CheckCounts } from "../../permissioning/checkCounts.ts";
import type { HeadCalls } from "../../permissioning/contract/headCalls.ts";
import { NodeContract } from "../../permissioning/contract/nodeContract.ts";
import type { NodeEndpoint } from "../../permissioning/contract/nodePayload.ts";
import { NodePermissions, type NodePermissionsParts } from "../../permissioning/contract/nodePermissions.ts";
import type { Permissions } from "../../permissioning/permissions.ts";
import { durationClock } from "../../primitives/clock.ts";
import { equalBytes, toHex } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import type { ChainAndPool } from "../openChainAndPool.ts";
import type { OpenContext } from "../openStores.ts";
import { dialAddress } from "./peerInfo.ts";

/** What the network knows of the nodes that a contract is asked about. */
export type OpenNodePermissions = (
  parts: Pick<NodePermissionsParts, "own" | "bootnodes" | "isListed" | "connected"> & {
    readonly review: () => void;
  },
) => NodePermissions;

/**
 * The permissions of nodes by contract; undefined where no contract is asked. Fails, as Besu does at its start, when the
 * contract gives no answer: unless a list of nodes denies Besu's example before the contract is asked.
 */
export async function openNodePermissioning(
  { settings, logger, metrics }: OpenContext,
  {
    calls,
    permissions,
    namedPeers,
  }: Pick<ChainAndPool, "permissions" | "namedPeers"> & { readonly calls: HeadCalls },
): Promise<Result<OpenNodePermissions | undefined, "unusablePermissions">> {
  const contractSettings = settings.permissions.nodeContract;
  if (contractSettings === undefined) return ok(undefined);
  let review = (): void => undefined;
  const contract = new NodeContract(contractSettings, {
    calls,
    nameOf,
    clock: durationClock,
    onChanged: () => review(),
    logger: logger.child("permissioning"),
    metrics,
  });
  const defect = permissions.nodes === undefined ? await contract.findDefect(EXAMPLE) : undefined;
  if (defect !== undefined) {
    const { address, version } = contractSettings;
    const message = `Error: node permissioning contract at address ${toHex(address)} does not match the expected interface version ${version}. (${defect})`;
    return fail("local", "unusablePermissions", message);
  }
  return ok(({ review: reviewPeers, ...parts }) => {
    review = reviewPeers;
    const fixed = () =>
      namedPeers.nodes.flatMap((node) => {
        const address = dialAddress(node);
        return address === undefined ? [] : endpointsOf(address);
      });
    return new NodePermissions({ ...parts, contract, fixed, metrics });
  });
}

/**
 * Tells whether the list of permitted nodes, where there is one, has a node: compares id, address and listening port, but not the
 * discovery port (p2p.md#connection-policy).
 */
export function listCheck(
  { nodes }: Permissions,
  metrics: Metrics | undefined,
): (node: NodeAddress) => boolean {
  if (nodes === undefined) return () => true;
  const counts = new CheckCounts(metrics, "node_local", "node allowlist");
  let items: readonly string[] = [];
  let listed: readonly Enode[] = [];
  return ({ nodeId, host, tcpPort }) => {
    // Discovery asks for each datagram, so the list is parsed only when it has changed.
    if (items !== nodes.items) {
      items = nodes.items;
      listed = items.flatMap((item) => {
        const parsed = parseEnode(item);
        return parsed.ok ? [parsed.value] : [];
      });
    }
    const isListed = listed.some(
      (one) => one.tcpPort === tcpPort && one.host === host && equalBytes(one.nodeId, nodeId),
    );
    counts.asked();
    counts.answered(isListed ? "permitted" : "denied");
    return isListed;
  };
}

/** A node as a contract is asked about it; undefined where its host is a name. */
export function endpointOf({ nodeId, host, tcpPort }: NodeAddress): NodeEndpoint | undefined {
  if (isIP(host) === 0) return undefined;
  const ip = ipBytes(host);
  const text = ipText(ip);
  return { nodeId, ip: ipBytes(text), host: text, tcpPort };
}

/** None where its host is a name. */
export function endpointsOf(node: NodeAddress): readonly NodeEndpoint[] {
  const endpoint = endpointOf(node);
  return endpoint === undefined ? [] : [endpoint];
}

/** A node of no network, which only shows whether the contract answers. */
const EXAMPLE = {
  nodeId: new Uint8Array(64).fill(1),
  ip: Uint8Array.of(10, 3, 58, 6),
  host: "10.3.58.6",
  tcpPort: 30303,
};

/** The system's name for an IP address; this machine's own name for itself, as Java has it. */
async function nameOf(ip: string): Promise<string | undefined> {
  if (ip === "::1" || ip.startsWith("127.")) return hostname();
  try {
    return (await lookupService(ip, 0)).hostname;
  } catch {
    return undefined;
  }
}
