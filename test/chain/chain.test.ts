import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import type { TransactionSupply } from "../../src/chain/blockExecution.ts";
import type { Chain } from "../../src/chain/createChain.ts";
import { DEV_CANCUN_GENESIS_FILE, DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { type Candidate, createCandidate, sealedHeader } from "../../src/ibft/candidate.ts";
import { asHash } from "../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { addressOfPrivateKey, sign } from "../../src/primitives/secp256k1.ts";
import { createMemoryDatabase, type MemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import type { Block } from "../../src/types/block.ts";
import type { Header } from "../../src/types/header.ts";
import { rootOfList } from "../../src/types/listRoot.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aChain } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { genesisWith } from "../builders/genesisWith.ts";
import { createHandClock, type HandClock } from "../builders/handClock.ts";
import { account } from "../builders/testAccounts.ts";

const genesis = readFileSync(DEV_CANCUN_GENESIS_FILE, "utf8");
const START_MS = 1_800_000_000_000;

let chain: Chain;
let database: MemoryDatabase;
let clock: HandClock;

beforeEach(async () => {
  clock = createHandClock(START_MS);
  database = createMemoryDatabase();
  ({ chain } = await open());
});

function open() {
  return aChain({ genesis, database, clock, builder: addressOfPrivateKey(DEV_VALIDATOR_KEY) });
}

/** A pool that offers exactly these transactions, in this order. */
function supplyOf(
  transactions: readonly SentTransaction[],
): TransactionSupply & { readonly dropped: string[] } {
  const waiting = [...transactions];
  const dropped: string[] = [];
  return {
    dropped,
    select: () => ({ next: () => waiting.shift(), skipSender: () => undefined }),
    drop: (hash) => void dropped.push(toHex(hash)),
  };
}

async function build(transactions: readonly SentTransaction[] = [], round = 0): Promise<Candidate> {
  const parent = chain.head;
  const timestamp = BigInt(START_MS / 1000) + parent.header.number;
  clock.advanceTo(Number(timestamp) * 1000);
  const built = await chain.build({ parent, round, timestamp }, supplyOf(transactions));
  if (!built.ok) throw new Error(built.error.message);
  return built.value;
}

function seal(candidate: Candidate, key = DEV_VALIDATOR_KEY): Block {
  const { transactions, digest } = candidate;
  return { header: sealedHeader(candidate, [sign(digest, key)]), transactions, ommers: [] };
}

async function extend(transactions: readonly SentTransaction[] = []): Promise<void> {
  const candidate = await build(transactions);
  const committed = await chain.commit(candidate, [sign(candidate.digest, DEV_VALIDATOR_KEY)]);
  if (!committed.ok) throw new Error(committed.error.message);
}

async function countEntries(): Promise<number> {
  let count = 0;
  const everything = { from: new Uint8Array(0), until: Uint8Array.of(0xff) };
  for await (const _ of database.range(everything)) count++;
  return count;
}

describe("a chain of one validator", () => {
  it("builds, seals and commits; state, receipts and indexes answer at once and after a restart", async () => {
    const transfer = aTransaction({ to: account(5).address, value: 7n });
    await extend([transfer]);
    await extend();
    for (const reader of [chain, (await open()).chain]) {
      expect(reader.head.header.number).toBe(2n);
      const found = reader.transactionByHash(transfer.hash);
      expect(found?.block.header.number).toBe(1n);
      expect(found?.receipt).toMatchObject({ outcome: { status: 1 }, gasUsed: 21_000n });
      const funded = 10_000n * 10n ** 18n;
      expect(reader.stateAt(0n)?.account(account(5).address)?.balance).toBe(funded);
      expect(reader.stateAt(1n)?.account(account(5).address)?.balance).toBe(funded + 7n);
      expect(reader.stateAt(2n)?.account(account(5).address)?.balance).toBe(funded + 7n);
      expect(reader.stateAt(3n)).toBeUndefined();
    }
  });

  it("announces a head only after it can be read from a reopened database", async () => {
    const seen: (string | undefined)[] = [];
    chain.onHeadChanged("metrics", ({ added }) => {
      const [block] = added;
      if (block !== undefined) seen.push(toHex(block.hash));
    });
    await extend();
    const reopened = (await open()).chain;
    expect(seen).toEqual([toHex(reopened.head.hash)]);
  });

  it("accepts a block sealed in a later round as the same block", async () => {
    const first = await build();
    const later = createCandidate(first.header, { ...first.extra, round: 3 }, first.transactions);
    expect(toHex(later.hash)).toBe(toHex(first.hash));
    const committed = await chain.importBlock(seal(later));
    expect(committed.ok).toBe(true);
    expect((await chain.importBlock(seal(first))).ok).toBe(true);
    expect(chain.head.header.number).toBe(1n);
  });

  it("rewinds durably to any block and continues with other blocks", async () => {
    const lost = aTransaction({ value: 1n });
    await extend();
    await extend([lost]);
    await extend();
    const removed: bigint[] = [];
    chain.onHeadChanged("metrics", (change) =>
      removed.push(...change.removed.map(({ header }) => header.number)),
    );
    await chain.rewind(1n);
    expect(removed).toEqual([3n, 2n]);
    for (const reader of [chain, (await open()).chain]) {
      expect(reader.head.header.number).toBe(1n);
      expect(reader.transactionByHash(lost.hash)).toBeUndefined();
      expect(reader.stateAt(1n)?.account(account(0).address)?.nonce).toBe(0n);
    }
    const other = aTransaction({ value: 2n });
    await extend([other]);
    expect(chain.transactionByHash(other.hash)?.block.header.number).toBe(2n);
    expect(chain.stateAt(2n)?.account(account(0).address)?.nonce).toBe(1n);
  });

  it("drops transactions that can never be included, and undoes them", async () => {
    const poor = aTransaction({ value: 10n ** 30n });
    const supply = supplyOf([poor, aTransaction({ nonce: 0n })]);
    const built = await chain.build(
      { parent: chain.head, round: 0, timestamp: BigInt(START_MS / 1000) },
      supply,
    );
    expect(supply.dropped).toEqual([toHex(poor.hash)]);
    expect(built.ok && built.value.transactions).toHaveLength(1);
  });

  it("refuses to build on anything but the head", async () => {
    const genesisHeader = chain.head;
    await extend();
    const built = await chain.build({ parent: genesisHeader, round: 0, timestamp: 1n }, supplyOf([]));
    expect(built).toMatchObject({ ok: false, error: { code: "notAfterHead" } });
  });

  it("refuses the database of another network", async () => {
    const other = genesis.replace('"timestamp": "0x0"', '"timestamp": "0x1"');
    await expect(aChain({ genesis: other, database, clock })).rejects.toThrow(/genesis/);
  });

  it("refuses changed rules of existing blocks that the genesis hash does not cover", async () => {
    const other = genesisWith({ chainId: 99, contractSizeLimit: 5 });
    await aChain({ genesis: other, database, clock });
    await expect(open()).resolves.toBeDefined();
    await extend();
    await expect(aChain({ genesis: other, database, clock })).rejects.toThrow(
      "chainId was 1337 when its blocks were made and is 99 now; contractSizeLimit was 24576 when its blocks were made and is 5 now",
    );
    await expect(open()).resolves.toBeDefined();
  });

  it("accepts changed rules that take effect after the head, and requires them from then on", async () => {
    database = createMemoryDatabase();
    const openWith = (pragueTime?: number) =>
      aChain({
        genesis: genesisWith({ pragueTime }),
        database,
        clock,
        builder: addressOfPrivateKey(DEV_VALIDATOR_KEY),
      });
    ({ chain } = await openWith());
    await extend();
    ({ chain } = await openWith(START_MS / 1000 + 2));
    await extend();
    await extend();
    await expect(openWith()).rejects.toThrow("fork prague was time");
  });
});

describe("an invalid block", () => {
  const someHash = asHash(new Uint8Array(32).fill(7));

  /** Each changed header is sealed again by the validator, so that only the changed field is invalid. */
  const MUTATIONS: readonly (readonly [string, Partial<Header>, string])[] = [
    ["parentHash", { parentHash: someHash }, "wrongParent"],
    ["number", { number: 2n }, "wrongNumber"],
    ["gasUsed above the limit", { gasUsed: 2n ** 40n }, "gasUsedAboveLimit"],
    ["gasLimit too small", { gasLimit: 4999n, gasUsed: 0n }, "gasLimitOutOfBounds"],
    ["gasLimit that jumps", { gasLimit: 300_000_000n }, "gasLimitJump"],
    ["timestamp in the future", { timestamp: BigInt(START_MS / 1000) + 2n }, "timestampInFuture"],
    ["timestamp too early", { timestamp: 0n }, "timestampTooEarly"],
    ["mixHash", { mixHash: someHash }, "wrongMixHash"],
    ["ommersHash", { ommersHash: someHash }, "ommersNotEmpty"],
    ["difficulty", { difficulty: 2n }, "wrongDifficulty"],
    ["nonce", { nonce: hexToBytes("0x0000000000000001") }, "wrongNonce"],
    ["coinbase", { coinbase: account(1).address }, "coinbaseNotValidator"],
    ["transactionsRoot", { transactionsRoot: someHash }, "wrongTransactionsRoot"],
    ["gasUsed", { gasUsed: 21_001n }, "wrongGasUsed"],
    ["receiptsRoot", { receiptsRoot: someHash }, "wrongReceiptsRoot"],
    ["logsBloom", { logsBloom: new Uint8Array(256).fill(1) }, "wrongLogsBloom"],
    ["stateRoot", { stateRoot: someHash }, "wrongStateRoot"],
  ];

  it.each(MUTATIONS)("is rejected for its %s, and leaves the database unchanged", async (_, change, code) => {
    const honest = await build([aTransaction()]);
    const mutated = createCandidate({ ...honest.header, ...change }, honest.extra, honest.transactions);
    const before = await countEntries();
    expect(await chain.importBlock(seal(mutated))).toMatchObject({ ok: false, error: { code } });
    expect(chain.head.header.number).toBe(0n);
    expect(await countEntries()).toBe(before);
    expect(await chain.importBlock(seal(honest))).toMatchObject({ ok: true });
  });

  it("is rejected without base fee under London", async () => {
    const honest = await build();
    const { baseFeePerGas: _, ...header } = honest.header;
    const mutated = createCandidate(header, honest.extra, []);
    expect(await chain.importBlock(seal(mutated))).toMatchObject({
      ok: false,
      error: { code: "baseFeeMissing" },
    });
  });

  it("is rejected for another validator set than that after its parent", async () => {
    const honest = await build();
    const validators = [account(1).address, ...honest.extra.validators];
    const mutated = createCandidate(honest.header, { ...honest.extra, validators }, []);
    expect(await chain.importBlock(seal(mutated))).toMatchObject({
      ok: false,
      error: { code: "wrongValidators" },
    });
  });

  it("is rejected without seals, with a non-validator's seal, or with one seal twice", async () => {
    const honest = await build();
    const own = sign(honest.digest, DEV_VALIDATOR_KEY);
    const withSeals = (seals: readonly (typeof own)[]): Block => ({
      header: sealedHeader(honest, seals),
      transactions: [],
      ommers: [],
    });
    const nonValidator = sign(honest.digest, account(1).privateKey);
    expect(await chain.importBlock(withSeals([]))).toMatchObject({ error: { code: "tooFewSeals" } });
    expect(await chain.importBlock(withSeals([nonValidator]))).toMatchObject({
      error: { code: "sealerNotValidator" },
    });
    expect(await chain.importBlock(withSeals([own, own]))).toMatchObject({
      error: { code: "duplicateSeal" },
    });
    expect(chain.head.header.number).toBe(0n);
  });

  it("is rejected for another block's body, even if the right one was executed already", async () => {
    const honest = await build([aTransaction()]);
    const { header } = seal(honest);
    for (const transactions of [[], [aTransaction({ value: 2n })]])
      expect(await chain.importBlock({ header, transactions, ommers: [] })).toMatchObject({
        ok: false,
        error: { code: "wrongTransactionsRoot", fault: "peer" },
      });
    expect(await chain.importBlock(seal(honest))).toMatchObject({ ok: true });
  });

  it("is rejected for a transaction that is invalid at its position", async () => {
    const honest = await build([aTransaction()]);
    const doubled = [...honest.transactions, aTransaction({ nonce: 5n })];
    const header = { ...honest.header, transactionsRoot: rootOfList(doubled.map(({ raw }) => raw)) };
    const mutated = createCandidate(header, honest.extra, doubled);
    expect(await chain.importBlock(seal(mutated))).toMatchObject({
      ok: false,
      error: { code: "invalidTransaction" },
    });
  });
});
