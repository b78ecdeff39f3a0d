import { describe, expect, it } from "vitest";
import { differingPlaces } from "../../../src/cli/compare/differingPlaces.ts";
import { EXPLAINED_DIFFERENCES, explanationOf } from "../../../src/cli/compare/explainedDifferences.ts";
import { parseAnswer } from "../../../src/cli/compare/parseAnswer.ts";
import { readDocument } from "../../docs/documents.ts";

interface Exchange {
  readonly method: string;
  readonly besu: unknown;
  readonly ibex: unknown;
  readonly params?: readonly unknown[];
  readonly transactionIndex?: number;
}

function explain({ method, params = [], transactionIndex, ...answers }: Exchange): string | undefined {
  const besu = parseAnswer(JSON.stringify(answers.besu));
  const ibex = parseAnswer(JSON.stringify(answers.ibex));
  return explanationOf({ method, params, besu, ibex, places: differingPlaces(ibex, besu), transactionIndex });
}

const reverted = (code: number, data = "0x08c379a0") => ({
  error: { code, message: "Execution reverted", data },
});
const item = (transactionHash: string, more = {}) => ({ transactionHash, action: { value: "0x0" }, ...more });

const gained = (from: string, to: string) => ({ balance: { "*": { from, to } } });
const structLogs = (...logs: readonly object[]) => ({
  result: [{ result: { failed: true, structLogs: logs } }],
});
const called = (pushed: string, data: string, cost = 1) => ({
  result: [{ vmTrace: { ops: [{ cost, sub: { ops: [] }, ex: { push: [pushed], mem: { data, off: 0 } } }] } }],
});
const operations = (...places: readonly number[]) => ({
  result: [{ vmTrace: { ops: [{ sub: { ops: places.map((pc) => ({ pc, sub: null })) } }] } }],
});

