import { randomBytes } from "node:crypto";
import type { Chain } from "../chain/createChain.ts";
import type { DevelopmentWriter } from "../chain/developmentWriter.ts";
import type { Logger } from "../observability/logger.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import { equalBytes } from "../primitives/hex.ts";
import { Mutex } from "../primitives/mutex.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { type PackedAccounts, unpackAccounts } from "../state/dump/dumpedAccount.ts";
import { INSTANT, MarkedFolder, type MiningMode } from "../storage/developmentMark.ts";
import type { PoolErrorCode } from "../txpool/errors.ts";
import type { TxPool } from "../txpool/txPool.ts";
import type { SentTransaction, TransactionErrorCode } from "../types/transaction.ts";
import { type Alteration, checkGasLimit } from "./alteration.ts";
import { BlockMaker } from "./blockMaker.ts";
import { ChainTime, offsetAtStart } from "./chainTime.ts";
import { loadedBlocks } from "./loadedBlocks.ts";
import { mineAt, mineBlocks } from "./minedBlocks.ts";
import {
  type DevelopmentErrorCode,
  MINED_BLOCKS_LIMIT,
  type MineOrder,
  REPLACED_BLOCKS_LIMIT,
  type Reorganisation,
  STOPPING,
  tooManyBlocks,
} from "./orders.ts";
import { PoolChanges } from "./poolChanges.ts";
import { readBlocks, readSigned } from "./signedTransaction.ts";
import { Snapshots } from "./snapshots.ts";

interface DevelopmentParts {
  /** The data folder, and its mark if it has one. */
  readonly dataPath: string;
  readonly marked: MarkedFolder | undefined;
  readonly chain: Pick<
    Chain,
    | "genesis"
    | "head"
    | "historyStart"
    | "build"
    | "tallyAfter"
    | "headerByNumber"
    | "rewind"
    | "developmentWriter"
    | "developmentRun"
  >;
  readonly pool: Pick<TxPool, "select" | "drop" | "add" | "get" | "entries" | "statistics" | "onAdded">;
  /** The only validator's key. */
  readonly validator: { readonly address: Address; readonly privateKey: Uint8Array };
  readonly vanity: () => Uint8Array;
  readonly blockPeriodMs: number;
  /** Whether blocks are instant from the start on. */
  readonly isInstant: boolean;
  readonly clock: Clock;
  /** A number from 0 to 1. */
  readonly random: () => number;
  readonly logger: Logger;
  /** Stops consensus for good; resolves when nothing of it is in progress. */
  readonly stopConsensus: () => Promise<void>;
  /** Why no blocks are to be made: a full disk, or the operator. */
  readonly whyHalted: () => string | undefined;
  /** Called when a block could not be committed. */
  readonly onFailure: (error: unknown) => void;
}

/** What makes the blocks, once this has taken over from consensus. */
interface Taken {
  readonly folder: MarkedFolder;
  readonly writer: DevelopmentWriter;
  readonly maker: BlockMaker;
}

/**
 * The comforts of the development network (development-network.md#the-comforts): blocks at once or on demand, time that callers move, states
 * that they change, snapshots.
 *
 *     a request ──> its turn ──> the first one: folder marked, consensus stopped for good ──> BlockMaker ──> the chain's one writer
 *     pool, timer ──> its turn ──────────────────────────────────────────────────────────────────┘
 *
 * Invariants: no block is made here before the folder's mark is durable; consensus never runs in a marked folder, so that its votes
 * stay as they are; one change at a time. The built-in development network alone has an object of this class.
 */
export class Development {
  /** What callers change in the pool, which needs no turn. */
  readonly pool: PoolChanges;
  private readonly parts: DevelopmentParts;
  private readonly turns = new Mutex();
  private readonly time: ChainTime;
  private readonly begun: Promise<void>;
  private resolveBegun: () => void = () => undefined;
  private rejectBegun: (error: unknown) => void = () => undefined;
  private taken: Taken | undefined;
  private mode: MiningMode;
  /** False while blocks come at the genesis file's period, because nobody asked for another way. */
  private isModeChosen: boolean;
  private readonly snapshots = new Snapshots();
  private timer: Timer | undefined;
  private waitingMined: Promise<void> | undefined;
  private isClosed = false;
  private instance: Uint8Array = randomBytes(32);

