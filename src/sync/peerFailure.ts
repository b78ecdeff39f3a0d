import type { CodedError } from "../primitives/result.ts";
import type { SyncContext } from "./context.ts";
import type { DownloadErrorCode } from "./download.ts";
import type { SyncPeer } from "./ports.ts";

/** A download from the peer failed: it is backed off, and disconnected if it sent invalid data. */
export function failPeer(context: SyncContext, peer: SyncPeer, error: CodedError<DownloadErrorCode>): void {
  backOff(context, peer);
  context.reports.downloadFailed(peer, error);
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
