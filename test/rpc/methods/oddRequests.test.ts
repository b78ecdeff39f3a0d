import { beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { aChain } from "../../builders/aChain.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { genesisWith } from "../../builders/genesisWith.ts";
import { hereWorkers } from "../../builders/hereWorkers.ts";
import { account } from "../../builders/testAccounts.ts";
import { tracerOf } from "../../builders/tracerOf.ts";
import { INVALID_PARAMS } from "../invalidParams.ts";
import { type Ask, requesterOf } from "../requester.ts";

/** Requests that no recording has, answered as Besu's parsing rules demand. */

const RICH = toHex(account(0).address);
const UNUSED = `0x${"de".repeat(20)}`;
const HIGH_PRICE = "0x77359400";
const INTERNAL_ERROR = { code: -32603, message: "Internal error" };

let ask: Ask;

beforeAll(async () => {
  const node = await aChain({ genesis: genesisWith({ zeroBaseFee: false }) });
  ask = requesterOf({ ...node, ...hereWorkers(node), tracer: tracerOf(node.chain, node.spec) });
});

describe("a range of more blocks than allowed", () => {
  it.each([
    ["eth_getLogs", "--rpc-max-logs-range"],
    ["trace_filter", "--rpc-max-trace-filter-range"],
  ])("has Besu's error in %s, with the limit and its option as data", async (method, option) => {
    expect(await ask(method, { fromBlock: "0x0", toBlock: "0x3e9" })).toEqual({
      code: -32005,
      message: "Requested range exceeds maximum RPC range limit",
      data: `${option} allows 1000 blocks from the first to the last`,
    });
    expect(await ask(method, { fromBlock: "0x1", toBlock: "0x3e9" })).toEqual([]);
  });
});

describe("trace_rawTransaction of a transaction that is invalid in a block", () => {
  const gasLimit = 1000n;
  const [call, creation] = [aTransaction({ gasLimit }), aTransaction({ gasLimit, to: undefined })];
  const trace = (raw: Uint8Array, ...types: string[]) => ask("trace_rawTransaction", toHex(raw), types);

  it("shows a call, or a creation, without gas", async () => {
    const empty = { output: "0x", stateDiff: null, vmTrace: { code: "0x", ops: [] } };
    const { from, input, to, value } = {
      from: toHex(call.sender),
      input: toHex(call.data),
      to: toHex(call.to ?? new Uint8Array()),
      value: `0x${call.value.toString(16)}`,
    };
    expect(await trace(call.raw, "trace", "vmTrace", "stateDiff")).toEqual({
      ...empty,
      trace: [
        {
          action: { callType: "call", from, input, to, value },
          result: { gasUsed: "0x0", output: "0x" },
          subtraces: 0,
          traceAddress: [],
          type: "call",
        },
      ],
    });
    const address = expect.stringMatching(/^0x[0-9a-f]{40}$/);
    expect(await trace(creation.raw, "trace")).toMatchObject({
      vmTrace: null,
      trace: [{ action: { from, value }, result: { address, code: "0x", gasUsed: "0x0" }, type: "create" }],
    });
    expect(await trace(call.raw)).toEqual({ output: "0x", stateDiff: null, trace: [], vmTrace: null });
    expect(await trace(new Uint8Array())).toEqual(INTERNAL_ERROR);
  });
});

describe("odd requests", () => {
  it("for filtered traces may have the members of a log filter, which are ignored, but not the pending tag", async () => {
    const members = { address: UNUSED, topics: [null], blockHash: `0x${"12".repeat(32)}` };
    const range = { fromBlock: "0x0", toBlock: "0x0" };
    expect(await ask("trace_filter", { ...range, ...members })).toEqual([]);
    expect(await ask("trace_filter", { ...range, address: "zz" })).toEqual(INVALID_PARAMS);
    expect(await ask("trace_filter", { ...range, mode: "any" })).toEqual(INVALID_PARAMS);
    expect(await ask("trace_filter", { ...range, toBlock: "pending" })).toEqual(INTERNAL_ERROR);
  });

  it("for a state range with an invalid start key or a negative limit are an internal error", async () => {
    for (const [key, limit] of [
      ["zz", 1],
      [`0x${"0".repeat(66)}`, 1],
      ["0x0", -1],
    ]) {
      expect(await ask("debug_accountRange", "latest", 0, key, limit), `${key} ${limit}`).toEqual(
        INTERNAL_ERROR,
      );
      expect(await ask("debug_storageRangeAt", "latest", 0, RICH, key, limit)).toEqual(INTERNAL_ERROR);
    }
    expect(await ask("debug_accountRange", "0xffff", 0, "zz", 1)).toEqual({ addressMap: {} });
  });

  it("for 101 percentiles of the most blocks are answered, and for twice as many refused", async () => {
    const all = Array.from({ length: 101 }, (_, index) => index);
    expect(await ask("eth_feeHistory", "0x400", "latest", all)).toMatchObject({ oldestBlock: "0x0" });
    expect(await ask("eth_feeHistory", "0x400", "latest", [...all, ...all])).toEqual(INVALID_PARAMS);
  });

  it("for equal percentiles are answered", async () => {
    const history = await ask("eth_feeHistory", "0x2", "latest", [10, 10, 50]);
    expect(history).toMatchObject({ oldestBlock: expect.any(String) as unknown });
  });

  it("for percentiles that fall are refused", async () => {
    expect(await ask("eth_feeHistory", "0x2", "latest", [10, 50, 20])).toEqual({
      ...INVALID_PARAMS,
      data: "parameter 3 (percentiles) falls",
    });
  });

  it("with parameters that are missing, unreadable or too many are told which", async () => {
    const dataOf = async (method: string, ...params: readonly unknown[]) =>
      ((await ask(method, ...params)) as { data?: unknown }).data;
    expect(await dataOf("eth_getBalance", RICH)).toBe("parameter 2 (block) is missing");
    expect(await dataOf("eth_getBalance", "0x12345", "newest")).toBe("parameter 2 (block) is invalid");
    expect(await dataOf("trace_get", RICH)).toBe("expected 2 parameters, not 1");
    expect(await dataOf("eth_getWork")).toBe("the chain agrees by IBFT 2.0: there is no proof of work");
  });

  it("for traces of many calls may have null for the block, but must have the parameter", async () => {
    const calls = [[{ to: UNUSED, from: RICH, gasPrice: HIGH_PRICE }, []]];
    expect(await ask("trace_callMany", calls, null)).toMatchObject([{ output: "0x" }]);
    expect(await ask("trace_callMany", calls)).toEqual(INVALID_PARAMS);
  });

  it("may report a hash rate under any name, with any number of digits", async () => {
    expect(await ask("eth_submitHashrate", "0x5", "miner one")).toBe(false);
    expect(await ask("eth_submitHashrate", "zz", "miner one")).toEqual(INTERNAL_ERROR);
    expect(await ask("eth_submitHashrate", "0x5")).toEqual(INVALID_PARAMS);
  });

  it("may have any requireCanonical, of which an invalid one counts as false", async () => {
    const { hash } = (await ask("eth_getBlockByNumber", "latest", false)) as { hash: string };
    for (const requireCanonical of [true, "true", 1, "maybe", {}, null])
      expect(await ask("eth_getBalance", UNUSED, { blockHash: hash, requireCanonical })).toBe("0x0");
  });

  it("with an empty list of blobs are ordinary calls, and blob hashes must have version 1", async () => {
    const callWith = (...blobVersionedHashes: string[]) =>
      ask("eth_call", { to: UNUSED, blobVersionedHashes }, "latest");
    expect(await callWith()).toBe("0x");
    expect(await callWith(`0x02${"0".repeat(62)}`)).toEqual(INVALID_PARAMS);
    const paid = {
      from: RICH,
      to: UNUSED,
      blobVersionedHashes: [`0x01${"0".repeat(62)}`],
      maxFeePerGas: HIGH_PRICE,
    };
    expect(await ask("eth_call", { ...paid, strict: true }, "latest")).toBe("0x");
    const unpaid = { ...paid, strict: true, maxFeePerBlobGas: "0x0" };
    expect(await ask("eth_call", unpaid, "latest")).toMatchObject({ code: -32009 });
  });
});
