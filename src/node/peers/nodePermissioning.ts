import { lookupService } from "node:dns/promises";
import { hostname } from "node:os";
import type { HeadCalls } from "../../permissioning/contract/headCalls.ts";
import { NodeContract } from "../../permissioning/contract/nodeContract.ts";
import { NodePermissions } from "../../permissioning/contract/nodePermissions.ts";
import { durationClock } from "../../primitives/clock.ts";
import { toHex } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import type { ChainAndPool } from "../openChainAndPool.ts";
import type { OpenContext } from "../openStores.ts";
import { dialAddress } from "./peerInfo.ts";
import { endpointOf, type OpenNodePermissions } from "./peers.ts";

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
        const endpoint = address && endpointOf(address);
        return endpoint === undefined ? [] : [endpoint];
      });
    return new NodePermissions({ ...parts, contract, fixed, metrics });
  });
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
