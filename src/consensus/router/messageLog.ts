import type { SignedMessage } from "../../ibft/message.ts";
import type { Logger } from "../../observability/logger.ts";
import type { ValidationResult } from "./routerMetrics.ts";

type Counts = Record<string, number>;

/** Counts consensus messages for each block at DEBUG, and logs each accepted one at TRACE. */
export class MessageLog {
  private readonly logger: Logger;
  private handedOn: Counts = {};
  private own: Counts = {};
  private others: Counts = {};

  constructor(logger: Logger) {
    this.logger = logger;
  }

  /** Counts a message of others that is not accepted, by its result. */
  received(result: ValidationResult): void {
    if (result !== "accepted" && this.logger.isEnabled("debug")) count(this.others, result);
  }

  /** Counts and logs a message that is delivered to the engine. */
  accepted(message: SignedMessage): void {
    this.note(this.handedOn, "accepted", message);
  }

  /** Counts and logs a message of our own. */
  sent(message: SignedMessage): void {
    this.note(this.own, "sent", message);
  }

  /** Logs the counts since the previous block. */
  headAdvanced(number: bigint): void {
    const hasAny = [this.handedOn, this.own, this.others].some((counts) => Object.keys(counts).length > 0);
    if (hasAny)
      this.logger.often("debug", "consensus messages up to this block", () => ({
        number,
        accepted: this.handedOn,
        sent: this.own,
        others: this.others,
      }));
    this.handedOn = {};
    this.own = {};
    this.others = {};
  }

  private note(counts: Counts, what: "accepted" | "sent", { kind, signed }: SignedMessage): void {
    if (!this.logger.isEnabled("debug")) return;
    count(counts, kind);
    const { height, round } = signed.payload;
    const fields = () => ({ kind, height, round, author: signed.author });
    this.logger.often("trace", `a consensus message is ${what}`, fields);
  }
}

function count(counts: Counts, kind: string): void {
  counts[kind] = (counts[kind] ?? 0) + 1;
}
