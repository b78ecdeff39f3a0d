import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Indexer } from "../../src/accounts/indexer.ts";
import { type AccountIndexReader, createIndexReader } from "../../src/accounts/indexReader.ts";
import { readStatus } from "../../src/accounts/layout.ts";
import { readStatistics, STATISTICS_ENTRIES } from "../../src/accounts/statisticsLayout.ts";
import type { Chain } from "../../src/chain/createChain.ts";
import { ChainView } from "../../src/chain/view/chainView.ts";
import { ShownHead } from "../../src/chain/view/shownHead.ts";
import type { ChainSpec } from "../../src/chainspec/chainSpec.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_ADDRESS } from "../../src/config/devNetwork.ts";
import { loadInterpreter } from "../../src/execution/blockSession.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { type Address, asAddress } from "../../src/primitives/address.ts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { concatBytes, hexToBytes, toDigits, toHex } from "../../src/primitives/hex.ts";
import { explorerGetDays } from "../../src/rpc/methods/explorer/getDays.ts";
import { explorerGetLogsOf } from "../../src/rpc/methods/explorer/getLogsOf.ts";
import { explorerGetTokens } from "../../src/rpc/methods/explorer/getTokens.ts";
import { explorerGetTransactionsOf } from "../../src/rpc/methods/explorer/getTransactionsOf.ts";
import { explorerGetTokenTransfers } from "../../src/rpc/methods/explorer/tokenTransfers.ts";
import type { DatabaseOnDisk } from "../../src/storage/database.ts";
import { openLevelDatabase } from "../../src/storage/leveldb/levelDatabase.ts";
import { createdAddress } from "../../src/types/createdAddress.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aChain } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { createHandClock } from "../builders/handClock.ts";
import { commitBlock } from "../builders/sealedChain.ts";
import { account } from "../builders/testAccounts.ts";
import { requesterFor } from "../rpc/requester.ts";

/** Midnight in UTC. */
const START_SECONDS = 1_700_006_400;
const DAY = 86_400;
const SENDER = account(0).address;
const TRANSFER = toDigits(keccak256(new TextEncoder().encode("Transfer(address,address,uint256)")));

/**
 * A token that answers a call without data of an address, such as name(), with a text of 32 bytes, and otherwise emits a
 * transfer of 1 from the caller to whom the input names.
 */
function tokenCode(name: string): Uint8Array {
  const text = toDigits(new TextEncoder().encode(name)).padEnd(64, "0");
  const body = `36602014602e577f${text}5f5260205ff35b60015f525f35337f${TRANSFER}60205fa300`;
  const length = (body.length / 2).toString(16).padStart(2, "0");
  return hexToBytes(`0x60${length}8060095f395ff3${body}`);
}

const [ALPHA, BETA] = [createdAddress(SENDER, 0n), createdAddress(SENDER, 1n)];

let folder: string;
let chainDatabase: DatabaseOnDisk;
let index: DatabaseOnDisk;
let chain: Chain;
let spec: ChainSpec;
let view: ChainView;
let reader: AccountIndexReader;
let clock: ReturnType<typeof createHandClock>;

beforeEach(async () => {
  await loadInterpreter();
  folder = mkdtempSync(join(tmpdir(), "ibex-statistics-"));
  chainDatabase = await openLevelDatabase({ path: join(folder, "chain") });
  index = await openLevelDatabase({ path: join(folder, "index") });
  clock = createHandClock(START_SECONDS * 1000);
  const genesis = readFileSync(DEV_GENESIS_FILE, "utf8");
  const made = await aChain({ genesis, database: chainDatabase, clock, builder: DEV_VALIDATOR_ADDRESS });
  ({ chain, spec } = made);
  const shownHead = new ShownHead();
  shownHead.show(chain.head.hash);
  chain.onHeadChanged("shownHead", ({ head }) => shownHead.show(head.hash));
  view = new ChainView({ database: chainDatabase, spec, shownHead, logger: silentLogger });
  reader = createIndexReader(
    async () => index,
    { path: join(folder, "index"), maxBytes: 0 },
    (damage) => expect.unreachable(damage),
  );
});

