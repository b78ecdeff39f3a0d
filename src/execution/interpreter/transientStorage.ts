import { expectDefined } from "../../primitives/assert.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { EMPTY_BYTES } from "../../primitives/hex.ts";
import type { MemoryMeter } from "../../state/overlay.ts";

/**
 * Transient storage (EIP-1153). Journals a slot once between checkpoints, so that repeated writes to it take no more
 * memory.
 */
export class TransientStorage {
  private readonly meter: MemoryMeter | undefined;
  /** The map is created on first use: few contracts have transient storage. */
  private accounts: Map<string, Map<string, Cell>> | undefined = undefined;
  private readonly journal: Undo[] = [];
  /** Length of the journal at each open checkpoint. */
  private readonly checkpoints: number[] = [];
  private takenBytes = 0;

  constructor(meter: MemoryMeter | undefined) {
    this.meter = meter;
  }

  get(address: Uint8Array, slot: Uint8Array): Uint8Array {
    return this.accounts?.get(toKey(address))?.get(toKey(slot))?.value ?? EMPTY_BYTES;
  }

  put(address: Uint8Array, slot: Uint8Array, value: Uint8Array): void {
    const cell = this.cell(toKey(address), toKey(slot));
    if (!this.isJournaled(cell)) {
      this.take(UNDO_BYTES);
      cell.journaledAt = this.journal.push({ cell, value: cell.value }) - 1;
    }
    cell.value = value;
  }

  checkpoint(): void {
    this.checkpoints.push(this.journal.length);
  }

  commit(): void {
    expectDefined(this.checkpoints.pop(), "an open checkpoint to commit");
  }

  revert(): void {
    this.revertPart(Number.POSITIVE_INFINITY);
    this.checkpoints.pop();
  }

  /** Undoes the newest writes since the last checkpoint, `most` at most, and keeps it open; true while more are left. */
  revertPart(most: number): boolean {
    const length = expectDefined(this.checkpoints.at(-1), "an open checkpoint to revert to");
    const until = Math.max(length, this.journal.length - most);
    while (this.journal.length > until) {
      const { cell, value } = expectDefined(this.journal.pop(), "a journal entry");
      cell.value = value;
      this.take(-UNDO_BYTES);
    }
    return until > length;
  }

  /** Called at the end of a top-level message. */
  clear(): void {
    if (this.accounts === undefined) return;
    this.accounts = undefined;
    this.journal.length = 0;
    this.take(-this.takenBytes);
  }

  private cell(account: string, slot: string): Cell {
    this.accounts ??= new Map();
    let cells = this.accounts.get(account);
    if (cells === undefined) {
      this.take(ACCOUNT_BYTES);
      cells = new Map();
      this.accounts.set(account, cells);
    }
    let cell = cells.get(slot);
    if (cell === undefined) {
      this.take(CELL_BYTES);
      cell = { value: EMPTY_BYTES, journaledAt: -1 };
      cells.set(slot, cell);
    }
    return cell;
  }

  /** True if the cell was journaled since the last checkpoint, so that every possible revert restores it. */
  private isJournaled(cell: Cell): boolean {
    return (
      cell.journaledAt >= (this.checkpoints.at(-1) ?? 0) && this.journal[cell.journaledAt]?.cell === cell
    );
  }

  private take(bytes: number): void {
    this.meter?.take(bytes);
    this.takenBytes += bytes;
  }
}

interface Cell {
  value: Uint8Array;
  /** Index of its last journal entry; stale once that entry is undone. */
  journaledAt: number;
}

interface Undo {
  readonly cell: Cell;
  readonly value: Uint8Array;
}

/** Maximum memory of an account, of a slot, and of a journal entry with its value. */
const ACCOUNT_BYTES = 250;
const CELL_BYTES = 150;
const UNDO_BYTES = 300;
