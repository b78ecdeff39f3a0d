import { decodeBlock } from "../types/block.ts";
import { hashOfHeader } from "../types/blockHash.ts";
import { withRecoveredSender } from "../types/transactionSignature.ts";
import {
  BlockNotExecutableError,
  type ReplayedBlock,
  type ReplaySource,
  StateUnavailableError,
} from "./replay.ts";
import type { BlockChoice } from "./traceJob.ts";

/** What a tracing thread reads from the chain, with its limits. */
export interface TraceSource extends ReplaySource {
  /** A block of the chain; undefined when it has none with that number. */
  block(number: bigint): ReplayedBlock | undefined;
  /** --rpc-gas-cap: when above zero it replaces the gas limit of every call. */
  readonly gasCap: bigint;
  /** Limit for the text of an answer and everything held to write it. */
  readonly limitBytes: number;
  /** Nanoseconds of a monotonic clock, to measure durations. */
  nowNs(): bigint;
}

/** Throws StateUnavailableError when the block is not stored, or no longer. */
export function blockOf(source: TraceSource, number: bigint): ReplayedBlock {
  const found = source.block(number);
  if (found === undefined) throw new StateUnavailableError(`block ${number} is not stored`);
  return found;
}

/** Like blockOf; throws BlockNotExecutableError for bytes that are not a block. */
export function selectedBlock(source: TraceSource, choice: BlockChoice): ReplayedBlock {
  if ("number" in choice) return blockOf(source, choice.number);
  const decoded = decodeBlock(choice.raw);
  if (!decoded.ok) throw new BlockNotExecutableError(decoded.error.message);
  const { header, transactions } = decoded.value;
  const hash = hashOfHeader(header);
  if (!hash.ok) throw new BlockNotExecutableError(hash.error.message);
  return {
    header,
    hash: hash.value,
    transactions: transactions.map((transaction) => {
      const sent = withRecoveredSender(transaction);
      if (sent === undefined) throw new BlockNotExecutableError("a signature fits no key");
      return sent;
    }),
  };
}