afterEach(async () => {
  view.close();
  await index.close();
  await chainDatabase.close();
  rmSync(folder, { recursive: true, force: true });
});

let nonce = 0n;
const create = (name: string): SentTransaction =>
  aTransaction({ nonce: nonce++, to: undefined, data: tokenCode(name), value: 0n });
const move = (token: Address, to: Address): SentTransaction =>
  aTransaction({ nonce: nonce++, to: token, value: 0n, data: concatBytes(new Uint8Array(12), to) });
const pay = (to: Address): SentTransaction => aTransaction({ nonce: nonce++, to });

async function commit(seconds: number, ...body: SentTransaction[]): Promise<void> {
  const timestamp = BigInt(START_SECONDS + seconds);
  clock.advanceTo(Number(timestamp) * 1000);
  await commitBlock(chain, timestamp, body);
}

/** Steps until there is nothing to do, each step as short as it can be. */
async function build({ isKilled = false } = {}): Promise<void> {
  let ticks = 0;
  const parts = { database: index, view, spec, maxBytes: 0, measure: async () => 0 };
  const begin = (): Indexer => new Indexer({ ...parts, nowMs: () => ++ticks * 1e6 });
  for (let indexer = begin(); await indexer.step(); ) if (isKilled) indexer = begin();
}

async function counts(database: DatabaseOnDisk = index): Promise<string[]> {
  const found = [JSON.stringify(readStatistics(database))];
  for await (const [key, value] of database.range(STATISTICS_ENTRIES))
    found.push(`${toDigits(key)} ${toDigits(value)}`);
  return found;
}

function ask(method: string, ...params: readonly unknown[]): Promise<unknown> {
  view.refresh();
  return requesterFor([explorerGetDays, explorerGetTokens], { chain: view, accounts: reader })(
    method,
    ...params,
  );
}

const [ONE, OTHER] = [account(4).address, account(5).address];

/** Two tokens and three days, the second without a block. */
async function makeChain(): Promise<void> {
  nonce = 0n;
  await commit(1, create("Alpha Coin"), create("beta"));
  await commit(5, move(ALPHA, ONE), move(ALPHA, OTHER), move(BETA, ONE), pay(ONE));
  await commit(2 * DAY, move(ALPHA, ONE), pay(asAddress(new Uint8Array(20).fill(9))));
}

