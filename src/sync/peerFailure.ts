import type { CodedError } from "../primitives/result.ts";
import { findBranchPoint } from "./branchPoint.ts";
import type { SyncContext } from "./context.ts";
import type { DownloadErrorCode } from "./download.ts";
import type { SyncPeer } from "./ports.ts";

/**
 * A download from the peer failed: it is backed off, and disconnected if it sent invalid data. Of one on another branch the
 * log will tell where that begins; committed blocks are final and stay. One that lacks bodies will lack them again, so others are
 * asked for a minute, if there are any.
 */
export function failPeer(context: SyncContext, peer: SyncPeer, error: CodedError<DownloadErrorCode>): void {
  backOff(context, peer);
  if (error.code === "noBody") context.choice.noteLacking(peer);
  context.reports.downloadFailed(peer, error);
  if (error.code === "otherBranch") reportBranch(context, peer).catch(context.reports.failed);
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
