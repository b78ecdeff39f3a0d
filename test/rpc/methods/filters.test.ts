import { beforeEach, describe, expect, it } from "vitest";
import { EMPTY_BYTES, toHex } from "../../../src/primitives/hex.ts";
import { aChainSpec, poolOf } from "../../builders/anRpcBackend.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { chainOf } from "../../builders/recordedChain.ts";
import { account } from "../../builders/testAccounts.ts";
import { INVALID_PARAMS } from "../invalidParams.ts";
import { type Ask, requesterOf } from "../requester.ts";

const TRANSACTION = aTransaction();
const LOG = { address: account(3).address, topics: [TRANSACTION.hash], data: EMPTY_BYTES };
/** Ten blocks, each with one log. */
const BLOCKS = Array.from({ length: 10 }, (_, number) =>
  aStoredBlock({ number, transactions: [TRANSACTION], logs: [[LOG]] }),
);
const MINUTE = 60_000;
const NOT_FOUND = { code: -32000, message: "Filter not found" };
const LOGS_NOT_FOUND = { code: -32000, message: "Logs filter not found" };
const KINDS = ["eth_newFilter", "eth_newBlockFilter", "eth_newPendingTransactionFilter"] as const;

/** The life cycle of a filter, by the rows of the interface document's table. */
describe("a filter", () => {
  let nowMs: number;
  let chain: ReturnType<typeof chainOf>;
  let pool: ReturnType<typeof poolOf>;
  let ask: Ask;

  beforeEach(() => {
    nowMs = 0;
    chain = chainOf(BLOCKS);
    chain.moveHead(2);
    pool = poolOf([]);
    const clock = { nowMs: () => nowMs, at: () => ({ cancel: () => undefined }) };
    ask = requesterOf({ chain, pool, clock, spec: aChainSpec(chain, { chainId: 1337n, fork: "london" }) });
  });

  function install(kind: (typeof KINDS)[number]): Promise<unknown> {
    return kind === "eth_newFilter" ? ask(kind, {}) : ask(kind);
  }

  /** Adds a block with a log, and a pending transaction. */
  function addEvents(): void {
    chain.moveHead(3);
    pool.arrive(aTransaction({ nonce: 1n }));
  }

  describe.each(KINDS)("of %s", (kind) => {
    it("is installed by every request, under a new id", async () => {
      const ids = [await install(kind), await install(kind)];
      for (const id of ids) expect(id).toMatch(/^0x[1-9a-f][0-9a-f]{0,31}$/);
      expect(new Set(ids).size).toBe(2);
    });

    it("returns the changes since the last poll, or an empty list", async () => {
      const id = await install(kind);
      expect(await ask("eth_getFilterChanges", id)).toEqual([]);
      addEvents();
      expect(await ask("eth_getFilterChanges", id)).toHaveLength(1);
      expect(await ask("eth_getFilterChanges", id)).toEqual([]);
    });

    it("is removed by eth_uninstallFilter, which returns whether it existed", async () => {
      const id = await install(kind);
      expect(await ask("eth_uninstallFilter", id)).toBe(true);
      expect(await ask("eth_uninstallFilter", id)).toBe(false);
      expect(await ask("eth_getFilterChanges", id)).toEqual(NOT_FOUND);
      expect(await ask("eth_getFilterLogs", id)).toEqual(LOGS_NOT_FOUND);
    });

    it("expires ten minutes after the last poll, and not before", async () => {
      const id = await install(kind);
      nowMs += 10 * MINUTE - 1;
      expect(await ask("eth_getFilterChanges", id)).toEqual([]);
      nowMs += 10 * MINUTE;
      expect(await ask("eth_getFilterChanges", id)).toEqual(NOT_FOUND);
      expect(await ask("eth_uninstallFilter", id)).toBe(false);
    });
  });

  it("of logs is also kept alive by eth_getFilterLogs", async () => {
    const id = await ask("eth_newFilter", { fromBlock: "earliest" });
    for (let round = 0; round < 3; round++) {
      nowMs += 9 * MINUTE;
      expect(await ask("eth_getFilterLogs", id)).toHaveLength(3);
    }
    nowMs += 10 * MINUTE;
    expect(await ask("eth_getFilterLogs", id)).toEqual(LOGS_NOT_FOUND);
  });

  it("returns block hashes, transaction hashes or logs, by its kind", async () => {
    const [logs, blocks, pending] = [
      await install(KINDS[0]),
      await install(KINDS[1]),
      await install(KINDS[2]),
    ];
    addEvents();
    const transaction = aTransaction({ nonce: 1n });
    expect(await ask("eth_getFilterChanges", blocks)).toEqual([toHex(BLOCKS[3]?.hash ?? EMPTY_BYTES)]);
    expect(await ask("eth_getFilterChanges", pending)).toEqual([toHex(transaction.hash)]);
    const changes = await ask("eth_getFilterChanges", logs);
    expect(changes).toMatchObject([{ blockNumber: "0x3", logIndex: "0x0", removed: false }]);
  });

  it("supports eth_getFilterLogs only when it is a log filter", async () => {
    expect(await ask("eth_getFilterLogs", await install("eth_newBlockFilter"))).toEqual(LOGS_NOT_FOUND);
    expect(await ask("eth_getFilterLogs", await install("eth_newPendingTransactionFilter"))).toEqual(
      LOGS_NOT_FOUND,
    );
  });

  it("keeps its changes when eth_getFilterLogs is called", async () => {
    const id = await ask("eth_newFilter", { fromBlock: "0x0", toBlock: "0x9" });
    addEvents();
    expect(await ask("eth_getFilterLogs", id)).toHaveLength(4);
    expect(await ask("eth_getFilterChanges", id)).toHaveLength(1);
  });

  it.each([
    ["no filter", []],
    ["null", [null]],
    ["a list", [[]]],
    ["an unknown member", [{ colour: "red" }]],
    ["a number for a block", [{ fromBlock: 1 }]],
    ["a block hash together with a range", [{ blockHash: toHex(TRANSACTION.hash), fromBlock: "0x1" }]],
    ["an address that is too long", [{ address: `0x${"1".repeat(42)}` }]],
    ["invalid topics", [{ topics: [{}] }]],
  ])("of logs is refused for %s", async (_name, params) => {
    expect(await ask("eth_newFilter", ...params)).toEqual(INVALID_PARAMS);
  });

  it.each(["eth_getFilterChanges", "eth_getFilterLogs", "eth_uninstallFilter"])(
    "must be named in %s",
    async (method) => {
      expect(await ask(method)).toEqual(INVALID_PARAMS);
      expect(await ask(method, null)).toEqual(INVALID_PARAMS);
      expect(await ask(method, {})).toEqual(INVALID_PARAMS);
    },
  );
});
