import { describe, expect, it } from "vitest";
import type { LogIndexStatus } from "../../../src/logs/logIndex.ts";
import type { RpcLogIndex } from "../../../src/rpc/core/coreParts.ts";
import {
  adminGenerateLogBloomCache,
  adminLogsRemoveCache,
  adminLogsRepairCache,
} from "../../../src/rpc/methods/admin/logIndex.ts";
import { aCore } from "../../builders/anRpcBackend.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { chainOf } from "../../builders/recordedChain.ts";
import { INVALID_PARAMS } from "../invalidParams.ts";
import { requesterFor } from "../requester.ts";

const INTERNAL = { code: -32603, message: "Internal error" };
const LONGEST = 2n ** 63n - 1n;

/** Ten blocks, and a log index that records the calls that it receives. */
function aNode(isBusy = false) {
  const calls: unknown[] = [];
  let status: LogIndexStatus = { from: 0n, to: 0n, current: 0n, isIndexing: isBusy };
  const logIndex: RpcLogIndex = {
    get status() {
      return status;
    },
    generate(from, to) {
      calls.push(["generate", from, to]);
      if (isBusy) return false;
      status = { from, to, current: 7n, isIndexing: true };
      return true;
    },
    async remove(from, to) {
      calls.push(["remove", from, to]);
    },
    repair(before) {
      calls.push(["repair", before]);
      return !isBusy;
    },
  };
  const chain = chainOf(Array.from({ length: 10 }, (_, number) => aStoredBlock({ number })));
  const methods = [adminGenerateLogBloomCache, adminLogsRemoveCache, adminLogsRepairCache];
  return { ask: requesterFor(methods, { chain, logIndex: aCore({ logIndex }).logIndex }), calls };
}

describe("admin_generateLogBloomCache", () => {
  const idle = { startBlock: "0x0", endBlock: "0x0", currentBlock: "0x0", requestAccepted: false };

  it("without parameters returns the progress of the index, and does nothing", async () => {
    const { ask, calls } = aNode();
    expect(await ask("admin_generateLogBloomCache")).toEqual({ ...idle, caching: false, indexing: false });
    expect(calls).toEqual([]);
  });

  it.each([
    ["both", ["0x0", "0x5"], 0n, 5n, "0x5"],
    ["the start alone", ["0x2"], 2n, LONGEST, "latest"],
    ["tags", ["earliest", "latest"], 0n, LONGEST, "latest"],
    ["decimals", ["1", "100000"], 1n, 100_000n, "0x186a0"],
    ["the end alone", [null, "0x9"], 0n, 9n, "0x9"],
  ])("accepts %s", async (_name, params, from, to, endBlock) => {
    const { ask, calls } = aNode();
    const answer = await ask("admin_generateLogBloomCache", ...params);
    expect(calls).toEqual([["generate", from, to]]);
    expect(answer).toEqual({
      startBlock: `0x${from.toString(16)}`,
      endBlock,
      currentBlock: "0x7",
      requestAccepted: true,
      caching: true,
      indexing: true,
    });
  });

  it.each([[["0x5", "0x5"]], [["0x6", "0x5"]], [["latest", "latest"]], [["-1", "0x5"]]])(
    "does not accept %j",
    async (params) => {
      const { ask, calls } = aNode();
      expect(await ask("admin_generateLogBloomCache", ...params)).toMatchObject({ requestAccepted: false });
      expect(calls).toEqual([]);
    },
  );

  it("does not accept a request while it is running", async () => {
    const answer = await aNode(true).ask("admin_generateLogBloomCache", "0x0", "0x5");
    expect(answer).toEqual({ ...idle, caching: true, indexing: true });
  });

  it.each([[[5]], [["zz"]], [[{}]], [[""]]])("refuses %j", async (params) => {
    expect(await aNode().ask("admin_generateLogBloomCache", ...params)).toEqual(INVALID_PARAMS);
  });
});

describe("admin_logsRemoveCache", () => {
  it.each([
    ["no parameters: all", [], 0n, LONGEST],
    ["empty strings: all", ["", ""], 0n, LONGEST],
    ["the first alone: that block's", ["0x3"], 3n, 3n],
    ["the first, and the second skipped: that block's", ["0x3", ""], 3n, 3n],
    ["the second alone: from genesis to it", ["", "0x4"], 0n, 4n],
    ["null for the first", [null, "0x4"], 0n, 4n],
    ["both", ["0x3", "latest"], 3n, 9n],
  ])("removes with %s", async (_name, params, from, to) => {
    const { ask, calls } = aNode();
    expect(await ask("admin_logsRemoveCache", ...params)).toEqual({ Status: "Cache Removed" });
    expect(calls).toEqual([["remove", from, to]]);
  });

  it.each([
    ["an end before the start", ["0x5", "0x3"], INVALID_PARAMS],
    ["an unknown start", ["0x63"], INTERNAL],
    ["an unknown end", ["0x0", "0x63"], INTERNAL],
    ["a JSON number", [5], INVALID_PARAMS],
    ["nonsense", ["zz"], INVALID_PARAMS],
  ])("refuses %s", async (_name, params, error) => {
    const { ask, calls } = aNode();
    expect(await ask("admin_logsRemoveCache", ...params)).toEqual(error);
    expect(calls).toEqual([]);
  });
});

describe("admin_logsRepairCache", () => {
  it.each([
    [[], 9n],
    [[null], 9n],
    [[4], 4n],
    [["4"], 4n],
    [["0"], 0n],
  ])("starts with %j", async (params, before) => {
    const { ask, calls } = aNode();
    expect(await ask("admin_logsRepairCache", ...params)).toEqual({ Status: "Started" });
    expect(calls).toEqual([["repair", before]]);
  });

  it("says when it is already running", async () => {
    expect(await aNode(true).ask("admin_logsRepairCache")).toEqual({ Status: "Already running" });
  });

  it.each([
    ["an unknown block", [99], INTERNAL],
    ["a negative number", [-1], INTERNAL],
    ["hexadecimal", ["0x4"], INVALID_PARAMS],
    ["a fraction", [1.5], INVALID_PARAMS],
    ["an object", [{}], INVALID_PARAMS],
  ])("refuses %s", async (_name, params, error) => {
    expect(await aNode().ask("admin_logsRepairCache", ...params)).toEqual(error);
  });
});
