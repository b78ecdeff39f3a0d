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
