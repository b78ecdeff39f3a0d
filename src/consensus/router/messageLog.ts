import type { Authored } from "../../ibft/message.ts";
import type { Logger } from "../../observability/logger.ts";
import type { ValidationResult } from "./routerMetrics.ts";

/** Counts consensus messages for each block at DEBUG, and logs each that counts at TRACE. */
export interface MessageLog {
  /** For each message of others, with what became of it. */
  received(result: ValidationResult): void;
  /** For each that is handed to the engine. */
  taken(message: Authored): void;
  /** For each of our own. */
  sent(message: Authored): void;
  /** Logs what there was since the block before. */
  headAdvanced(number: bigint): void;
}

type Counts = Record<string, number>;

export function createMessageLog(logger: Logger): MessageLog {
  let taken: Counts = {};
  let sent: Counts = {};
  let others: Counts = {};

  function note(counts: Counts, what: "taken" | "sent", { kind, signed }: Authored): void {
    if (!logger.isEnabled("debug")) return;
    count(counts, kind);
    const { height, round } = signed.payload;
    const facts = () => ({ kind, height, round, author: signed.author });
    logger.often("trace", `a consensus message is ${what}`, facts);
  }

  return {
    received(result) {
      if (result !== "taken" && logger.isEnabled("debug")) count(others, result);
    },
    taken: (message) => note(taken, "taken", message),
    sent: (message) => note(sent, "sent", message),
    headAdvanced(number) {
      const hasAny = [taken, sent, others].some((counts) => Object.keys(counts).length > 0);
      if (hasAny)
        logger.often("debug", "consensus messages up to this block", () => ({ number, taken, sent, others }));
      taken = {};
      sent = {};
      others = {};
    },
  };
}

function count(counts: Counts, kind: string): void {
  counts[kind] = (counts[kind] ?? 0) + 1;
}
