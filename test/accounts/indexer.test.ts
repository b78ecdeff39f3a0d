import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BLOCK_LIMITS, type BlockLimits } from "../../src/accounts/blockEntries.ts";
import { Indexer } from "../../src/accounts/indexer.ts";
import { type AccountIndexReader, createIndexReader } from "../../src/accounts/indexReader.ts";
import {
  BLOCK_ENTRIES,
  encodeIndex,
  isPair,
  type Placed,
  pairKey,
  placeInKey,
  putPair,
  putPlaced,
  putStatus,
  readStatus,
} from "../../src/accounts/layout.ts";
import type { Chain } from "../../src/chain/createChain.ts";
import { ChainView } from "../../src/chain/view/chainView.ts";
import { ShownHead } from "../../src/chain/view/shownHead.ts";
import type { ChainSpec } from "../../src/chainspec/chainSpec.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_ADDRESS } from "../../src/config/devNetwork.ts";
import { loadInterpreter } from "../../src/execution/blockSession.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { type Address, asAddress } from "../../src/primitives/address.ts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { concatBytes, hexToBytes, toDigits } from "../../src/primitives/hex.ts";
import { Batch } from "../../src/storage/batch.ts";
import type { DatabaseOnDisk } from "../../src/storage/database.ts";
import { openLevelDatabase } from "../../src/storage/leveldb/levelDatabase.ts";
import { createdAddress } from "../../src/types/createdAddress.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aChain } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { createHandClock } from "../builders/handClock.ts";
import { keepNewest } from "../builders/keepNewest.ts";
import { commitBlock } from "../builders/sealedChain.ts";
import { account } from "../builders/testAccounts.ts";

/** No entry is damaged here. */
const unreported = (damage: string): never => expect.unreachable(damage);

const START_SECONDS = 1_700_000_000;
const SENDER = account(0).address;
const TRANSFER = toDigits(keccak256(new TextEncoder().encode("Transfer(address,address,uint256)")));
/** A token that tells of a transfer of 1 from the caller to whom the input names, and does nothing else. */
const TOKEN_CODE = hexToBytes(`0x602d8060095f395ff360015f525f35337f${TRANSFER}60205fa300`);
const TOKEN = createdAddress(SENDER, 0n);

let folder: string;
let chainDatabase: DatabaseOnDisk;
let index: DatabaseOnDisk;
let chain: Chain;
let spec: ChainSpec;
let view: ChainView;
let reader: AccountIndexReader;
let clock: ReturnType<typeof createHandClock>;
let fill: number;

beforeEach(async () => {
  await loadInterpreter();
  folder = mkdtempSync(join(tmpdir(), "ibex-accounts-"));
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
  reader = createIndexReader(async () => index, { path: join(folder, "index"), maxBytes: 0 }, unreported);
  fill = 0;
});