describe("the statistics of the index", () => {
  it("count transactions, gas, fees, new accounts and times by day", async () => {
    await makeChain();
    await build();
    const blocks = [1n, 2n, 3n].map((number) => view.blockByNumber(number));
    const gas = (first: number, until: number): bigint =>
      blocks.slice(first, until).reduce((sum, block) => sum + (block?.header.gasUsed ?? 0n), 0n);
    const hex = (number: bigint): string => `0x${number.toString(16)}`;
    const today = Math.floor(START_SECONDS / DAY);
    const price = blocks[0]?.transactions[0]?.gasPrice ?? 0n;
    expect(price).toBeGreaterThan(0n);
    const answer = {
      days: [
        {
          day: hex(BigInt(today + 2)),
          firstBlock: "0x3",
          lastBlock: "0x3",
          transactions: "0x2",
          gasUsed: hex(gas(2, 3)),
          fees: hex(gas(2, 3) * price),
          newAccounts: "0x1",
          spacing: hex(BigInt(2 * DAY - 5)),
          longestSpacing: hex(BigInt(2 * DAY - 5)),
        },
        {
          day: hex(BigInt(today)),
          firstBlock: "0x1",
          lastBlock: "0x2",
          transactions: "0x6",
          gasUsed: hex(gas(0, 2)),
          fees: hex(gas(0, 2) * price),
          // The sender, two contracts and one who was paid.
          newAccounts: "0x4",
          spacing: "0x4",
          longestSpacing: "0x4",
        },
      ],
      firstBlock: "0x1",
      lastBlock: "0x3",
    };
    expect(await ask("explorer_getDays", 10)).toEqual(answer);
    expect(await ask("explorer_getDays", 1)).toMatchObject({ days: [answer.days[0]] });
    expect(await ask("explorer_getDays", 1, hex(BigInt(today + 1)))).toMatchObject({
      days: [answer.days[1]],
    });
    for (const count of [0, 367])
      expect(await ask("explorer_getDays", count)).toMatchObject({ code: -32602 });
  });

  it("list tokens by their transfers, and find them by a part of a name in any case", async () => {
    await makeChain();
    await build();
    const alpha = {
      token: toHex(ALPHA),
      standard: "ERC-20",
      name: "Alpha Coin",
      symbol: "Alpha Coin",
      transfers: "0x3",
      accounts: "0x3",
      hasMoreAccounts: false,
      firstBlock: "0x2",
      lastBlock: "0x3",
    };
    expect(await ask("explorer_getTokens")).toMatchObject({
      items: [alpha, { token: toHex(BETA), transfers: "0x1", accounts: "0x2" }],
      next: null,
      isCut: false,
      firstBlock: "0x1",
      lastBlock: "0x3",
    });
    const first = (await ask("explorer_getTokens", { size: 1 })) as { readonly next: string };
    expect(first).toMatchObject({ items: [alpha] });
    expect(await ask("explorer_getTokens", { size: 1, cursor: first.next })).toMatchObject({
      items: [{ name: "beta" }],
      next: null,
    });
    for (const [text, names] of [
      ["BET", ["beta"]],
      ["coin", ["Alpha Coin"]],
      ["a", ["Alpha Coin", "beta"]],
      ["gamma", []],
    ] as const) {
      const found = (await ask("explorer_getTokens", {}, text)) as { items: readonly { name: string }[] };
      expect(found.items.map(({ name }) => name)).toEqual(names);
    }
    expect(await ask("explorer_getTokens", {}, "x".repeat(65))).toMatchObject({ code: -32602 });
    expect(await ask("explorer_getTokens", { cursor: "0x12" })).toMatchObject({ code: -32602 });
  });

  it("are the same whether they are counted at once, block by block, or killed after each step", async () => {
    await makeChain();
    await build({ isKilled: true });
    const killed = await counts();
    await index.close();
    index = await openLevelDatabase({ path: join(folder, "again") });
    await build();
    expect(await counts()).toEqual(killed);
    await commit(2 * DAY + 1, move(BETA, OTHER));
    await build();
    expect(await ask("explorer_getTokens", {}, "beta")).toMatchObject({ items: [{ transfers: "0x2" }] });
  });

  it("are counted anew when blocks were removed, and show nothing of these meanwhile", async () => {
    await makeChain();
    await build();
    await chain.rewind(2n);
    nonce = 6n;
    // Before the index has noticed anything.
    expect(await ask("explorer_getDays", 10)).toEqual({ days: [], firstBlock: null, lastBlock: null });
    await commit(7, move(BETA, OTHER));
    await build();
    expect(await ask("explorer_getTokens")).toMatchObject({
      items: [{ transfers: "0x2" }, { transfers: "0x2" }],
      lastBlock: "0x3",
    });
    expect(await ask("explorer_getDays", 10)).toMatchObject({ days: [{ transactions: "0x7" }] });
    await chain.rewind(0n);
    await build();
    expect(await ask("explorer_getTokens")).toMatchObject({ items: [], firstBlock: null });
  });

  it("are counted for an index that was built without them, which stays as it is", async () => {
    await makeChain();
    await build();
    const whole = await counts();
    const status = readStatus(index);
    const { Batch } = await import("../../src/storage/batch.ts");
    const batch = new Batch();
    for await (const [key] of index.range({ from: Uint8Array.of(0x20), until: Uint8Array.of(0x30) }))
      batch.delete(key);
    await index.write(batch);
    await build();
    expect(await counts()).toEqual(whole);
    expect(readStatus(index)).toEqual(status);
  });
});

