import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Address, asAddress } from "../../src/primitives/address.ts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { WorldState } from "../../src/state/worldState.ts";
import { Batch } from "../../src/storage/batch.ts";
import { bodyKey, transactionKey } from "../../src/storage/keys.ts";
import { openLevelDatabase } from "../../src/storage/leveldb/levelDatabase.ts";
import { EMPTY_ACCOUNT } from "../../src/types/account.ts";

/*
 * Cost of a full block's state writes: blocks of 12,000 transfers between 24,000 of 1,000,000 accounts, staged, then
 * written as one synced batch with a body and transaction index of that size. Usage:
 *
 *   npx tsc -p scripts
 *   node dist/.scripts/scripts/bench/stateWrites.js [seconds = 120] [accounts = 1000000] [transfers a block = 12000]
 */
const [seconds = 120, accountCount = 1_000_000, transfers = 12_000] = process.argv.slice(2).map(Number);
const TRANSACTION_BYTES = 110;
const ACCOUNTS_PER_FUNDING_BLOCK = 20_000;

const folder = mkdtempSync(join(tmpdir(), "ibex-state-writes-"));
const database = await openLevelDatabase({ path: join(folder, "database") });
try {
  const addresses = addressesOf(accountCount);
  const world = new WorldState({ database });
  const random = generator(42);
  let number = await fund(world, addresses);
  const rows: Row[] = [];
  const endMs = performance.now() + seconds * 1000;
  while (performance.now() < endMs)
    rows.push(await transferBlock(world, addresses, random, BigInt(number++)));
  report(rows);
} finally {
  await database.close();
  rmSync(folder, { recursive: true });
}

interface Row {
  readonly readMs: number;
  readonly stageMs: number;
  /** CPU time of the main thread, comparable when other processes run on the same computer. */
  readonly stageCpuMs: number;
  readonly collectMs: number;
  readonly writeMs: number;
  readonly adoptMs: number;
  readonly batchBytes: number;
  readonly puts: number;
}

async function fund(state: WorldState, addresses: Buffer): Promise<number> {
  const startMs = performance.now();
  let number = 0;
  for (let from = 0; from < accountCount; from += ACCOUNTS_PER_FUNDING_BLOCK, number++) {
    const overlay = state.overlay();
    for (let i = from; i < Math.min(accountCount, from + ACCOUNTS_PER_FUNDING_BLOCK); i++)
      overlay.putAccount(addressAt(addresses, i), { ...EMPTY_ACCOUNT, balance: 10n ** 21n });
    const staged = state.stage(overlay.changes(), BigInt(number));
    const batch = new Batch();
    staged.writeTo(batch);
    await database.write(batch);
    state.adopt(staged);
  }
  console.log(`${accountCount} accounts funded in ${Math.round(performance.now() - startMs)} ms`);
  return number;
}

/** Moves wei between random accounts and commits the block; the reads replace execution. */
async function transferBlock(
  state: WorldState,
  addresses: Buffer,
  random: () => number,
  number: bigint,
): Promise<Row> {
  const t0 = performance.now();
  const overlay = state.overlay();
  for (let i = 0; i < transfers; i++) {
    const sender = addressAt(addresses, Math.floor(random() * accountCount));
    const receiver = addressAt(addresses, Math.floor(random() * accountCount));
    const from = overlay.account(sender) ?? EMPTY_ACCOUNT;
    overlay.putAccount(sender, { ...from, nonce: from.nonce + 1n, balance: from.balance - 1n });
    const to = overlay.account(receiver) ?? EMPTY_ACCOUNT;
    overlay.putAccount(receiver, { ...to, balance: to.balance + 1n });
  }
  const changes = overlay.changes();
  const t1 = performance.now();
  const cpuMs = mainThreadCpuMs();
  const staged = state.stage(changes, number);
  const t2 = performance.now();
  const stageCpuMs = mainThreadCpuMs() - cpuMs;
  const batch = new Batch();
  staged.writeTo(batch);
  addBlock(batch, number);
  const t3 = performance.now();
  await database.write(batch);
  const t4 = performance.now();
  state.adopt(staged);
  const t5 = performance.now();
  return {
    readMs: t1 - t0,
    stageMs: t2 - t1,
    stageCpuMs,
    collectMs: t3 - t2,
    writeMs: t4 - t3,
    adoptMs: t5 - t4,
    batchBytes: batch.byteLength,
    puts: batch.operations.length,
  };
}

function mainThreadCpuMs(): number {
  const path = "/proc/self/schedstat";
  return existsSync(path) ? Number(readFileSync(path, "utf8").split(" ")[0]) / 1e6 : Number.NaN;
}

/** A body and a transaction index of a realistic size. */
function addBlock(batch: Batch, number: bigint): void {
  const body = Buffer.allocUnsafe(transfers * TRANSACTION_BYTES);
  for (let at = 0; at + 4 <= body.length; at += 4)
    body.writeUInt32LE((at * 2654435761 + Number(number)) >>> 0, at);
  batch.put(bodyKey(number, 0), body);
  for (let i = 0; i < transfers; i++) {
    const place = Buffer.alloc(12);
    place.writeBigUInt64BE(number);
    place.writeUInt32BE(i, 8);
    batch.put(transactionKey(keccak256(place)), place);
  }
}

function report(rows: readonly Row[]): void {
  const column = (name: keyof Row) => rows.map((row) => row[name]);
  console.log(`${rows.length} blocks of ${transfers} transfers in ${seconds} s`);
  for (const name of ["readMs", "stageMs", "stageCpuMs", "collectMs", "writeMs", "adoptMs"] as const)
    console.log(line(name, column(name)));
  console.log(
    line(
      "stage+write",
      rows.map((row) => row.stageMs + row.collectMs + row.writeMs + row.adoptMs),
    ),
  );
  const bytes = column("batchBytes").reduce((sum, value) => sum + value, 0);
  console.log(
    `puts per block ${rows.at(-1)?.puts}, batch ${megabytes(bytes / rows.length)}, all batches ${megabytes(bytes)}`,
  );
  console.log(`resident memory without mapped files: ${anonymousMegabytes()} MB`);
  const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
  console.log(
    `rss ${megabytes(rss)}, heap ${megabytes(heapUsed)}, external ${megabytes(external)}, buffers ${megabytes(arrayBuffers)}`,
  );
  console.log(`database ${megabytes(folderSize(join(folder, "database")))}`);
}

function line(name: string, values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  const lastTen = values.slice(-10).map(Math.round).join(" ");
  return `${name.padEnd(12)} p50 ${at(0.5)}  p95 ${at(0.95)}  worst ${at(1)}  last ten ${lastTen}`;
}

/** Excludes LevelDB's mapped files, which count as resident but belong to the page cache. */
function anonymousMegabytes(): number {
  const path = "/proc/self/status";
  const match = existsSync(path) ? /RssAnon:\s+(\d+)/.exec(readFileSync(path, "utf8")) : undefined;
  return Math.round(Number(match?.[1]) / 1024);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function folderSize(path: string): number {
  return readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0);
}

function addressesOf(count: number): Buffer {
  const addresses = Buffer.alloc(count * 20);
  const seed = Buffer.alloc(4);
  for (let i = 0; i < count; i++) {
    seed.writeUInt32BE(i);
    addresses.set(keccak256(seed).subarray(0, 20), i * 20);
  }
  return addresses;
}

function addressAt(addresses: Buffer, index: number): Address {
  return asAddress(Uint8Array.prototype.slice.call(addresses, index * 20, index * 20 + 20));
}

/** A small seeded generator (mulberry32), so that runs can be compared. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
