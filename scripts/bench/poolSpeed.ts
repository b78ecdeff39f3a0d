import { asAddress } from "../../src/primitives/address.ts";
import { asHash, keccak256 } from "../../src/primitives/hash.ts";
import { EMPTY_BYTES, toDigits } from "../../src/primitives/hex.ts";
import { DEFAULT_TX_POOL_LIMITS } from "../../src/txpool/limits.ts";
import type { PoolChainView } from "../../src/txpool/ports.ts";
import { TxPool } from "../../src/txpool/txPool.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";

/**
 * Speed of the transaction pool, printed as µs per transaction and as a ratio to putting the same transactions into a
 * Map by hex of their hash: run with `node dist/.scripts/scripts/bench/poolSpeed.js` after `tsc -p scripts`.
 */
const BLOCK = 12_000;
const ROUNDS = 15;

interface Figures {
  readonly naive: number;
  readonly add: number;
  readonly select: number;
  readonly headChanged: number;
}

for (const senders of [1, 10, 1000, BLOCK])
  report(
    `${senders} senders`,
    medianOf(() => measure(senders)),
  );
report(
  "a full pool of 1000 senders",
  medianOf(() => measureFull(1000)),
);

/** Adds, selects and mines the transactions of one block. */
function measure(senders: number): Figures {
  const transactions = transfers(BLOCK, senders, 0n);
  const nonces = new Map<string, bigint>();
  const pool = createPool(nonces, Number.POSITIVE_INFINITY);
  const naive = timed(() => insertIntoMap(transactions));
  const add = timed(() => addAll(pool, transactions));
  let selected: readonly SentTransaction[] = [];
  const select = timed(() => {
    selected = drain(pool);
  });
  if (selected.length !== BLOCK) throw new Error(`selected ${selected.length} of ${BLOCK}`);
  for (const { sender, nonce } of selected) nonces.set(toDigits(sender), nonce + 1n);
  const headChanged = timed(() => pool.headChanged({ added: [{ transactions: selected }], removed: [] }));
  if (pool.statistics.pending !== 0) throw new Error("mined transactions stayed");
  return { naive, add, select, headChanged };
}

/** The same on a pool full of cheaper transactions, so that each addition evicts one. */
function measureFull(senders: number): Figures {
  const nonces = new Map<string, bigint>();
  const pool = createPool(nonces, BLOCK);
  addAll(pool, transfers(BLOCK, senders, 0n));
  const transactions = transfers(BLOCK, senders, 1_000_000n);
  const naive = timed(() => insertIntoMap(transactions));
  const add = timed(() => addAll(pool, transactions));
  let selected: readonly SentTransaction[] = [];
  const select = timed(() => {
    selected = drain(pool);
  });
  for (const { sender, nonce } of selected) nonces.set(toDigits(sender), nonce + 1n);
  const headChanged = timed(() => pool.headChanged({ added: [{ transactions: selected }], removed: [] }));
  return { naive, add, select, headChanged };
}

function createPool(nonces: ReadonlyMap<string, bigint>, maxTransactions: number): TxPool {
  const chain: PoolChainView = {
    nonce: (sender) => nonces.get(toDigits(sender)) ?? 0n,
    balanceWei: () => 10n ** 24n,
    isContract: () => false,
    headGasLimit: 300_000_000n,
    nextBaseFeePerGas: 0n,
    rules: {
      chainId: 1337n,
      acceptedTypes: new Set([0, 1, 2]),
      hasBaseFee: true,
      isZeroBaseFee: true,
      isFreeFromStart: true,
      initCodeLimit: 49_152,
      intrinsicGas: () => 21_000n,
    },
  };
  const pool = new TxPool(
    { ...DEFAULT_TX_POOL_LIMITS, maxTransactions },
    { chain, clock: { nowMs: Date.now } },
  );
  return pool;
}

function addAll(pool: TxPool, transactions: readonly SentTransaction[]): void {
  for (const transaction of transactions) {
    const outcome = pool.add(transaction, "local");
    if (!outcome.ok) throw new Error(outcome.error.message);
  }
}

function drain(pool: TxPool): readonly SentTransaction[] {
  const selection = pool.select(0n);
  const taken: SentTransaction[] = [];
  for (let next = selection.next(); next !== undefined; next = selection.next()) taken.push(next);
  return taken;
}

function insertIntoMap(transactions: readonly SentTransaction[]): void {
  const byHash = new Map<string, SentTransaction>();
  for (const transaction of transactions) byHash.set(toDigits(transaction.hash), transaction);
}

/** Unsigned, because the pool does not check signatures. Senders alternate; `extraWei` distinguishes two sets. */
function transfers(count: number, senders: number, extraWei: bigint): SentTransaction[] {
  const to = asAddress(new Uint8Array(20).fill(7));
  const firstNonce = extraWei > 0n ? BigInt(Math.ceil(count / senders)) : 0n;
  return Array.from({ length: count }, (_, index) => {
    const seed = Buffer.from(`${index % senders}`);
    const gasPrice = 1_000_000_000n + extraWei + BigInt(index % 97);
    return {
      type: 0 as const,
      chainId: 1337n,
      nonce: firstNonce + BigInt(Math.floor(index / senders)),
      gasPrice,
      gasLimit: 21_000n,
      to,
      value: 1n,
      data: EMPTY_BYTES,
      accessList: [],
      blobVersionedHashes: [],
      authorizationList: [],
      v: 2709n,
      r: 1n,
      s: 1n,
      yParity: 0 as const,
      hasLowS: true,
      raw: new Uint8Array(110),
      hash: asHash(keccak256(Buffer.from(`${index}/${senders}/${extraWei}`))),
      sender: asAddress(keccak256(seed).slice(12)),
    };
  });
}

function timed(action: () => void): number {
  const start = performance.now();
  action();
  return ((performance.now() - start) * 1000) / BLOCK;
}

function medianOf(round: () => Figures): Figures {
  const rounds = Array.from({ length: ROUNDS }, round);
  const median = (pick: (figures: Figures) => number): number =>
    rounds.map(pick).sort((a, b) => a - b)[ROUNDS >> 1] ?? Number.NaN;
  return {
    naive: median(({ naive }) => naive),
    add: median(({ add }) => add),
    select: median(({ select }) => select),
    headChanged: median(({ headChanged }) => headChanged),
  };
}

function report(name: string, { naive, add, select, headChanged }: Figures): void {
  const show = (label: string, us: number): string =>
    `${label} ${us.toFixed(2)} µs (${(us / naive).toFixed(1)}x)`;
  console.log(
    `${name}: Map insert ${naive.toFixed(2)} µs; ${show("add", add)}, ${show("select", select)}, ` +
      `${show("headChanged", headChanged)}, that is ${((headChanged * BLOCK) / 1000).toFixed(1)} ms per block`,
  );
}
