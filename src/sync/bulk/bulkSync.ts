import { equalBytes } from "../../primitives/hex.ts";
import type { CodedError } from "../../primitives/result.ts";
import type { SyncContext } from "../context.ts";
import { STARVED_MS } from "../limits.ts";
import { backOff } from "../peerFailure.ts";
import type { BulkImport } from "../ports.ts";
import { BlockWindow, type PendingBlock } from "./blockWindow.ts";
import { BodyRequests } from "./bodyRequests.ts";
import { HeaderFeed } from "./headerFeed.ts";
import type { PeerPaces } from "./peerPace.ts";
import { Signal } from "./signal.ts";

/**
 * Downloads and imports many blocks, until no trusted peer has more, or nobody delivers the next one:
 *
 *     headerFeed.ts: one peer ── headers ── checked, seals included ──> blockWindow.ts ──> bulk import ──> head
 *                    bodyRequests.ts: several peers ── bodies, by root ──────┘
 *
 * The three run at the same time. A bulk import is open only while the next block is available, so a peer that withholds
 * bodies keeps nobody else from moving the head.
 */
export class BulkSync {
  readonly #context: SyncContext;
  readonly #signal: Signal;
  readonly #window: BlockWindow;
  readonly #bodies: BodyRequests;
  readonly #ended: Promise<void>;
  #end: () => void = () => undefined;
  #isOver = false;
  #areHeadersOver = false;
  #bulk: BulkImport | undefined;
  /** When the open import began to lack its next block; undefined while it does not. */
  #starvedSinceMs: number | undefined;

  constructor(context: SyncContext, paces: PeerPaces) {
    this.#context = context;
    this.#signal = new Signal(context.clock);
    this.#window = new BlockWindow(context.limits, (block) => context.chain.prepareBlock(block));
    this.#ended = new Promise((resolve) => {
      this.#end = () => {
        this.#isOver = true;
        resolve();
        this.#signal.notify();
      };
    });
    this.#bodies = new BodyRequests({
      context,
      window: this.#window,
      paces,
      onResponse: () => this.#signal.notify(),
      onFailure: (error) => {
        context.reports.failed(error);
        this.#end();
      },
    });
  }

  async run(): Promise<void> {
    try {
      await Promise.all([this.#feedHeaders().catch(this.#fail), this.#importAll().catch(this.#fail)]);
    } finally {
      this.#bodies.close();
      this.#context.progress.noteChecked(undefined);
    }
  }

  /** Called when peers or heights have changed, or sync was closed. */
  wake(): void {
    this.#bodies.send();
    this.#signal.notify();
  }

  readonly #fail = (error: unknown): never => {
    this.#end();
    throw error;
  };

  async #feedHeaders(): Promise<void> {
    const { chain, choice, progress } = this.#context;
    const feed = new HeaderFeed(this.#context, chain.headerRun(chain.head), this.#ended);
    while (!this.#hasEnded) {
      if (this.#window.isFull) {
        await this.#signal.wait();
        continue;
      }
      const range = await feed.next();
      if (range === undefined) break;
      if (range.headers.length > 0 && choice.isTrusted(range.peer)) progress.changePeer(range.peer);
      this.#window.add(range.headers, range.peer);
      progress.noteChecked(this.#window.newest);
      this.#bodies.send();
      this.#signal.notify();
    }
    this.#areHeadersOver = true;
    this.#signal.notify();
  }

  get #hasEnded(): boolean {
    return this.#isOver || !this.#context.canImport();
  }

  async #importAll(): Promise<void> {
    try {
      while (!this.#hasEnded) {
        const { front } = this.#window;
        if (front !== undefined && front.header.header.number <= this.#tip) {
          // Consensus, or an announcement, brought the block while no bulk import was open.
          this.#window.shift();
          this.#signal.notify();
        } else if (front !== undefined && !this.#followsTip(front)) {
          // The chain was rewound.
          break;
        } else if (front?.prepared !== undefined) {
          if (!(await this.#importNext(front))) break;
        } else if (!(await this.#waitForNext(front))) break;
      }
    } finally {
      this.#end();
      await this.#closeImport();
    }
  }

  /** False when the block could not be imported. */
  async #importNext(block: PendingBlock): Promise<boolean> {
    const { chain, progress, onProcessed } = this.#context;
    const { prepared, header } = block;
    if (prepared === undefined) return false;
    this.#starvedSinceMs = undefined;
    this.#bulk ??= await chain.bulkImport();
    // The head may have moved before the import began.
    if (header.header.number <= this.#tip) return true;
    onProcessed("importBlock", "added", 1);
    const imported = await this.#bulk.importBlock(prepared);
    if (!imported.ok) {
      await this.#closeImport();
      this.#report(block, imported.error);
      return false;
    }
    onProcessed("importBlock", "removed", 1);
    progress.noteFetched(prepared.body.transactions.length);
    this.#window.shift();
    this.#signal.notify();
    if (this.#bulk.isOthersTurn) await this.#closeImport();
    return true;
  }

  get #tip(): bigint {
    return (this.#bulk?.tip ?? this.#context.chain.head).header.number;
  }

  #followsTip({ header: { header } }: PendingBlock): boolean {
    return equalBytes(header.parentHash, (this.#bulk?.tip ?? this.#context.chain.head).hash);
  }

  /** Waits until the next block may be available. Returns false when there is none, or nobody delivers it. */
  async #waitForNext(front: PendingBlock | undefined): Promise<boolean> {
    if (front === undefined && this.#areHeadersOver) return false;
    this.#bodies.send();
    if (front !== undefined && front.prepared === undefined && this.#bodies.isIdle) return false;
    if (this.#bulk === undefined) {
      await this.#signal.wait();
      return true;
    }
    // Bodies of later blocks and new headers do not extend the time.
    const { clock } = this.#context;
    this.#starvedSinceMs ??= clock.nowMs();
    const leftMs = this.#starvedSinceMs + STARVED_MS - clock.nowMs();
    const hasWaited = leftMs <= 0 || this.#bulk.isOthersTurn;
    if (hasWaited || !(await this.#signal.wait(leftMs))) await this.#closeImport();
    return true;
  }

  #report({ source, header }: PendingBlock, error: CodedError): void {
    const { chain, reports } = this.#context;
    if (chain.head.header.number >= header.header.number) return;
    backOff(this.#context, source);
    reports.blockRefused(source, header, error);
  }

  async #closeImport(): Promise<void> {
    this.#starvedSinceMs = undefined;
    const bulk = this.#bulk;
    this.#bulk = undefined;
    await bulk?.close();
  }
}