  constructor(parts: DevelopmentParts) {
    const { marked, pool, isInstant, blockPeriodMs, chain, clock } = parts;
    this.parts = parts;
    this.pool = new PoolChanges(pool);
    this.begun = new Promise((resolve, reject) => {
      this.resolveBegun = resolve;
      this.rejectBegun = reject;
    });
    // Nobody may be waiting for it.
    this.begun.catch(() => undefined);
    const { timestamp } = chain.head.header;
    const offset = marked && offsetAtStart(marked.state.offsetSeconds, timestamp, clock.nowMs());
    this.time = new ChainTime(offset ?? 0n);
    const byPeriod = { isAutomatic: false, intervalMs: { least: blockPeriodMs, most: blockPeriodMs } };
    this.mode = isInstant ? INSTANT : (marked?.state.mining ?? byPeriod);
    this.isModeChosen = isInstant || marked !== undefined;
    pool.onAdded(() => this.transactionAdded());
  }

  /** Whether the folder is marked, so that consensus must not begin. */
  get isMarked(): boolean {
    return this.parts.marked !== undefined || this.taken !== undefined;
  }

  /** Whether transactions are mined as soon as they arrive. */
  get isAutomatic(): boolean {
    return this.mode.isAutomatic;
  }

  /** Milliseconds after which a block comes by time; undefined where none does. */
  get intervalMs(): number | undefined {
    return this.mode.intervalMs?.least;
  }

  /** Whether blocks come as from any IBFT network, because nobody asked for another way. */
  get isModeDefault(): boolean {
    return !this.isModeChosen;
  }

  /** Names this chain until it is reset; 32 bytes. */
  get instanceId(): Uint8Array {
    return this.instance;
  }

  /** Begins to answer; makes blocks at once where the folder is marked, or where blocks are instant. */
  async begin(): Promise<void> {
    this.resolveBegun();
    if (!this.isMarked && !this.parts.isInstant) return;
    await this.course(async (taken) => {
      if (this.parts.isInstant) await this.leaveGenesis(taken);
    });
  }

  /** Stops, also before the begin, for which callers may wait; resolves when no block is being made. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.rejectBegun(new Error("the node stopped before it made blocks"));
    this.timer?.cancel();
    await this.turns.runExclusive(async () => {
      await this.taken?.folder.settled();
      await this.taken?.writer.sync().catch((error: unknown) => {
        this.parts.logger.warn({ error }, "the newest blocks could not be synced: a power cut may take them");
      });
    });
  }

  /** Resolves when what waits is mined, in case that happens at once; undefined when it does not. */
  whenMined(): Promise<void> | undefined {
    return this.waitingMined;
  }

  async mine({ blocks, timestamp, spacingSeconds }: MineOrder): Promise<Result<void, DevelopmentErrorCode>> {
    if (blocks > MINED_BLOCKS_LIMIT) return tooManyBlocks(MINED_BLOCKS_LIMIT);
    return this.course(async (taken) => {
      const halted = this.refuseHalted();
      if (halted !== undefined) return halted;
      const { chain, clock, pool, whyHalted } = this.parts;
      if (timestamp !== undefined) {
        const set = this.time.setNext(timestamp, chain.head.header.timestamp);
        if (!set.ok) return set;
      }
      const isSet = this.time.nextExact !== undefined || (blocks > 1 && spacingSeconds !== undefined);
      const isStopped = () => this.isClosed || whyHalted() !== undefined;
      const { maker } = taken;
      const mined = await this.orFail(() =>
        mineBlocks({ blocks, spacingSeconds }, { time: this.time, clock, maker, pool, isStopped }),
      );
      if (isSet) this.saveTime(taken);
      if (!mined.ok) return mined;
      return mined.value === blocks ? ok(undefined) : (this.refuseHalted() ?? STOPPING);
    });
  }

  /** Moves the time ahead; resolves to all of what it is ahead of the clock, in seconds. */
  increaseTime(seconds: bigint): Promise<Result<bigint, DevelopmentErrorCode>> {
    return this.course(async (taken) => {
      const increased = this.time.increase(seconds, this.parts.clock.nowMs());
      if (!increased.ok) return increased;
      this.saveTime(taken);
      return ok(this.time.offsetSeconds);
    });
  }

