import type { Clock } from "../primitives/clock.ts";
import type { BulkLimits } from "./limits.ts";
import type { PeerChoice } from "./peerChoice.ts";
import type { PeerReports } from "./peerReports.ts";
import type { SyncChain, SyncPeer } from "./ports.ts";
import type { SyncProgress } from "./syncProgress.ts";

/** Called when a step of a bulk download took in items, or is done with them. */
export type OnProcessed = (
  step: "headers" | "bodies" | "importBlock",
  action: "added" | "removed",
  count: number,
) => void;

/** The dependencies that the parts of sync share. */
export interface SyncContext {
  readonly peers: () => readonly SyncPeer[];
  readonly chain: SyncChain;
  readonly clock: Clock;
  readonly choice: PeerChoice;
  readonly progress: SyncProgress;
  readonly reports: PeerReports;
  readonly limits: BulkLimits;
  readonly onProcessed: OnProcessed;
  readonly isClosed: () => boolean;
  /** False after close, and during the pause that follows a local failure. */
  readonly canImport: () => boolean;
}
