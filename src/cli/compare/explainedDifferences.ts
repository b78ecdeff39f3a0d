import { type DifferingPlace, memberOf } from "./differingPlaces.ts";
import { type AnswerPair, codeOf, type ExplainedDifference } from "./explainedDifference.ts";
import { EXPLAINED_TRACES } from "./explainedTraces.ts";

/** The rows of docs/differences-from-besu.md that can appear in compared answers. */
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
    row: "`withdrawals` and `size` of a block from Shanghai on",
    methods: /^eth_getBlockBy(Hash|Number)$/,
    explains: ({ besu, places }) => {
      const withdrawals = memberOf(memberOf(besu, "result"), "withdrawals");
      const isEmpty = Array.isArray(withdrawals) && withdrawals.length === 0;
      return isEmpty && places.length === 2 && places.every(isOfEmptyList);
    },
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
  ...EXPLAINED_TRACES,
];

/** The row that explains the difference; undefined if none does. `ours` in the places is the Ibex node's. */
export function explanationOf(pair: AnswerPair): string | undefined {
  if (pair.places.length === 0) return undefined;
  return EXPLAINED_DIFFERENCES.find((each) => each.methods.test(pair.method) && each.explains(pair))?.row;
}

/** Whether a place differs by an empty list of withdrawals that Ibex's answer lacks, or by the byte that it takes. */
function isOfEmptyList({ path, ours, theirs }: DifferingPlace): boolean {
  if (isAt(path, "result", "withdrawals")) return ours === undefined;
  return isAt(path, "result", "size") && Number(theirs) === Number(ours) + 1;
}

function isAt(path: readonly string[], ...expected: readonly string[]): boolean {
  return path.length === expected.length && expected.every((name, index) => path[index] === name);
}

function isOfClient(answer: unknown, client: string): boolean {
  const version = memberOf(answer, "result");
  return typeof version === "string" && version.toLowerCase().startsWith(`${client}/`);
}
