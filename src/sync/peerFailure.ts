import type { CodedError } from "../primitives/result.ts";
import { hashOfHeader } from "../types/blockHash.ts";
import type { SyncContext } from "./context.ts";
import type { DownloadErrorCode } from "./download.ts";
import type { SyncChain, SyncPeer } from "./ports.ts";

/**
 * Handles a failed download: backs the peer off, and disconnects it if it sent invalid data. For a peer on another branch,
 * the log will say where the branch begins; committed blocks are final and stay. A peer that lacks bodies will lack them
 * again, so others are asked for a minute, if there are any.
 */
export function failPeer(context: SyncContext, peer: SyncPeer, error: CodedError<DownloadErrorCode>): void {
  backOff(context, peer);
  if (error.code === "noBody") context.choice.noteLacking(peer);
  context.reports.downloadFailed(peer, error);
  if (error.code === "otherBranch")
    reportBranch(context, peer).catch((error) => context.reports.failed(error));
}

async function reportBranch({ chain, reports, isClosed }: SyncContext, peer: SyncPeer): Promise<void> {
  const number = await findBranchPoint(chain, peer);
  if (number !== undefined && !isClosed()) reports.branchFound(peer, number);
}

export function backOff({ choice, progress }: SyncContext, peer: SyncPeer): void {
  choice.backOff(peer);
  progress.noteFailure();
}

export const TOO_SLOW: CodedError<DownloadErrorCode> = {
  code: "noResponse",
  fault: "peer",
  message: "it is too slow, and another peer may be faster",
};

/**
 * Number of the newest block that the local chain shares with a peer on another branch, found by bisection with a header per
 * request; undefined when the peer does not return them. Both begin with the same genesis block.
 */
async function findBranchPoint(
  chain: Pick<SyncChain, "head" | "headerByHash">,
  peer: SyncPeer,
): Promise<bigint | undefined> {
  let shared = 0n;
  let other = chain.head.header.number + 1n;
  while (other - shared > 1n) {
    const number = (shared + other) / 2n;
    const isShared = await isOfLocalChain(chain, peer, number);
    if (isShared === undefined) return undefined;
    if (isShared) shared = number;
    else other = number;
  }
  return shared;
}

/** Whether the peer's block is the local chain's; undefined when the peer does not return it. */
async function isOfLocalChain(
  chain: Pick<SyncChain, "headerByHash">,
  peer: SyncPeer,
  number: bigint,
): Promise<boolean | undefined> {
  const response = await peer.requestHeaders({ start: { number }, max: 1, skip: 0, isReverse: false });
  const header = response.ok ? response.value[0] : undefined;
  if (header?.number !== number) return undefined;
  const hash = hashOfHeader(header);
  return hash.ok ? chain.headerByHash(hash.value) !== undefined : undefined;
}
