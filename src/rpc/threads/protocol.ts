import type { RequestedCallName } from "../core/coreCalls.ts";

/** Who asks, as the main thread needs it for its queues (Requester). */
export interface RemoteCaller {
  /** Number of the connection, within its thread. */
  readonly client: number;
  readonly remoteHost: string;
}

/** A call of the main thread's core. */
export interface CoreRequest {
  readonly call: RequestedCallName;
  /** The call's arguments without the last one, the requester. */
  readonly args: readonly unknown[];
  readonly caller: RemoteCaller;
}

/** The result of a call of the core; or the block or state that the call was reading while it was removed. */
export type CoreOutcome =
  | { readonly call: RequestedCallName; readonly result: unknown }
  | { readonly removed: "block" | "state"; readonly number: bigint };
