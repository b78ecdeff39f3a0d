import { type DifferingPlace, memberOf } from "./differingPlaces.ts";
import { numberOf } from "./parseAnswer.ts";

/** Two answers to one request, of a Besu node and of an Ibex node. */
export interface AnswerPair {
  readonly method: string;
  readonly params: readonly unknown[];
  /** The answer's members `result` and `error`, as parsed by parseAnswer. */
  readonly besu: unknown;
  readonly ibex: unknown;
  readonly places: readonly DifferingPlace[];
  /** Place of the request's transaction in its block, where it is about one. */
  readonly transactionIndex: number | undefined;
}

/** A row of docs/differences-from-besu.md, and how it shows in two answers. */
export interface ExplainedDifference {
  /** The first cell of its row in docs/differences-from-besu.md, where the reason is. */
  readonly row: string;
  readonly methods: RegExp;
  /** True if the row, and nothing else, explains how the answers differ. */
  explains(pair: AnswerPair): boolean;
}

/** The error code of an answer, if it is an error. */
export function codeOf(answer: unknown): number | undefined {
  return numberOf(memberOf(memberOf(answer, "error"), "code"));
}