  setTime(timestamp: bigint): Promise<Result<bigint, DevelopmentErrorCode>> {
    return this.course(async (taken) => {
      const set = this.time.set(timestamp, this.parts.clock.nowMs());
      if (!set.ok) return set;
      this.saveTime(taken);
      return ok(this.time.offsetSeconds);
    });
  }

  setNextTimestamp(timestamp: bigint): Promise<Result<void, DevelopmentErrorCode>> {
    return this.course(async () => this.time.setNext(timestamp, this.parts.chain.head.header.timestamp));
  }

  /** The time of the block that would be made now. */
  nextTimestamp(): bigint {
    const { chain, clock } = this.parts;
    return this.time.next(chain.head.header.timestamp, clock.nowMs());
  }

  /**
   * Fixes the seconds between two blocks' times, until a restart; undefined to have the clock decide again. Resolves to whether they
   * were fixed before.
   */
  setTimestampInterval(seconds: bigint | undefined): Promise<boolean> {
    return this.course(async () => this.time.setInterval(seconds));
  }

  setAutomatic(isAutomatic: boolean): Promise<void> {
    return this.course(async (taken) => this.changeMode(taken, { ...this.mode, isAutomatic }));
  }

  /** Makes a block after each such time; undefined for no blocks by time. */
  setInterval(intervalMs: MiningMode["intervalMs"], isAutomatic = this.mode.isAutomatic): Promise<void> {
    return this.course(async (taken) => this.changeMode(taken, { isAutomatic, intervalMs }));
  }

  /** The id of a new snapshot of head, time and pool. */
  snapshot(): Promise<Result<bigint, DevelopmentErrorCode>> {
    return this.turns.runExclusive(async () => {
      const { chain, clock } = this.parts;
      const { header, hash } = chain.head;
      return this.snapshots.add({
        number: header.number,
        hash,
        transactions: this.pool.waiting,
        time: this.time.state,
        takenAtMs: clock.nowMs(),
      });
    });
  }

  /** Goes back to a snapshot, and forgets it and all later ones; false when there is none of that id. */
  async revert(id: bigint): Promise<Result<boolean, DevelopmentErrorCode>> {
    if (this.snapshots.get(id) === undefined) return ok(false);
    return this.course(async (taken) => {
      const snapshot = this.snapshots.get(id);
      if (snapshot === undefined) return ok(false);
      const { chain, clock } = this.parts;
      const at = chain.headerByNumber(snapshot.number);
      if (at === undefined || !equalBytes(at.hash, snapshot.hash)) return ok(false);
      const rewound = await this.rewind(snapshot.number);
      if (!rewound.ok) return rewound;
      this.snapshots.dropFrom(id);
      await this.pool.add(snapshot.transactions);
      const passedSeconds = BigInt(Math.ceil((snapshot.takenAtMs - clock.nowMs()) / 1000));
      this.time.restore({ ...snapshot.time, ahead: snapshot.time.ahead + passedSeconds });
      this.saveTime(taken);
      return ok(true);
    });
  }

  /**
   * Begins again: after the genesis block, and one without transactions that has the time of the clock. Forgets all snapshots and the
   * pool.
   */
  reset(): Promise<Result<void, DevelopmentErrorCode>> {
    return this.course(async (taken) => {
      const rewound = await this.rewind(0n);
      if (!rewound.ok) return rewound;
      this.snapshots.dropFrom(0n);
      this.instance = randomBytes(32);
      this.time.restore({ ahead: 0n, exact: undefined, interval: undefined });
      this.saveTime(taken);
      await this.leaveGenesis(taken);
      return ok(undefined);
    });
  }

