import { beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { aChain } from "../../builders/aChain.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { genesisWith } from "../../builders/genesisWith.ts";
import { hereWorkers } from "../../builders/hereWorkers.ts";
import { account } from "../../builders/testAccounts.ts";
import { tracerOf } from "../../builders/tracerOf.ts";
import { type Ask, requesterOf } from "../requester.ts";

/** Requests that no recording has, answered as Besu's rules of reading them have it. */

const RICH = toHex(account(0).address);
const NOBODY = `0x${"de".repeat(20)}`;
const MUCH = "0x77359400";
const INTERNAL_ERROR = { code: -32603, message: "Internal error" };
const INVALID_PARAMS = { code: -32602, message: "Invalid params" };

let ask: Ask;

beforeAll(async () => {
  const node = await aChain({ genesis: genesisWith({ zeroBaseFee: false }) });
  ask = requesterOf({ ...node, ...hereWorkers(node), tracer: tracerOf(node.chain, node.spec) });
});

describe("trace_rawTransaction of what could not stand in a block", () => {
  const gasLimit = 1000n;
  const [call, creation] = [aTransaction({ gasLimit }), aTransaction({ gasLimit, to: undefined })];
  const trace = (raw: Uint8Array, ...types: string[]) => ask("trace_rawTransaction", toHex(raw), types);

  it("shows a call, or a creation, that nobody gave gas to", async () => {
    const nothing = { output: "0x", stateDiff: null, vmTrace: { code: "0x", ops: [] } };
    const { from, input, to, value } = {
      from: toHex(call.sender),
      input: toHex(call.data),
      to: toHex(call.to ?? new Uint8Array()),
      value: `0x${call.value.toString(16)}`,
    };
    expect(await trace(call.raw, "trace", "vmTrace", "stateDiff")).toEqual({
      ...nothing,
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
  it("for traces may have the members of a filter for logs, which do not count, but not pending blocks", async () => {
    const members = { address: NOBODY, topics: [null], blockHash: `0x${"12".repeat(32)}` };
    const range = { fromBlock: "0x0", toBlock: "0x0" };
    expect(await ask("trace_filter", { ...range, ...members })).toEqual([]);
    expect(await ask("trace_filter", { ...range, address: "zz" })).toEqual(INVALID_PARAMS);
    expect(await ask("trace_filter", { ...range, mode: "union" })).toEqual(INVALID_PARAMS);
    expect(await ask("trace_filter", { ...range, toBlock: "pending" })).toEqual(INTERNAL_ERROR);
  });

  it("for a range that begins with no key, or has less than nothing in it, are an internal error", async () => {
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

  it("for every percentile of as many blocks as there may be are answered, and for many more refused", async () => {
    const all = Array.from({ length: 101 }, (_, index) => index);
    expect(await ask("eth_feeHistory", "0x400", "latest", all)).toMatchObject({ oldestBlock: "0x0" });
    expect(await ask("eth_feeHistory", "0x400", "latest", [...all, ...all])).toEqual(INVALID_PARAMS);
  });

  it("for traces of many calls may leave the block open by a null, not by nothing", async () => {
    const calls = [[{ to: NOBODY, from: RICH, gasPrice: MUCH }, []]];
    expect(await ask("trace_callMany", calls, null)).toMatchObject([{ output: "0x" }]);
    expect(await ask("trace_callMany", calls)).toEqual(INVALID_PARAMS);
  });

  it("report hash rates under any name, in any number of digits", async () => {
    expect(await ask("eth_submitHashrate", "0x5", "miner one")).toBe(false);
    expect(await ask("eth_submitHashrate", "zz", "miner one")).toEqual(INTERNAL_ERROR);
    expect(await ask("eth_submitHashrate", "0x5")).toEqual(INVALID_PARAMS);
  });

  it("require a canonical block only by what is true", async () => {
    const { hash } = (await ask("eth_getBlockByNumber", "latest", false)) as { hash: string };
    for (const requireCanonical of [true, "true", 1, "maybe", {}, null])
      expect(await ask("eth_getBalance", NOBODY, { blockHash: hash, requireCanonical })).toBe("0x0");
  });

  it("with a list of no blobs are calls as others are, and blobs have the one version that there is", async () => {
    const callWith = (...blobVersionedHashes: string[]) =>
      ask("eth_call", { to: NOBODY, blobVersionedHashes }, "latest");
    expect(await callWith()).toBe("0x");
    expect(await callWith(`0x02${"0".repeat(62)}`)).toEqual(INVALID_PARAMS);
    const paid = {
      from: RICH,
      to: NOBODY,
      blobVersionedHashes: [`0x01${"0".repeat(62)}`],
      maxFeePerGas: MUCH,
    };
    expect(await ask("eth_call", { ...paid, strict: true }, "latest")).toBe("0x");
    const nothing = { ...paid, strict: true, maxFeePerBlobGas: "0x0" };
    expect(await ask("eth_call", nothing, "latest")).toMatchObject({ code: -32009 });
  });
});