describe("the lists of an account", () => {
  interface Page {
    readonly items: readonly { readonly transactionHash: string; readonly blockNumber: string }[];
    readonly next: string | null;
  }

  const list = async (method: string, address: Address, page: object, filter?: object): Promise<Page> => {
    view.refresh();
    const methods = [explorerGetTransactionsOf, explorerGetTokenTransfers, explorerGetLogsOf];
    return requesterFor(methods, { chain: view, accounts: reader })(
      method,
      toHex(address),
      page,
      filter,
    ) as Promise<Page>;
  };
  const blocksOf = async (method: string, address: Address, filter: object): Promise<number[]> =>
    (await list(method, address, { size: 100, order: "oldest" }, filter)).items.map(({ blockNumber }) =>
      Number(blockNumber),
    );

  it("are filtered by direction, kind, token, blocks and times", async () => {
    await makeChain();
    await build();
    const transactions = (address: Address, filter: object) =>
      blocksOf("explorer_getTransactionsOf", address, filter);
    expect(await transactions(SENDER, { direction: "out" })).toEqual([1, 1, 2, 2, 2, 2, 3, 3]);
    expect(await transactions(SENDER, { direction: "in" })).toEqual([]);
    expect(await transactions(ONE, { direction: "in", kind: "payment" })).toEqual([2]);
    expect(await transactions(SENDER, { kind: "creation" })).toEqual([1, 1]);
    expect(await transactions(SENDER, { kind: "call", fromBlock: 3 })).toEqual([3]);
    expect(await transactions(SENDER, { kind: "failed" })).toEqual([]);
    expect(await transactions(SENDER, { toBlock: "0x1" })).toEqual([1, 1]);
    expect(await transactions(SENDER, { fromTime: START_SECONDS + DAY })).toEqual([3, 3]);
    expect(
      await transactions(SENDER, { fromTime: START_SECONDS + 2, beforeTime: START_SECONDS + DAY }),
    ).toEqual([2, 2, 2, 2]);
    const transfers = (filter: object) => blocksOf("explorer_getTokenTransfers", ONE, filter);
    expect(await transfers({})).toEqual([2, 2, 3]);
    expect(await transfers({ token: toHex(ALPHA) })).toEqual([2, 3]);
    expect(await transfers({ direction: "out" })).toEqual([]);
    expect(await blocksOf("explorer_getLogsOf", BETA, {})).toEqual([2]);
    expect(await blocksOf("explorer_getLogsOf", ALPHA, { fromBlock: 3 })).toEqual([3]);
    for (const wrong of [{ direction: "up" }, { kind: 1 }, { token: 7 }, { fromBlock: -1 }])
      expect(await list("explorer_getTransactionsOf", SENDER, {}, wrong)).toMatchObject({ code: -32602 });
  });

  it("page through what passes, and look at a bounded number of entries at a time", async () => {
    nonce = 0n;
    await commit(1, pay(ONE));
    for (let block = 0; block < 4; block++)
      await commit(2 + block, ...Array.from({ length: 100 }, () => pay(OTHER)));
    await commit(7, pay(ONE));
    await build();
    const seen: string[] = [];
    const sizes: number[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await list(
        "explorer_getTransactionsOf",
        SENDER,
        { size: 90, cursor },
        { direction: "out" },
      );
      seen.push(...page.items.map(({ transactionHash }) => transactionHash));
      sizes.push(page.items.length);
      cursor = page.next;
    }
    expect(new Set(seen).size).toBe(402);
    expect(sizes).toEqual([90, 90, 90, 90, 42]);
    const few = await list("explorer_getTransactionsOf", SENDER, { size: 5 }, { kind: "creation" });
    expect(few).toMatchObject({ items: [], next: expect.stringMatching(/^0x/) as string });
  });
});
