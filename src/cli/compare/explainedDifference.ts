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
  /** Index of the request's transaction in its block, if it is about one. */
  readonly transactionIndex: number | undefined;
}

/** A row of docs/differences-from-besu.md, and how to recognise it in two answers. */
export interface ExplainedDifference {
  /** The first cell of its row in docs/differences-from-besu.md, which has the reason. */
  readonly row: string;
  readonly methods: RegExp;
  /** True if the row alone explains how the answers differ. */
  explains(pair: AnswerPair): boolean;
}

/** The error code of an answer, if it is an error. */
export function codeOf(answer: unknown): number | undefined {
  return numberOf(memberOf(memberOf(answer, "error"), "code"));
}