/** For each row, answers that it explains, and answers of the same method that it must not explain. */
const CASES: Readonly<Record<string, readonly [explained: Exchange, not: Exchange]>> = {
  "a reverted `eth_call`, `eth_estimateGas` or `eth_createAccessList`": [
    { method: "eth_call", besu: reverted(-32000), ibex: reverted(3) },
    { method: "eth_call", besu: reverted(-32000, "0x"), ibex: reverted(3) },
  ],
  "`eth_call` without `strict`, from a sender whose balance is below price or value": [
    { method: "eth_call", besu: reverted(-32004), ibex: { result: "0x" } },
    { method: "eth_call", besu: { result: "0x" }, ibex: reverted(-32004) },
  ],
  "block tags `finalized` and `safe`": [
    { method: "eth_getBalance", params: ["0x00", "safe"], besu: reverted(-39001), ibex: { result: "0x1" } },
    { method: "eth_getBalance", params: ["0x00", "0x1"], besu: reverted(-39001), ibex: { result: "0x1" } },
  ],
  "`withdrawals` and `size` of a block from Shanghai on": [
    {
      method: "eth_getBlockByNumber",
      besu: { result: { hash: "0x1", size: "0x300", withdrawals: [] } },
      ibex: { result: { hash: "0x1", size: "0x2ff" } },
    },
    {
      method: "eth_getBlockByNumber",
      besu: { result: { hash: "0x1", size: "0x301", withdrawals: [] } },
      ibex: { result: { hash: "0x1", size: "0x2ff" } },
    },
  ],
  "`rpc_modules`": [
    {
      method: "rpc_modules",
      besu: { result: { eth: "1.0", qbft: "1.0" } },
      ibex: { result: { eth: "1.0" } },
    },
    {
      method: "rpc_modules",
      besu: { result: { eth: "1.0" } },
      ibex: { result: { eth: "1.0", qbft: "1.0" } },
    },
  ],
  "`eth_mining`": [
    { method: "eth_mining", besu: { result: true }, ibex: { result: false } },
    { method: "eth_mining", besu: { result: false }, ibex: { result: true } },
  ],
  "client version": [
    { method: "web3_clientVersion", besu: { result: "besu/v24.7.0" }, ibex: { result: "ibex/v1" } },
    { method: "web3_clientVersion", besu: { result: "besu/v24.7.0" }, ibex: { result: "geth/v1" } },
  ],
  '`tracer: "callTracer"`, `"flatCallTracer"`, `"prestateTracer"`, `"4byteTracer"`, with `tracerConfig`, in the debug tracing methods':
    [
      {
        method: "debug_traceBlockByNumber",
        params: ["0x1", { tracer: "callTracer" }],
        besu: { result: [{ result: { gas: 1, structLogs: [] } }] },
        ibex: { result: [{ txHash: "0x1", result: { type: "CALL" } }] },
      },
      {
        method: "debug_traceBlockByNumber",
        params: ["0x1", { tracer: "noSuchTracer" }],
        besu: { result: [{ result: { gas: 1, structLogs: [] } }] },
        ibex: { result: [{ txHash: "0x1", result: { type: "CALL" } }] },
      },
    ],
  "`txIndex` in the options of `debug_traceCall`": [
    {
      method: "debug_traceCall",
      params: [{}, "0x1", { txIndex: "0x1" }],
      besu: { result: { gas: 1 } },
      ibex: { result: { gas: 2 } },
    },
    {
      method: "debug_traceCall",
      params: [{}, "0x1"],
      besu: { result: { gas: 1 } },
      ibex: { result: { gas: 2 } },
    },
  ],
  "traces on a chain with a `miningbeneficiary`": [
    {
      method: "trace_replayBlockTransactions",
      besu: { result: [{ stateDiff: { "0xaa": gained("0x0", "0x5") } }] },
      ibex: { result: [{ stateDiff: { "0xbb": gained("0x1", "0x6") } }] },
    },
    {
      method: "trace_replayBlockTransactions",
      besu: { result: [{ stateDiff: { "0xaa": gained("0x0", "0x5") } }] },
      ibex: { result: [{ stateDiff: { "0xbb": gained("0x1", "0x7") } }] },
    },
  ],
  "struct logs of a failed code deposit": [
    {
      method: "debug_traceBlockByNumber",
      besu: structLogs({ op: "PUSH1", error: ["Out of gas"] }, { op: "RETURN" }),
      ibex: structLogs({ op: "PUSH1" }, { op: "RETURN", error: ["Out of gas"] }),
    },
    {
      method: "debug_traceBlockByNumber",
      besu: structLogs({ op: "PUSH1", error: ["Out of gas"] }, { op: "STOP" }),
      ibex: structLogs({ op: "PUSH1" }, { op: "STOP", error: ["Out of gas"] }),
    },
  ],
  "`debug_traceTransaction`": [
    {
      method: "debug_traceTransaction",
      transactionIndex: 1,
      besu: { result: { gas: 1 } },
      ibex: { result: { gas: 2 } },
    },
    {
      method: "debug_traceTransaction",
      transactionIndex: 0,
      besu: { result: { gas: 1 } },
      ibex: { result: { gas: 2 } },
    },
  ],
  "a precompiled contract that runs out of gas, called by a transaction": [
    {
      method: "trace_replayBlockTransactions",
      besu: { result: [{ stateDiff: null, trace: [{ action: {}, result: {} }] }] },
      ibex: { result: [{ stateDiff: {}, trace: [{ action: { gas: "0x1" }, error: "Out of gas" }] }] },
    },
    {
      method: "trace_replayBlockTransactions",
      besu: { result: [{ stateDiff: null, trace: [{ action: {}, result: {} }] }] },
      ibex: { result: [{ stateDiff: {}, trace: [{ action: { gas: "0x1" }, error: "Reverted" }] }] },
    },
  ],
  "flat traces of failed calls, and of calls after them": [
    {
      method: "trace_block",
      besu: { result: [item("0x1", { error: "Reverted" }), item("0x1", { error: "Reverted" })] },
      ibex: { result: [item("0x1", { error: "Reverted" }), item("0x1")] },
    },
    {
      method: "trace_block",
      besu: { result: [item("0x1", { error: "Reverted" }), item("0x2", { subtraces: 1 })] },
      ibex: { result: [item("0x1", { error: "Reverted" }), item("0x2")] },
    },
  ],
  "`vmTrace` of a CALL or DELEGATECALL that succeeded": [
    { method: "trace_replayBlockTransactions", besu: called("0x1", "0xff"), ibex: called("0x1", "0x00") },
    { method: "trace_replayBlockTransactions", besu: called("0x1", "0xff", 3), ibex: called("0x1", "0x00") },
  ],
  "`vmTrace` of a failed code deposit": [
    { method: "trace_replayBlockTransactions", besu: operations(1, 3), ibex: operations(1, 2, 3) },
    { method: "trace_replayBlockTransactions", besu: operations(1, 2), ibex: operations(1, 2, 3) },
  ],
  "`vmTrace`: memory and `used`": [
    {
      method: "trace_replayBlockTransactions",
      besu: { result: [{ vmTrace: { ops: [{ ex: { used: -3 } }] } }] },
      ibex: { result: [{ vmTrace: { ops: [{ ex: { used: 0 } }] } }] },
    },
    {
      method: "trace_replayBlockTransactions",
      besu: { result: [{ vmTrace: { ops: [{ ex: { push: [] } }] } }] },
      ibex: { result: [{ vmTrace: { ops: [{ ex: { push: ["0x1"] } }] } }] },
    },
  ],
  "time and memory of a trace": [
    { method: "debug_traceBlockByNumber", besu: { result: [] }, ibex: reverted(-32005) },
    { method: "debug_traceBlockByNumber", besu: { result: [] }, ibex: reverted(-32000) },
  ],
};

describe("an explained difference", () => {
  const page = readDocument("docs/differences-from-besu.md");

  it.each(EXPLAINED_DIFFERENCES.map(({ row }) => row))("has its row in the document: %s", (row) => {
    expect(page).toContain(`\n| ${row} | `);
  });

  it("is tested below, each", () => {
    expect(Object.keys(CASES)).toEqual(EXPLAINED_DIFFERENCES.map(({ row }) => row));
  });

  it.each(Object.entries(CASES))(
    "is explained by its row, and nothing beyond it: %s",
    (row, [explained, not]) => {
      expect(explain(explained)).toBe(row);
      expect(explain(not)).toBeUndefined();
    },
  );
});
