import { DECODING_ERRORS } from "../../ibft/codec/payloadReader.ts";
import type { SignedMessage } from "../../ibft/message.ts";
import type { Metrics } from "../../observability/registry.ts";
import { toHex } from "../../primitives/hex.ts";

/** What happened to a received message; used as a metric label. */
export const VALIDATION_RESULTS = [
  "accepted",
  "duplicate",
  "stale",
  "buffered",
  "tooFarAhead",
  "bufferFull",
  "overBudget",
  "notValidating",
  ...DECODING_ERRORS,
] as const;

export type ValidationResult = (typeof VALIDATION_RESULTS)[number];

export interface MessageRouterMetrics {
  received(result: ValidationResult): void;
  relayed(): void;
  /** Counts a message that is delivered to the engine. */
  accepted?(message: SignedMessage): void;
  /** Counts messages of future heights that were not buffered, or were evicted. */
  futureDropped?(count: number): void;
}

export function declareMessageRouterMetrics(metrics: Metrics): MessageRouterMetrics {
  const results = metrics.counter({
    category: "BFT",
    name: "messages_validated_total",
    help: "Consensus messages received, by result",
    labels: ["result"],
  });
  for (const result of VALIDATION_RESULTS) results.with(result);
  const received = metrics.counter({
    category: "BFT",
    name: "messages_received_total",
    help: "Consensus messages of the height in progress, by kind and author",
    labels: ["type", "validator"],
  });
  const futureDropped = metrics.counter({
    category: "BFT",
    name: "future_messages_dropped_total",
    help: "Consensus messages of future heights that were dropped, too far ahead or too many",
  });
  const relayed = metrics.counter({
    category: "BFT",
    name: "messages_relayed_total",
    help: "Consensus messages of other validators that were relayed",
  });
  return {
    received: (result) => results.with(result).increment(),
    accepted: ({ kind, signed }) => received.with(kind, toHex(signed.author)).increment(),
    relayed: () => relayed.with().increment(),
    futureDropped: (count) => futureDropped.with().increment(count),
  };
}

/** Whether the message could not be decoded, so that nothing more is known about it. */
export function isDecodingError(result: ValidationResult): boolean {
  return DECODING_ERRORS.some((error) => error === result);
}
