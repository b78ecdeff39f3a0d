import type { Digest } from "../types/blockHash.ts";
import type { PreparedBlock } from "./message.ts";

/**
 * What we promised, kept on disk: written before a vote leaves, read after a crash. No vote of ours may follow in a
 * height below `height`, nor in `height` in a round up to `round`; sending the very same bytes again is allowed.
 */
export interface VoteRecord {
  readonly height: bigint;
  /** The highest round in which we said anything. */
  readonly round: number;
  /** What our Proposal, Prepare and Commit of that round are about; undefined while we only asked for the round. */
  readonly digest?: Digest;
  /** The latest prepared block of this height: it goes into every further RoundChange. */
  readonly prepared?: PreparedBlock;
}
