import type { CodedError } from "../primitives/result.ts";
import { findBranchPoint } from "./branchPoint.ts";
import type { SyncContext } from "./context.ts";
import type { DownloadErrorCode } from "./download.ts";
import type { SyncPeer } from "./ports.ts";

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
