import { lookupService } from "node:dns/promises";
import { hostname } from "node:os";
import { type Enode, parseEnode } from "../../config/enode.ts";
import type { NodeAddress } from "../../network/dialer.ts";
import type { Metrics } from "../../observability/registry.ts";
import { NodeContract } from "../../permissioning/contract/nodeContract.ts";
import { NodePermissions, type NodePermissionsParts } from "../../permissioning/contract/nodePermissions.ts";
import { ListedNodes } from "../../permissioning/listedNodes.ts";
import type { Permissions } from "../../permissioning/permissions.ts";
import { durationClock } from "../../primitives/clock.ts";
import { ok, type Result } from "../../primitives/result.ts";
import type { ChainAndPool } from "../openChainAndPool.ts";
import type { OpenContext } from "../openContext.ts";
import { ipEndpointsOf } from "./peerInfo.ts";

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
export async function openNodePermissioning({
  settings,
  logger,
  metrics,
  permissions,
  namedPeers,
  headCalls,
}: OpenContext & ChainAndPool): Promise<Result<OpenNodePermissions | undefined, "unusablePermissions">> {
  const contractSettings = settings.permissions.nodeContract;
  if (contractSettings === undefined) return ok(undefined);
  const contract = new NodeContract(contractSettings, {
    calls: headCalls,
    nameOf,
    clock: durationClock,
    logger: logger.child("permissioning"),
    metrics,
  });
  const probed = permissions.nodes === undefined ? await contract.probe() : ok(undefined);
  if (!probed.ok) return probed;
  return ok(({ review, ...parts }) => {
    contract.whenChanged(review);
    const fixed = () => ipEndpointsOf(namedPeers.nodes);
    return new NodePermissions({ ...parts, contract, fixed, metrics });
  });
}

/** Tells whether the list of permitted nodes, where there is one, has a node. */
export function listCheck(
  { nodes: list }: Permissions,
  metrics: Metrics | undefined,
): (node: NodeAddress) => boolean {
  const nodes = list && new ListedNodes(list, parsed, metrics);
  return (node) => nodes?.has(node) ?? true;
}

function parsed(item: string): Enode | undefined {
  const node = parseEnode(item);
  return node.ok ? node.value : undefined;
}

/** The system's name for an IP address; this machine's own name for itself, as Java has it. */
async function nameOf(ip: string): Promise<string | undefined> {
  if (ip === "::1" || ip.startsWith("127.")) return hostname();
  try {
    return (await lookupService(ip, 0)).hostname;
  } catch {
    return undefined;
  }
}