afterEach(async () => {
  view.close();
  await index.close();
  await chainDatabase.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Makes blocks: the first of a chain creates the token, each other has a payment and a transfer of the token to `to`. */
async function make(blocks: number, to: Address): Promise<void> {
  for (let count = 0; count < blocks; count++) {
    const number = chain.head.header.number;
    const nonce = number === 0n ? 0n : 2n * number - 1n;
    const body: SentTransaction[] =
      number === 0n
        ? [aTransaction({ nonce, to: undefined, data: TOKEN_CODE, value: 0n })]
        : [
            aTransaction({ nonce, to }),
            aTransaction({
              nonce: nonce + 1n,
              to: TOKEN,
              value: 0n,
              data: concatBytes(new Uint8Array(12), to),
            }),
          ];
    await commit(body);
  }
}

async function commit(body: readonly SentTransaction[]): Promise<void> {
  const timestamp = BigInt(START_SECONDS) + chain.head.header.number + 1n;
  clock.advanceTo(Number(timestamp) * 1000);
  await commitBlock(chain, timestamp, [...body]);
}

interface Run {
  readonly database?: DatabaseOnDisk;
  /** Starts anew after each step, as a kill would have it. */
  readonly isKilled?: boolean;
  readonly maxBytes?: number;
  readonly limits?: BlockLimits;
}

/** Steps until there is nothing to do. The size is what a test says. */
async function build({
  database = index,
  isKilled = false,
  maxBytes = 0,
  limits,
}: Run = {}): Promise<number> {
  const parts = { database, view, spec, maxBytes, measure: async () => fill, ...(limits && { limits }) };
  // Each step is as short as it can be.
  const create = (): Indexer => new Indexer({ ...parts, nowMs: () => ++ticks * 1e6 });
  let ticks = 0;
  let indexer = create();
  for (let steps = 0; ; steps++) {
    if (!(await indexer.step())) return steps;
    if (isKilled) indexer = create();
  }
}

/** All entries of blocks, and what the index says that it covers. */
async function contents(database: DatabaseOnDisk = index): Promise<string[]> {
  const found = [JSON.stringify(readStatus(database))];
  for await (const [key, value] of database.range(BLOCK_ENTRIES))
    found.push(`${toDigits(key)} ${toDigits(value)}`);
  return found;
}

/** What an index has that saw nothing but the present chain. */
async function fresh(): Promise<string[]> {
  const database = await openLevelDatabase({ path: join(folder, `fresh-${Math.random()}`) });
  await build({ database });
  const found = await contents(database);
  await database.close();
  return found;
}

async function blocksOf(address: Address, kind: Placed = "participation"): Promise<number[]> {
  view.refresh();
  return reader.read(view, async (seen) => {
    const blocks: number[] = [];
    for await (const { block } of seen.placed(kind, address)) blocks.push(block);
    return blocks;
  });
}

/** One of many addresses, spread as addresses are. */
function addressAt(at: number): Address {
  return asAddress(keccak256(encodeIndex(at)).subarray(0, 20));
}

const [ONE, OTHER] = [account(4).address, account(5).address];

describe("the index by address", () => {
  it("is the same whether it is built at once, block by block, or killed after each step", async () => {
    for (let count = 0; count < 6; count++) {
      await make(1, ONE);
      await build();
    }
    expect(await contents()).toEqual(await fresh());
    const killed = await openLevelDatabase({ path: join(folder, "killed") });
    await build({ database: killed, isKilled: true });
    expect(await contents(killed)).toEqual(await contents());
    await killed.close();
    expect(await blocksOf(ONE)).toEqual([2, 2, 3, 3, 4, 4, 5, 5, 6, 6].filter((_, at) => at % 2 === 0));
    expect(await blocksOf(SENDER)).toEqual([1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]);
  });

  it("leaves out blocks that the chain removed, and goes on where it can when it is behind them", async () => {
    await make(4, ONE);
    await build();
    await make(8, ONE);
    expect((await keepNewest(chain, 5n)).blocks).toBe(7n);
    await make(1, OTHER);
    // Before the index has noticed anything.
    expect(await blocksOf(ONE)).toEqual([]);
    await build();
    expect(await blocksOf(ONE)).toEqual([8, 9, 10, 11, 12]);
    expect(await contents()).toEqual(await fresh());
    expect((await keepNewest(chain, 3n)).blocks).toBe(10n);
    await make(1, OTHER);
    await build();
    expect(await blocksOf(ONE)).toEqual([10, 11, 12]);
    expect(await blocksOf(OTHER)).toEqual([13, 14]);
  });

  it("goes on after the first state that is kept when it is behind that", async () => {
    await make(4, ONE);
    await build();
    await make(8, ONE);
    expect(await chain.keepStates(5n)).toMatchObject({ blocks: 0n, states: 7n });
    await make(1, OTHER);
    await build();
    expect(await blocksOf(ONE)).toEqual([8, 9, 10, 11, 12]);
    expect(await contents()).toEqual(await fresh());
  });

  it("forgets blocks that a rewind removed, whatever stopped it on the way", async () => {
    await make(8, ONE);
    await build();
    await chain.rewind(4n);
    // Before the index has noticed anything.
    expect(await blocksOf(ONE)).toEqual([2, 3, 4]);
    await build({ isKilled: true });
    const rest = (await contents()).filter((entry) => !entry.startsWith("13") && !entry.startsWith("14"));
    expect(rest).toEqual(
      (await fresh()).filter((entry) => !entry.startsWith("13") && !entry.startsWith("14")),
    );
    await make(5, OTHER);
    await build();
    expect(await blocksOf(ONE)).toEqual([2, 3, 4]);
    expect(await blocksOf(OTHER)).toEqual([5, 6, 7, 8, 9]);
    expect(await contents()).toEqual(await fresh());
  });

  it("writes only steps that find something to remove", async () => {
    await make(3, ONE);
    await build();
    const many = new Batch();
    for (let at = 0; at < 10_000; at++)
      putPlaced(many, "participation", addressAt(at), { block: 1, position: 0 });
    await index.write(many);
    await chain.rewind(2n);
    const written: number[] = [];
    const database: DatabaseOnDisk = Object.create(index, {
      write: {
        value: (batch: Batch) => {
          written.push(batch.operations.length);
          return index.write(batch);
        },
      },
    });
    expect(await build({ database })).toBeGreaterThan(2);
    expect(await blocksOf(ONE)).toEqual([2]);
    expect(written).not.toContain(0);
  });

  it("notices at a start that the chain is another one from some block on", async () => {
    await make(5, ONE);
    await build();
    await make(4, ONE);
    await build();
    await chain.rewind(6n);
    await make(9, OTHER);
    await build();
    expect(await contents()).toEqual((await fresh()).map((entry) => entry));
    await chain.rewind(0n);
    await build();
    expect(await blocksOf(SENDER)).toEqual([]);
  });

  it("forgets its oldest blocks when it is too large, and only those", async () => {
    await make(12, ONE);
    await build();
    fill = 1000;
    const before = await contents();
    let measured = 0;
    const parts = { database: index, view, spec, maxBytes: 900, nowMs: () => ++measured * 1e6 };
    const indexer = new Indexer({
      ...parts,
      measure: async () => ((readStatus(index)?.first ?? 0) > 1 ? 500 : fill),
    });
    while (await indexer.step());
    expect(readStatus(index)).toEqual({ first: 4, next: 13, isStale: false, isPruning: false });
    const kept = before.slice(1).filter((entry) => {
      const key = hexToBytes(`0x${entry.split(" ")[0]}`);
      return isPair(key) || placeInKey(key).block >= 4;
    });
    expect((await contents()).slice(1)).toEqual(kept);
    expect(await blocksOf(SENDER)).not.toContain(3);
    expect(await blocksOf(ONE)).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12]);
    await make(1, OTHER);
    await build();
    expect(await blocksOf(OTHER)).toEqual([13]);
  });

  it("looks at a bounded number of holders that are over in one call, and says where to go on", async () => {
    await make(3, ONE);
    await build();
    const asset = { token: OTHER, standard: "ERC-20", tokenId: undefined } as const;
    const batch = new Batch();
    // All but the last in the order of keys are of a block that was dropped.
    const keys = Array.from({ length: 2_500 }, (_, at) => pairKey("holder", addressAt(at), asset)).sort(
      Buffer.compare,
    );
    for (const [at, key] of keys.entries()) putPair(batch, key, at === 2_499 ? 3 : 1);
    putStatus(batch, { first: 2, next: 4, isStale: false, isPruning: true });
    await index.write(batch);
    view.refresh();
    const found = await reader.read(view, async (seen) => {
      const pages: number[] = [];
      for (let after: Uint8Array | undefined; ; ) {
        const page = await seen.pairs("holder", OTHER, { after, limit: 5 });
        pages.push(page.found.length);
        if (page.next === undefined) return pages;
        after = page.next;
      }
    });
    expect(found).toEqual([0, 0, 1]);
  });
});

