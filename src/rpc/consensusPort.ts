import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";

/** Consensus as ibft_status shows it. Times are wall-clock milliseconds, a block's timestamp is seconds. */
export interface RpcConsensusStatus {
  readonly mode: string;
  readonly self: Address;
  readonly isValidator: boolean;
  /** The height being decided; undefined before the start. */
  readonly height: bigint | undefined;
  readonly quorum: number;
  /** Undefined when this node does not take part in consensus. */
  readonly round: RpcRoundStatus | undefined;
  /** Set while this validator is silent because it may have signed what its record lacks. */
  readonly silence:
    | { readonly reason: string; readonly upTo: bigint; readonly untilTimestamp: bigint }
    | undefined;
  readonly members: readonly RpcMemberStatus[];
  readonly head:
    | {
        readonly number: bigint;
        readonly hash: Hash;
        readonly proposer: Address;
        readonly round: number | undefined;
        readonly timestamp: bigint;
      }
    | undefined;
  readonly votes: {
    readonly outstanding: readonly {
      readonly recipient: Address;
      readonly add: readonly Address[];
      readonly drop: readonly Address[];
    }[];
    readonly needed: number;
    readonly expireAt: bigint | undefined;
  };
}

export interface RpcRoundStatus {
  readonly number: number;
  readonly proposer: Address;
  readonly startedAtMs: number;
  readonly timeoutAtMs: number;
  readonly phase: string;
  readonly prepares: readonly Address[];
  readonly commits: readonly Address[];
  readonly roundChanges: readonly { readonly author: Address; readonly round: number }[];
}

export interface RpcMemberStatus {
  readonly address: Address;
  readonly isPresent: boolean;
  readonly missedTurns: number;
  /** Open connections to the node with that key; undefined when unknown. */
  readonly connections: number | undefined;
  /**
   * How far its clock seemed to be ahead of ours, milliseconds, by each of its last proposals, the oldest first: their timestamps
   * are whole seconds, so half a second means nothing, and a slow link looks like a clock that is behind.
   */
  readonly clockAheadMs: readonly number[];
  readonly lastHeard:
    | {
        readonly atMs: number;
        readonly kind: string;
        readonly height: bigint;
        readonly round: number | undefined;
      }
    | undefined;
}
