import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import type { Chain } from "../../src/chain/createChain.ts";
import { ChainRewinder } from "../../src/chain/rewindAndReplay.ts";
import { DEV_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { equalBytes, toHex } from "../../src/primitives/hex.ts";
import { checkState } from "../../src/state/verifyState.ts";
import { Batch } from "../../src/storage/batch.ts";
import { verifyChain } from "../../src/storage/chainDatabase.ts";
import { sealEntry } from "../../src/storage/checksum.ts";
import { receiptsKey } from "../../src/storage/keys.ts";
import { createMemoryDatabase, type MemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import { accountKey } from "../../src/storage/stateKeys.ts";
import { decodeBlock } from "../../src/types/block.ts";
import type { Log } from "../../src/types/log.ts";
import { aChain } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { aLongChain } from "../builders/longChain.ts";
import { createMemoryMarkerFile } from "../builders/memoryMarkerFile.ts";
import { sealedDevBlocks } from "../builders/sealedChain.ts";
import { account } from "../builders/testAccounts.ts";
import { itIfThorough } from "../thorough.ts";

/** More blocks than one rewind step removes. */
const LENGTH = 70;

const RICH = account(0).address;
let chain: Chain;
let database: MemoryDatabase;

beforeEach(async () => {
  const bodies = Array.from({ length: LENGTH }, (_, nonce) => [aTransaction({ nonce: BigInt(nonce) })]);
  database = createMemoryDatabase();
  ({ chain } = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8"), database }));
  for (const bytes of (await sealedDevBlocks(bodies)).slice(1)) {
    const block = decodeBlock(bytes);
    const imported = block.ok ? await chain.importBlock(block.value) : block;
    if (!imported.ok) throw new Error(imported.error.message);
  }
});

async function damageReceipts(...numbers: readonly bigint[]): Promise<void> {
  const batch = new Batch();
  for (const number of numbers) {
    const key = receiptsKey(number, 0);
    const bytes = Uint8Array.from(expectDefined(database.get(key), "the receipts"));
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    batch.put(key, bytes);
  }
  await database.write(batch);
}

describe("a rewind", () => {
  it("takes several steps over many blocks, announces each, and leaves a consistent state", async () => {
    const stops: bigint[] = [];
    chain.onHeadChanged("metrics", ({ head }) => stops.push(head.header.number));
    await chain.rewind(2n);
    expect(stops).toEqual([BigInt(LENGTH - 64), 2n]);
    expect(chain.stateAt(2n)?.account(RICH)?.nonce).toBe(2n);
    expect((await checkState(database)).damages).toEqual([]);
  });

  it("announces removed blocks completely, even if nothing had read them before", async () => {
    ({ chain } = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8"), database }));
    const removedBlocks: (readonly [number: bigint, transactions: number, receipts: number])[] = [];
    chain.onHeadChanged("metrics", ({ removed }) => {
      for (const { header, transactions, receipts } of removed)
        removedBlocks.push([header.number, transactions.length, receipts.length]);
    });
    await chain.rewind(BigInt(LENGTH - 2));
    expect(removedBlocks).toEqual([
      [BigInt(LENGTH), 1, 1],
      [BigInt(LENGTH - 1), 1, 1],
    ]);
  });

  itIfThorough("takes shorter steps where blocks are full of logs, and yields in between", async () => {
    const log = { address: RICH, topics: [], data: new Uint8Array() };
    const logs = [Array<Log>(40_000).fill(log)];
    const full = createMemoryDatabase();
    const long = await aLongChain({
      stored: { database: full, ...(await verifyChain(full, createMemoryMarkerFile())) },
      head: 4,
      contentOf: (number) => ({ transactions: [aTransaction({ nonce: BigInt(number) })], logs }),
      genesis: readFileSync(DEV_GENESIS_FILE, "utf8"),
    });
    const seen: (bigint | "a yield")[] = [];
    long.onHeadChanged("metrics", ({ head }) => seen.push(head.header.number));
    setImmediate(() => seen.push("a yield"));
    await long.rewind(0n);
    expect(seen).toEqual(["a yield", 1n, 0n]);
  });

  it("is refused where the states begin later than when it was asked for", async () => {
    const parts = { chain, self: RICH, isStopped: () => false, logger: silentLogger };
    const rewinder = new ChainRewinder(parts);
    const other = new ChainRewinder(parts);
    // Its turn comes first.
    const kept = chain.keepStates(2n);
    const refused = await Promise.all([rewinder.setHead(1n), other.replayBlock(2n)]);
    expect((await kept).states).toBe(BigInt(LENGTH - 2));
    expect(refused).toMatchObject([{ error: { code: "notStored" } }, { error: { code: "notStored" } }]);
    expect(chain.head.header.number).toBe(BigInt(LENGTH));
  });

  it("removes blocks with damaged receipts, announces them without logs, and imports one again", async () => {
    const replayed = BigInt(LENGTH - 1);
    let warnings = 0;
    const logger = { ...silentLogger, warn: () => warnings++ };
    ({ chain } = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8"), database, logger }));
    await damageReceipts(BigInt(LENGTH), replayed);
    const removedBlocks: (readonly [number: bigint, transactions: number, receipts: number])[] = [];
    chain.onHeadChanged("metrics", ({ removed }) => {
      for (const { header, transactions, receipts } of removed)
        removedBlocks.push([header.number, transactions.length, receipts.length]);
    });
    expect(await chain.replayBlock(replayed)).toMatchObject({ ok: true });
    expect(removedBlocks).toEqual([
      [BigInt(LENGTH), 1, 0],
      [replayed, 1, 0],
    ]);
    expect(warnings).toBe(2);
    expect(chain.blockByNumber(replayed)?.receipts.length).toBe(1);
  });

  it("replays a block by every rule, and ends with it as the head", async () => {
    const hash = chain.headerByNumber(5n)?.hash;
    const replayed = await chain.replayBlock(5n);
    expect(replayed).toMatchObject({ ok: true });
    expect(chain.head.header.number).toBe(5n);
    expect(toHex(chain.head.hash)).toBe(toHex(hash ?? new Uint8Array()));
    expect(chain.stateAt(5n)?.account(RICH)?.nonce).toBe(5n);
    expect((await checkState(database)).damages).toEqual([]);
  });

  it("rebuilds the flat state from the tries, where entries are lost, changed or surplus", async () => {
    const [lost, changed, extra] = [RICH, account(1).address, new Uint8Array(20).fill(7)].map((address) =>
      accountKey(keccak256(address)),
    );
    const batch = new Batch();
    const other = database.get(lost ?? new Uint8Array());
    if (lost === undefined || changed === undefined || extra === undefined || other === undefined)
      throw new Error("there are three keys");
    const entry = other.slice(0, -4);
    batch.delete(lost);
    batch.put(changed, sealEntry(changed, entry));
    batch.put(extra, sealEntry(extra, entry));
    await database.write(batch);
    expect((await checkState(database)).damages).not.toEqual([]);
    await chain.rebuildState();
    expect((await checkState(database)).damages).toEqual([]);
    expect(chain.stateAt(BigInt(LENGTH))?.account(RICH)?.nonce).toBe(BigInt(LENGTH));
    expect(equalBytes(database.get(lost) ?? new Uint8Array(), other)).toBe(true);
  });
});
