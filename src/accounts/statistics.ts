import type { ChainView } from "../chain/view/chainView.ts";
import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { runSimulation } from "../execution/simulation/runSimulation.ts";
import type { Address } from "../primitives/address.ts";
import { expectDefined } from "../primitives/assert.ts";
import { BoundedCache } from "../primitives/boundedCache.ts";
import { toKey } from "../primitives/byteKey.ts";
import { ZERO_HASH } from "../primitives/hash.ts";
import { equalBytes, hexToBytes } from "../primitives/hex.ts";
import { Batch } from "../storage/batch.ts";
import type { DatabaseOnDisk } from "../storage/database.ts";
import type { StoredBlock } from "../types/block.ts";
import { createdAddress } from "../types/createdAddress.ts";
import { effectiveGasPrice } from "../types/transaction.ts";
import { END_OF_CHAIN, type IndexStatus, placedRange, placeInKey, START_OF_CHAIN } from "./layout.ts";
import {
  type DayCounts,
  putDay,
  putStatistics,
  putToken,
  putUnnamed,
  readDay,
  readStatistics,
  readToken,
  SECONDS_OF_DAY,
  STATISTICS_ENTRIES,
  type StatisticsStatus,
  type TokenCounts,
  tokenInKey,
  UNNAMED,
} from "./statisticsLayout.ts";
import { GAS_OF_QUESTION, textOf } from "./tokenAnswers.ts";
import { tokenTransferOf } from "./tokenTransfers.ts";

interface StatisticsParts {
  /** The database of the index, which nobody else writes. */
  readonly database: DatabaseOnDisk;
  readonly view: ChainView;
  readonly spec: ChainSpec;
  /** Time of a monotonic clock, milliseconds. */
  nowMs(): number;
}

/**
 * Counts blocks by day and transfers by token, behind the index by address and in steps like its own:
 *
 *     the last counted block is no longer on the chain? remove all counts, some entries a step, and count anew
 *        ─> tokens without a name? ask some ─> count the next blocks that the index has
 *
 * Blocks are read and not executed. Counts stay when the index forgets old blocks, since a day takes a hundred bytes.
 */
export class Statistics {
  private readonly parts: StatisticsParts;
  /** Accounts that are known to have taken part before. */
  private readonly known = new BoundedCache<string, true>(KNOWN_ACCOUNTS);

  constructor(parts: StatisticsParts) {
    this.parts = parts;
  }

  /** Performs one step. Returns false when all blocks of the index are counted. */
  async step(index: Pick<IndexStatus, "first" | "next">): Promise<boolean> {
    const { database, view } = this.parts;
    const status = readStatistics(database);
    if (status !== undefined && this.isOfOtherChain(status)) return this.removeSome(status);
    if (await this.nameSome()) return true;
    // Blocks that are counted must have their entries in the index, and be whole.
    const whole = Math.max(index.first, Number(view.historyStart.blocks) + 1);
    const from = Math.max(status?.next ?? whole, whole);
    if (from >= index.next) return false;
    const first = status === undefined || status.next === status.first ? from : status.first;
    await this.count(first, from, index.next);
    return true;
  }

  private isOfOtherChain({ first, next, hash, isStale }: StatisticsStatus): boolean {
    if (next === first) return isStale;
    const header = this.parts.view.headerByNumber(BigInt(next - 1));
    return isStale || header === undefined || !equalBytes(header.hash, hash);
  }

  /** Removes some of the counts, which are no longer shown once the status says so. */
  private async removeSome(status: StatisticsStatus): Promise<true> {
    const { database } = this.parts;
    const batch = new Batch();
    let count = 0;
    for await (const [key] of database.range({ ...STATISTICS_ENTRIES, limit: REMOVED_ENTRIES })) {
      batch.delete(key);
      count++;
    }
    if (count < REMOVED_ENTRIES) putStatistics(batch, this.beginning(status.first));
    else putStatistics(batch, { ...status, isStale: true });
    await database.write(batch);
    this.known.forget(() => true);
    return true;
  }

  /** The status before the first counted block. */
  private beginning(first: number): StatisticsStatus {
    const before = this.parts.view.headerByNumber(BigInt(first - 1));
    return { first, next: first, isStale: false, hash: before?.hash ?? ZERO_HASH };
  }

  private async count(first: number, from: number, until: number): Promise<void> {
    const { database, view, nowMs } = this.parts;
    const counts = new Counts(database);
    const endMs = nowMs() + STEP_MS;
    let next = from;
    do {
      const block = expectDefined(view.blockByNumber(BigInt(next)), "a block of the index");
      counts.add(block, {
        parentTimestamp: view.headerByNumber(BigInt(next - 1))?.header.timestamp,
        newAccounts: await this.newAccountsOf(block),
      });
      next++;
    } while (next < until && next - from < STEP_BLOCKS && nowMs() < endMs);
    const batch = new Batch();
    counts.put(batch);
    const { hash } = expectDefined(view.headerByNumber(BigInt(next - 1)), `block ${next - 1}`);
    putStatistics(batch, { first, next, isStale: false, hash });
    await database.write(batch);
  }

  /** Counts the senders and recipients whose first participation is in this block. */
  private async newAccountsOf({ header, transactions }: StoredBlock): Promise<number> {
    const parties = new Map<string, Address>();
    for (const { sender, to, nonce } of transactions)
      for (const address of [sender, to ?? createdAddress(sender, nonce)]) {
        const key = toKey(address);
        if (this.known.get(key) === undefined) parties.set(key, address);
      }
    let count = 0;
    for (const [key, address] of parties) {
      if ((await this.firstBlockOf(address)) === Number(header.number)) count++;
      this.known.set(key, true, 1);
    }
    return count;
  }