describe("a reader of the index", () => {
  it("opens its database again when that failed, and closes whether it is open or not", async () => {
    await make(2, ONE);
    await build();
    let openings = 0;
    const open = async (): Promise<DatabaseOnDisk> => {
      if (++openings === 1) throw new Error("too many open files");
      return { ...index, snapshot: () => index.snapshot(), close: async () => undefined };
    };
    const late = createIndexReader(open, { path: join(folder, "index"), maxBytes: 0 }, unreported);
    view.refresh();
    const last = (): Promise<number | undefined> => late.read(view, async (seen) => seen.last);
    await expect(last()).rejects.toThrow("too many open files");
    await late.close();
    expect(await last()).toBe(2);
    expect(await last()).toBe(2);
    expect(openings).toBe(2);
    await late.close();
  });

  it("measures the files once for many who ask", async () => {
    const bytes = await reader.bytes();
    writeFileSync(join(folder, "index", "more"), Buffer.alloc(1000));
    expect(await reader.bytes()).toBe(bytes);
  });
});

describe("a block that is too heavy for the index", () => {
  /** Calls an account, and then takes 192 kB of memory. */
  const heavyCode = (callee: Address): Uint8Array =>
    hexToBytes(`0x5f5f5f5f5f73${toDigits(callee)}5af15062030000515f5ff3`);

  it("is indexed without the calls for which its memory does not suffice", async () => {
    await make(1, ONE);
    const [heavy, ordinary] = [createdAddress(SENDER, 1n), createdAddress(SENDER, 2n)];
    const create = (nonce: bigint, data: Uint8Array): SentTransaction =>
      aTransaction({ nonce, to: undefined, data, value: 0n, gasLimit: 1_000_000n });
    const transfer = (nonce: bigint): SentTransaction =>
      aTransaction({ nonce, to: TOKEN, value: 0n, data: concatBytes(new Uint8Array(12), ONE) });
    await commit([create(1n, heavyCode(OTHER)), create(2n, TOKEN_CODE), transfer(3n)]);
    await commit([transfer(4n)]);
    await build({ limits: { ...BLOCK_LIMITS, memoryBytes: 150_000 } });
    expect(readStatus(index)).toMatchObject({ next: 4, isStale: false });
    expect(await blocksOf(SENDER)).toEqual([1, 2, 2, 2, 3]);
    // What was seen before, and what transactions say of themselves.
    for (const address of [OTHER, heavy, ordinary]) expect(await blocksOf(address)).toEqual([2]);
    for (const address of [heavy, ordinary]) expect(await blocksOf(address, "creation")).toEqual([2]);
    expect(await blocksOf(ONE, "accountTransfer")).toEqual([2, 3]);
  });

  it("has nothing to report, and waits, while the chain is ahead of the head that is shown", async () => {
    await make(2, ONE);
    const late = new ShownHead();
    const early = new ChainView({ database: chainDatabase, spec, shownHead: late, logger: silentLogger });
    const parts = { database: index, view: early, spec, maxBytes: 0, measure: async () => 0, nowMs: () => 0 };
    const indexer = new Indexer(parts);
    // A reader of an index that was built before finds damage at once.
    indexer.reportDamage("an entry is damaged");
    expect(await indexer.step()).toBe(false);
    expect(await indexer.progress()).toBeUndefined();
    late.show(chain.head.hash);
    while (await indexer.step());
    expect(await indexer.progress()).toMatchObject({ next: 3, head: 2, damage: expect.anything() });
    early.close();
  });

  it("has at most so many entries of each kind as the limits say, and the index says of which block", async () => {
    const kinds = async (limits: Partial<BlockLimits>): Promise<unknown> => {
      const database = await openLevelDatabase({ path: join(folder, `limited-${Math.random()}`) });
      const parts = { database, view, spec, maxBytes: 0, measure: async () => 0, nowMs: () => 0 };
      const indexer = new Indexer({ ...parts, limits: { ...BLOCK_LIMITS, ...limits } });
      while (await indexer.step());
      const counts = new Map<number, number>();
      for await (const [[kind = 0]] of database.range(BLOCK_ENTRIES))
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
      const cutBlock = (await indexer.progress())?.cutBlock;
      await database.close();
      const [participation, accountTransfer, tokenTransfer, holding, holder] = [
        0x10, 0x11, 0x12, 0x13, 0x14,
      ].map((kind) => counts.get(kind) ?? 0);
      return { participation, accountTransfer, tokenTransfer, holding, holder, cutBlock };
    };
    const code = hexToBytes(
      `0x${[1, 2, 3].map((last) => `5f5f5f5f5f73${`${last}`.padStart(40, "f")}5af150`).join("")}5f5ff3`,
    );
    const transfers = [ONE, OTHER, ONE].map((to, at) =>
      aTransaction({
        nonce: BigInt(at + 1),
        to: TOKEN,
        value: 0n,
        data: concatBytes(new Uint8Array(12), to),
      }),
    );
    await make(1, ONE);
    await commit([...transfers, aTransaction({ nonce: 4n, to: undefined, data: code, value: 0n })]);
    const whole = { participation: 13, accountTransfer: 6, tokenTransfer: 3, holding: 3, holder: 3 };
    expect(await kinds({})).toEqual({ ...whole, cutBlock: undefined });
    expect(await kinds({ parties: 2 })).toEqual({ ...whole, participation: 12, cutBlock: 2 });
    expect(await kinds({ pairs: 3 })).toEqual({ ...whole, holding: 2, holder: 1, cutBlock: 2 });
    const fewTransfers = { accountTransfer: 4, tokenTransfer: 2 };
    expect(await kinds({ transfers: 2 })).toEqual({ ...whole, ...fewTransfers, cutBlock: 2 });
  });
});
