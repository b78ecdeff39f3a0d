import { differingPlaces, memberOf } from "./differingPlaces.ts";
import { type AnswerPair, codeOf, type ExplainedDifference } from "./explainedDifference.ts";

const VM_TRACES = /^trace_(replay\w+|call|callMany|rawTransaction)$/;

/**
 * The rows about traces, more specific ones first. Not covered: `disableMemory` of the methods that write files, which are
 * never compared, and a beneficiary that a contract sees as COINBASE, which an answer does not show.
 */
export const EXPLAINED_TRACES: readonly ExplainedDifference[] = [
  {
    row:
      '`tracer: "callTracer"`, `"flatCallTracer"`, `"prestateTracer"`, `"4byteTracer"`, with `tracerConfig`, in the debug ' +
      "tracing methods",
    methods: /^debug_trace/,
    explains: ({ besu, ibex, params }) =>
      params.some((each) => TRACERS.includes(String(memberOf(each, "tracer")))) &&
      hasStructLogs(memberOf(besu, "result")) &&
      memberOf(ibex, "result") !== undefined &&
      !hasStructLogs(memberOf(ibex, "result")),
  },
  {
    row: "`txIndex` in the options of `debug_traceCall`",
    methods: /^debug_traceCall$/,
    explains: ({ params, places }) =>
      params.some((each) => memberOf(each, "txIndex") !== undefined) &&
      places.every(({ path }) => path[0] === "result"),
  },
  {
    row: "traces on a chain with a `miningbeneficiary`",
    methods: /^trace_replay/,
    explains: isFeeCreditedToAnother,
  },
  {
    row: "struct logs of a failed code deposit",
    methods: /^debug_trace/,
    explains: isDepositErrorMoved,
  },
  {
    row: "`debug_traceTransaction`",
    methods: /^debug_traceTransaction$/,
    explains: ({ transactionIndex = 0, places }) =>
      transactionIndex > 0 && places.every(({ path }) => path[0] === "result"),
  },
  {
    row: "a precompiled contract that runs out of gas, called by a transaction",
    methods: /^trace_/,
    explains: isSilentPrecompile,
  },
  {
    row: "flat traces of failed calls, and of calls after them",
    methods: /^trace_(block|transaction|filter)$/,
    explains: ({ besu, ibex, places }) =>
      places.every(({ path }) => path[0] === "result" && followsFailedCall(path[1], [besu, ibex])),
  },
  {
    row: "`vmTrace` of a CALL or DELEGATECALL that succeeded",
    methods: VM_TRACES,
    explains: ({ ibex, places }) =>
      places.every(({ path }) => path.includes("mem") && isSucceededCall(operationAt(ibex, path))),
  },
  {
    row: "`vmTrace` of a failed code deposit",
    methods: VM_TRACES,
    explains: isOperationMissing,
  },
  {
    row: "`vmTrace`: memory and `used`",
    methods: VM_TRACES,
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

const TRACERS: readonly string[] = ["callTracer", "flatCallTracer", "prestateTracer", "4byteTracer"];

/** Whether this is a struct log trace, or a list of such for transactions. */
function hasStructLogs(result: unknown): boolean {
  if (Array.isArray(result)) return result.length > 0 && result.every((item) => hasStructLogs(item));
  const trace = memberOf(result, "result") ?? result;
  return Array.isArray(memberOf(trace, "structLogs"));
}

/** The value at a path of an answer. */
function valueAt(answer: unknown, path: readonly string[]): unknown {
  return path.reduce(memberOf, answer);
}

/** Splits a path at the last member of that name, which is in neither part; undefined if there is none. */
function splitAt(
  path: readonly string[],
  name: string,
): readonly [before: readonly string[], after: readonly string[]] | undefined {
  const at = path.lastIndexOf(name);
  return at < 0 ? undefined : [path.slice(0, at), path.slice(at + 1)];
}

/** Whether in each state difference one account gained in one answer what another account gained in the other. */
function isFeeCreditedToAnother({ places }: AnswerPair): boolean {
  const byDifference = new Map<string, { readonly ours: unknown; readonly theirs: unknown }[]>();
  for (const { path, ours, theirs } of places) {
    const [before, after] = splitAt(path, "stateDiff") ?? [];
    if (before === undefined || after?.length !== 1) return false;
    byDifference.set(before.join(), [...(byDifference.get(before.join()) ?? []), { ours, theirs }]);
  }
  return [...byDifference.values()].every((accounts) => {
    const [ours, ...moreOurs] = accounts.filter(({ theirs }) => theirs === undefined);
    const [theirs, ...moreTheirs] = accounts.filter(({ ours: own }) => own === undefined);
    if (ours === undefined || theirs === undefined || moreOurs.length + moreTheirs.length > 0) return false;
    const gained = gainOf(ours.ours);
    return accounts.length === 2 && gained !== undefined && gained === gainOf(theirs.theirs);
  });
}

function isQuantity(value: unknown): value is string {
  return typeof value === "string" && /^0x[0-9a-f]{1,64}$/i.test(value);
}

/** Balance gained by an account in a state difference. */
function gainOf(account: unknown): bigint | undefined {
  const balance = memberOf(account, "balance");
  const change = memberOf(balance, "*");
  const [from, to] = [memberOf(change, "from") ?? "0x0", memberOf(change, "to") ?? memberOf(balance, "+")];
  return isQuantity(from) && isQuantity(to) ? BigInt(to) - BigInt(from) : undefined;
}

/** Whether only the error differs, which Besu has at the step before our RETURN. */
function isDepositErrorMoved({ ibex, besu, places }: AnswerPair): boolean {
  const lists = new Set<string>();
  for (const { path } of places) {
    const [before, after] = splitAt(path, "structLogs") ?? [];
    if (before === undefined || after?.[1] !== "error") return false;
    lists.add(JSON.stringify([...before, "structLogs"]));
  }
  return [...lists].every((text) => {
    const path = JSON.parse(text) as readonly string[];
    const [ours, theirs] = [listAt(ibex, path), listAt(besu, path)];
    const failed = ours.at(-1);
    const error = JSON.stringify(memberOf(failed, "error"));
    return (
      memberOf(failed, "op") === "RETURN" &&
      error !== undefined &&
      error === JSON.stringify(memberOf(theirs.at(-2), "error"))
    );
  });
}

function listAt(answer: unknown, path: readonly string[]): readonly unknown[] {
  const list = valueAt(answer, path);
  return Array.isArray(list) ? list : [];
}

/**
 * Whether each difference is in a flat trace that ran out of gas, for which Besu shows no gas, or in the state difference
 * beside it.
 */
function isSilentPrecompile({ ibex, besu, places }: AnswerPair): boolean {
  return places.every(({ path, theirs }) => {
    const [before] = splitAt(path, "stateDiff") ?? [];
    if (before !== undefined && path.at(-1) === "stateDiff" && theirs === null)
      return listAt(ibex, [...before, "trace"]).some((item) => memberOf(item, "error") === OUT_OF_GAS);
    const ends = path.map((_, index) => path.slice(0, index + 1));
    const item = ends.findLast((end) => memberOf(valueAt(ibex, end), "action") !== undefined);
    if (item === undefined || memberOf(valueAt(ibex, item), "error") !== OUT_OF_GAS) return false;
    const action = memberOf(valueAt(besu, item), "action");
    return action !== undefined && memberOf(action, "gas") === undefined;
  });
}

const OUT_OF_GAS = "Out of gas";

/** The operation of a vmTrace in which a path ends. */
function operationAt(answer: unknown, path: readonly string[]): unknown {
  const [before] = splitAt(path, "ex") ?? [];
  return before === undefined ? undefined : valueAt(answer, before);
}

function isSucceededCall(operation: unknown): boolean {
  const pushed = memberOf(memberOf(operation, "ex"), "push");
  const sub = memberOf(operation, "sub");
  return sub !== null && sub !== undefined && Array.isArray(pushed) && pushed.join() === "0x1";
}

/** Whether all differences are in lists of operations that equal ours without the last but one. */
function isOperationMissing({ ibex, besu, places }: AnswerPair): boolean {
  return places.every(({ path }) => {
    const ends = path.flatMap((name, index) => (name === "ops" ? [path.slice(0, index + 1)] : []));
    return ends.some((end) => {
      const [ours, theirs] = [listAt(ibex, end), listAt(besu, end)];
      const without = [...ours.slice(0, -2), ...ours.slice(-1)];
      return ours.length > 1 && differingPlaces(without, theirs).length === 0;
    });
  });
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