  /**
   * Removes so many of the newest blocks, and makes others, if any, of these transactions alone. What waits in the pool stays, and time
   * goes on from the newest block that is left.
   */
  async reorganise({ depth, blocks }: Reorganisation): Promise<Result<void, DevelopmentErrorCode>> {
    if (blocks.length > REPLACED_BLOCKS_LIMIT) return tooManyBlocks(REPLACED_BLOCKS_LIMIT);
    const read = await readBlocks(blocks);
    if (!read.ok) return read;
    return this.course(async (taken) => {
      const halted = blocks.length === 0 ? undefined : this.refuseHalted();
      if (halted !== undefined) return halted;
      const { chain } = this.parts;
      const { number } = chain.head.header;
      if (depth > number) return fail("caller", "tooDeep", `the chain has ${number} blocks, not ${depth}`);
      const { waiting } = this.pool;
      const rewound = await this.rewind(number - depth);
      if (!rewound.ok) return rewound;
      this.goOnFromNewest(taken);
      for (const transactions of read.value) {
        if (this.isClosed) break;
        await this.pool.add(transactions);
        await this.mineOne(taken);
        await this.pool.dropAll();
      }
      await this.pool.add(waiting);
      return ok(undefined);
    });
  }

  /** Makes these changes in a block of their own, whose time is its parent's, and whose gas limit is this one if it is given. */
  alter(alterations: readonly Alteration[], gasLimit?: bigint): Promise<Result<void, DevelopmentErrorCode>> {
    return this.course(async ({ maker }) => {
      const halted = this.refuseHalted();
      if (halted !== undefined) return halted;
      await this.orFail(() => maker.alter(alterations, gasLimit));
      return ok(undefined);
    });
  }

  /** Adds the accounts of a dump to the state, in as many altered blocks as they need. */
  load(accounts: PackedAccounts): Promise<Result<void, DevelopmentErrorCode>> {
    return this.course(async ({ maker }) => {
      for (const alterations of loadedBlocks(unpackAccounts(accounts))) {
        const halted = this.isClosed ? STOPPING : this.refuseHalted();
        if (halted !== undefined) return halted;
        await this.orFail(() => maker.alter(alterations));
      }
      return ok(undefined);
    });
  }

  /** Adds a transaction that has the signature impersonatedSignature.ts gives for this sender to the pool, and resolves to its hash. */
  async sendAs(
    raw: Uint8Array,
    sender: Address,
  ): Promise<Result<SentTransaction["hash"], PoolErrorCode | TransactionErrorCode>> {
    const read = readSigned({ raw, impersonated: sender });
    if (!read.ok) return read;
    const { added, mined } = await this.course(async () => ({
      added: this.parts.pool.add(read.value, "local"),
      mined: this.whenMined(),
    }));
    await mined;
    return added.ok ? ok(read.value.hash) : added;
  }

  /** Gives the chain this gas limit at once, in an altered block; later blocks keep it. */
  async setGasLimit(gasLimit: bigint): Promise<Result<void, DevelopmentErrorCode>> {
    const checked = checkGasLimit(gasLimit);
    return checked.ok ? this.alter([], gasLimit) : checked;
  }

  /** Work that changes the course of the chain, in its turn. */
  private course<T>(work: (taken: Taken) => Promise<T>): Promise<T> {
    return this.turns.runExclusive(async () => {
      await this.begun;
      this.taken ??= await this.takeOver();
      return work(this.taken);
    });
  }

  private async takeOver(): Promise<Taken> {
    const { chain, pool, validator, vanity, dataPath, marked, logger } = this.parts;
    // Tools expect blocks as Hardhat and anvil make them: none by time, which would use up a time that was set.
    if (this.isModeDefault) [this.mode, this.isModeChosen] = [INSTANT, true];
    const folder =
      marked ??
      MarkedFolder.mark(dataPath, {
        genesis: chain.genesis.hash,
        validator: validator.address,
        offsetSeconds: this.time.offsetSeconds,
        mining: this.mode,
      });
    await this.parts.stopConsensus();
    logger.warn(
      { head: chain.head.header.number },
      "from now on, blocks of this chain are made for development: no other node accepts them, and this data folder opens only in " +
        "the development network",
    );
    const writer = await chain.developmentWriter(folder);
    const beginRun = () => chain.developmentRun(folder);
    const maker = new BlockMaker({ chain, writer, beginRun, pool, privateKey: validator.privateKey, vanity });
    if (marked !== undefined && this.parts.isInstant) folder.change({ mining: this.mode });
    this.schedule();
    if (this.mode.isAutomatic) queueMicrotask(() => this.transactionAdded());
    return { folder, writer, maker };
  }

  /** Makes the first block, without transactions: the genesis block's time is 1970, to which callers would add theirs. */
  private async leaveGenesis(taken: Taken): Promise<void> {
    if (this.parts.chain.head.header.number > 0n || this.refuseHalted() !== undefined) return;
    await this.mineOne(taken);
  }