  private async firstBlockOf(address: Address): Promise<number | undefined> {
    const whole = { from: START_OF_CHAIN, until: END_OF_CHAIN };
    const range = { ...placedRange("participation", address, whole), limit: 1 };
    for await (const [key] of this.parts.database.range(range)) return placeInKey(key).block;
    return undefined;
  }

  /** Asks some tokens for their names; false when all have been asked. */
  private async nameSome(): Promise<boolean> {
    const { database, view } = this.parts;
    const batch = new Batch();
    for await (const [key] of database.range({ ...UNNAMED, limit: NAMED_TOKENS })) {
      batch.delete(key);
      const token = tokenInKey(key);
      const counts = readToken(database, token);
      const state = view.stateAt(view.head.header.number);
      if (counts === undefined || state === undefined) continue;
      const [name, symbol] = [await this.ask(token, NAME), await this.ask(token, SYMBOL)];
      putToken(batch, token, { ...counts, name, symbol });
    }
    if (batch.operations.length === 0) return false;
    await database.write(batch);
    return true;
  }

  /** The text that a contract answers at the head; empty for no text. */
  private async ask(to: Address, data: Uint8Array): Promise<string> {
    const { view, spec } = this.parts;
    const { header } = view.head;
    const state = view.stateAt(header.number);
    if (state === undefined) return "";
    const call = { to, data, gasLimit: GAS_OF_QUESTION };
    const ancestorHash = (number: bigint) => view.headerByNumber(number)?.hash;
    const result = await runSimulation(
      { kind: "call", blockNumber: header.number, call },
      { spec, header, state, ancestorHash, gasCap: 0n },
    );
    return textOf(result) ?? "";
  }
}

/** The counts that a step changes, kept in memory until its write. */
class Counts {
  private readonly database: DatabaseOnDisk;
  private readonly days = new Map<number, DayCounts>();
  private readonly tokens = new Map<string, { readonly token: Address; readonly counts: TokenCounts }>();
  private readonly unnamed: Address[] = [];

  constructor(database: DatabaseOnDisk) {
    this.database = database;
  }

  add(
    block: StoredBlock,
    more: { readonly parentTimestamp: bigint | undefined; readonly newAccounts: number },
  ): void {
    const { header, transactions, receipts } = block;
    const number = Number(header.number);
    const day = Math.floor(Number(header.timestamp) / SECONDS_OF_DAY);
    const before = this.days.get(day) ?? readDay(this.database, day) ?? { ...NO_COUNTS, firstBlock: number };
    // The time of the genesis block is arbitrary.
    const seconds = number <= 1 ? 0 : Number(header.timestamp - (more.parentTimestamp ?? header.timestamp));
    let feesWei = 0n;
    for (const [index, receipt] of receipts.entries()) {
      const transaction = transactions[index];
      if (transaction === undefined) continue;
      feesWei += receipt.gasUsed * effectiveGasPrice(transaction, header.baseFeePerGas);
      for (const log of receipt.logs) {
        const transfer = tokenTransferOf(log);
        if (transfer !== undefined) this.addTransfer(transfer, number);
      }
    }
    this.days.set(day, {
      firstBlock: before.firstBlock,
      lastBlock: number,
      transactions: before.transactions + transactions.length,
      gasUsed: before.gasUsed + header.gasUsed,
      feesWei: before.feesWei + feesWei,
      newAccounts: before.newAccounts + more.newAccounts,
      spacingSeconds: before.spacingSeconds + seconds,
      longestSeconds: Math.max(before.longestSeconds, seconds),
    });
  }

  put(batch: Batch): void {
    for (const [day, counts] of this.days) putDay(batch, day, counts);
    for (const { token, counts } of this.tokens.values()) putToken(batch, token, counts);
    for (const token of this.unnamed) putUnnamed(batch, token);
  }

  private addTransfer(
    { token, standard }: { readonly token: Address; readonly standard: TokenCounts["standard"] },
    block: number,
  ): void {
    const key = toKey(token);
    let before = this.tokens.get(key)?.counts ?? readToken(this.database, token);
    if (before === undefined) {
      before = { standard, transfers: 0, firstBlock: block, lastBlock: block, name: "", symbol: "" };
      this.unnamed.push(token);
    }
    const counts = { ...before, standard, transfers: before.transfers + 1, lastBlock: block };
    this.tokens.set(key, { token, counts });
  }
}

const NO_COUNTS: DayCounts = {
  firstBlock: 0,
  lastBlock: 0,
  transactions: 0,
  gasUsed: 0n,
  feesWei: 0n,
  newAccounts: 0,
  spacingSeconds: 0,
  longestSeconds: 0,
};

/** Limits of one step, which ends after a whole block. */
const STEP_MS = 10;
const STEP_BLOCKS = 1_000;
const REMOVED_ENTRIES = 4_000;
/** Tokens asked for their names in one step: two questions each, with GAS_OF_QUESTION. */
const NAMED_TOKENS = 4;
/** Accounts remembered, some 10 MB. */
const KNOWN_ACCOUNTS = 50_000;
/** name() and symbol(). */
const NAME = hexToBytes("0x06fdde03");
const SYMBOL = hexToBytes("0x95d89b41");
