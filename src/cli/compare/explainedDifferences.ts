import { type DifferingPlace, memberOf } from "./differingPlaces.ts";
import { numberOf } from "./parseAnswer.ts";

/** Two answers to one request, of a Besu node and of an Ibex node. */
export interface AnswerPair {
  readonly method: string;
  readonly params: readonly unknown[];
  /** With the members `result` and `error`, as parsed by parseAnswer. */
  readonly besu: unknown;
  readonly ibex: unknown;
  readonly places: readonly DifferingPlace[];
  /** Place of the request's transaction in its block, where it is about one. */
  readonly transactionIndex: number | undefined;
}

interface ExplainedDifference {
  /** The first cell of its row in docs/differences-from-besu.md, where the reason is. */
  readonly row: string;
  readonly methods: RegExp;
  /** True if the row, and nothing else, explains how the answers differ. */
  explains(pair: AnswerPair): boolean;
}

/** The rows of docs/differences-from-besu.md that show in answers which are compared. */
export const EXPLAINED_DIFFERENCES: readonly ExplainedDifference[] = [
  {
    row: "a reverted `eth_call`, `eth_estimateGas` or `eth_createAccessList`",
    methods: /^eth_(call|estimateGas|createAccessList)$/,
    explains: ({ besu, ibex, places }) =>
      codeOf(besu) === -32000 &&
      codeOf(ibex) === 3 &&
      places.every(({ path }) => isAt(path, "error", "code")),
  },
  {
    row: "`eth_call` without `strict`, from a sender whose balance is below price or value",
    methods: /^eth_call$/,
    explains: ({ besu, ibex }) =>
      codeOf(besu) === -32004 && (memberOf(ibex, "result") !== undefined || codeOf(ibex) === 3),
  },
  {
    row: "block tags `finalized` and `safe`",
    methods: /^(eth|debug|trace|ibft)_/,
    explains: ({ besu, params }) =>
      codeOf(besu) === -39001 && params.some((each) => each === "finalized" || each === "safe"),
  },
  {
    row: "`rpc_modules`",
    methods: /^rpc_modules$/,
    explains: ({ places }) => places.every(({ path, ours }) => path[0] === "result" && ours === undefined),
  },
  {
    row: "`eth_mining`",
    methods: /^eth_mining$/,
    explains: ({ besu, ibex }) => memberOf(besu, "result") === true && memberOf(ibex, "result") === false,
  },
  {
    row: "client version",
    methods: /^web3_clientVersion$/,
    explains: ({ besu, ibex }) => isOfClient(besu, "besu") && isOfClient(ibex, "ibex"),
  },
  {
    row: "`debug_traceTransaction`",
    methods: /^debug_traceTransaction$/,
    explains: ({ transactionIndex = 0, places }) =>
      transactionIndex > 0 && places.every(({ path }) => path[0] === "result"),
  },
  {
    row: "flat traces of failed calls, and of calls after them",
    methods: /^trace_(block|transaction|filter)$/,
    explains: ({ besu, ibex, places }) =>
      places.every(({ path }) => path[0] === "result" && followsFailedCall(path[1], [besu, ibex])),
  },
  {
    row: "`vmTrace`: memory and `used`",
    methods: /^trace_(replay\w+|call|callMany|rawTransaction)$/,
    explains: ({ places }) =>
      places.every(
        ({ path }) => path.includes("vmTrace") && ["mem", "used"].some((name) => path.includes(name)),
      ),
  },
  {
    row: "time and memory of a trace",
    methods: /^(debug_trace|trace_)/,
    explains: ({ besu, ibex }) => memberOf(besu, "result") !== undefined && codeOf(ibex) === -32005,
  },
];

/** The row that explains the difference, or undefined if none does. `ours` of the places is the Ibex node's. */
export function explanationOf(pair: AnswerPair): string | undefined {
  if (pair.places.length === 0) return undefined;
  return EXPLAINED_DIFFERENCES.find((each) => each.methods.test(pair.method) && each.explains(pair))?.row;
}

function codeOf(answer: unknown): number | undefined {
  return numberOf(memberOf(memberOf(answer, "error"), "code"));
}

function isAt(path: readonly string[], ...expected: readonly string[]): boolean {
  return path.length === expected.length && expected.every((name, index) => path[index] === name);
}

function isOfClient(answer: unknown, client: string): boolean {
  const version = memberOf(answer, "result");
  return typeof version === "string" && version.toLowerCase().startsWith(`${client}/`);
}

/** Whether this item of a flat trace is, or comes after, a failed call of its transaction, in one of the answers. */
function followsFailedCall(index: string | undefined, answers: readonly unknown[]): boolean {
  return answers.some((answer) => {
    const items = memberOf(answer, "result");
    if (!Array.isArray(items)) return false;
    const transaction = memberOf(items[Number(index)], "transactionHash");
    return items
      .slice(0, Number(index) + 1)
      .some(
        (item) => memberOf(item, "transactionHash") === transaction && memberOf(item, "error") !== undefined,
      );
  });
}