  /** After the genesis block, whose time is 1970, it goes on from the clock's. */
  private goOnFromNewest(taken: Taken): void {
    const { number, timestamp } = this.parts.chain.head.header;
    const ahead = number === 0n ? 0n : timestamp - BigInt(Math.floor(this.parts.clock.nowMs() / 1000));
    this.time.restore({ ...this.time.state, ahead, exact: undefined });
    this.saveTime(taken);
  }

  private changeMode({ folder }: Taken, mode: MiningMode): void {
    folder.change({ mining: mode });
    this.mode = mode;
    this.isModeChosen = true;
    this.schedule();
    if (mode.isAutomatic) this.transactionAdded();
  }

  private saveTime({ folder }: Taken): void {
    const { offsetSeconds } = this.time;
    if (folder.state.offsetSeconds !== offsetSeconds) folder.change({ offsetSeconds });
  }

  private async mineOne(taken: Taken, isWanted?: Parameters<BlockMaker["mine"]>[1]): Promise<boolean> {
    const { clock, chain } = this.parts;
    const wasSet = this.time.nextExact !== undefined;
    const mined = await this.orFail(() =>
      mineAt({ time: this.time, clock }, chain.head.header.timestamp, (at) => taken.maker.mine(at, isWanted)),
    );
    // Else the next start finds the time again by the newest block.
    if (wasSet && mined !== undefined) this.saveTime(taken);
    return mined !== undefined;
  }

  /** A failure while a block is made leaves an unknown state on the disk, which the next start verifies. */
  private async orFail<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.isClosed = true;
      this.timer?.cancel();
      this.parts.onFailure(error);
      throw error;
    }
  }

  private refuseHalted(): Result<never, "halted"> | undefined {
    const why = this.parts.whyHalted();
    return why === undefined ? undefined : fail("caller", "halted", `no blocks are made: ${why}`);
  }

  /** Mines what waits, where transactions are mined at once; several that came together are in one block. */
  private transactionAdded(): void {
    if (!this.mode.isAutomatic || this.isClosed || this.waitingMined !== undefined) return;
    const mined = this.turns
      .runExclusive(async () => {
        // Transactions that arrive from here on have a turn of their own.
        this.waitingMined = undefined;
        if (this.taken !== undefined) await this.mineWaiting(this.taken);
      })
      .catch((error: unknown) =>
        this.parts.logger.error({ error }, "the transactions that wait could not be mined"),
      );
    this.waitingMined = mined;
  }

  private async mineWaiting(taken: Taken): Promise<void> {
    const { pool, whyHalted } = this.parts;
    while (this.mode.isAutomatic && !this.isClosed && whyHalted() === undefined) {
      if (pool.statistics.pending === 0) return;
      // What no block can hold waits on; a block without transactions would not change that.
      if (!(await this.mineOne(taken, ({ transactions }) => transactions.length > 0))) return;
    }
  }

  /** Sets the timer of the next block by time. */
  private schedule(): void {
    this.timer?.cancel();
    const { intervalMs } = this.mode;
    if (intervalMs === undefined || this.isClosed) return;
    const { clock, random } = this.parts;
    const { least, most } = intervalMs;
    const afterMs = least + Math.floor(random() * (most - least + 1));
    this.timer = clock.at(clock.nowMs() + Math.min(afterMs, most), () => void this.mineByTime());
  }

  private async mineByTime(): Promise<void> {
    const { logger } = this.parts;
    try {
      await this.course(async (taken) => {
        if (this.isClosed || this.mode.intervalMs === undefined) return;
        if (this.refuseHalted() === undefined) await this.mineOne(taken);
        this.schedule();
      });
    } catch (error) {
      logger.error({ error }, "a block could not be made");
    }
  }

  private async rewind(number: bigint): Promise<Result<void, "notStored">> {
    const { chain } = this.parts;
    const { states } = chain.historyStart;
    if (number < states)
      return fail("caller", "notStored", `the states of this chain begin with that of block ${states}`);
    await this.orFail(() => chain.rewind(number));
    // The pool has got back what the removed blocks held.
    await this.pool.dropAll();
    return ok(undefined);
  }
}
