import { decodeBlock } from "../types/block.ts";
import { hashOfHeader } from "../types/blockHash.ts";
import { withRecoveredSender } from "../types/transaction.ts";
import { BlockDoesNotFit, type ReplayedBlock, type ReplaySource, StateUnavailable } from "./replay.ts";
import type { BlockChoice } from "./traceJob.ts";

/** What a tracing thread reads. */
export interface TraceSource extends ReplaySource {
  /** A block of the chain; undefined when there is none of that number. */
  block(number: bigint): ReplayedBlock | undefined;
  /** --rpc-gas-cap: when above zero it takes the place of every gas limit of a call. */
  readonly gasCap: bigint;
  /** What the text of an answer, and what is kept to write it, may take. */
  readonly limitBytes: number;
  /** For how long something took, in nanoseconds. */
  nowNs(): bigint;
}

/** Throws StateUnavailable when the chain does not have it (any more). */
export function blockOf(source: TraceSource, number: bigint): ReplayedBlock {
  const found = source.block(number);
  if (found === undefined) throw new StateUnavailable(`block ${number} is not stored`);
  return found;
}

/** As blockOf; throws BlockDoesNotFit for bytes that are no block. */
export function chosenBlock(source: TraceSource, choice: BlockChoice): ReplayedBlock {
  if ("number" in choice) return blockOf(source, choice.number);
  const decoded = decodeBlock(choice.raw);
  if (!decoded.ok) throw new BlockDoesNotFit(decoded.error.message);
  const { header, transactions } = decoded.value;
  const hash = hashOfHeader(header);
  if (!hash.ok) throw new BlockDoesNotFit(hash.error.message);
  return {
    header,
    hash: hash.value,
    transactions: transactions.map((transaction) => {
      const sent = withRecoveredSender(transaction);
      if (sent === undefined) throw new BlockDoesNotFit("a signature fits no key");
      return sent;
    }),
  };
}
