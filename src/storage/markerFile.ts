import {
  closeSync,
  existsSync,
  fdatasyncSync,
  openSync,
  readSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { syncFolder } from "../primitives/syncFolder.ts";
import { RecordReader, RecordWriter } from "./blocks/byteRecord.ts";
import { checksumOf, damaged, readUint32, writeUint32 } from "./checksum.ts";
import { withDiskErrors } from "./diskErrors.ts";

/** The newest entry of another store: its number, and 32 bytes that identify it. */
export interface HighWaterMark {
  readonly position: bigint;
  readonly fingerprint: Uint8Array;
}

/**
 * A small file beside a store that records the store's newest entry, so that a start detects a store that has lost entries.
 * Neither LevelDB's log nor an append-only file reveals that by itself: cut off between two records, or with the newest
 * record damaged, they look as if the rest had never been written.
 *
 * The mark is written after the store's own write is durable, and is not synced: that takes microseconds. A killed process
 * loses no mark. After a power cut the mark may lag behind the store but is never ahead of it, so it raises no false alarm;
 * it only misses a loss within the last seconds before the cut. Before the store itself goes back (a rewind), the lower mark
 * is written and synced. A chain whose writes are not synced has no such order: there the mark may say anything after a power
 * cut (findUnsyncedLoss).
 *
 * Two slots are written alternately, each with a generation and a checksum; the newest valid one wins.
 */
export interface MarkerFile {
  /** Reads the mark; undefined before the first one. */
  read(): HighWaterMark | undefined;
  write(mark: HighWaterMark): void;
  /** Like `write`, but the mark is durable when it returns. */
  writeSynced(mark: HighWaterMark): void;
  close(): void;
}

/**
 * Opens the file, creating it when absent: an operator who deletes it accepts the store as it is. Throws DamagedData
 * when the file has no valid slot, naming it as `what`.
 */
export function openMarkerFile(path: string, what: string): MarkerFile {
  return withDiskErrors(`The file ${path} cannot be used`, () => {
    if (!existsSync(path)) createFile(path);
    const file = openSync(path, "r+");
    try {
      return new MarkerFileOnDisk(path, file, newestSlot(file, `${what} (${path})`));
    } catch (error) {
      closeSync(file);
      throw error;
    }
  });
}

const SLOT_SEED = new TextEncoder().encode("ibex witness 1");
const SLOT_DISTANCE = 512;
const SLOT_BYTES = 64;
const CHECKSUM_AT = SLOT_BYTES - 4;
const FINGERPRINT_BYTES = 32;

interface Slot {
  readonly generation: number;
  readonly mark: HighWaterMark | undefined;
}

class MarkerFileOnDisk implements MarkerFile {
  private readonly path: string;
  private readonly file: number;
  private newest: Slot;
  private isOpen = true;

  constructor(path: string, file: number, newest: Slot) {
    this.path = path;
    this.file = file;
    this.newest = newest;
  }

  read(): HighWaterMark | undefined {
    return this.newest.mark;
  }

  write(mark: HighWaterMark): void {
    const slot = { generation: this.newest.generation + 1, mark };
    withDiskErrors(`The file ${this.path} cannot be written`, () =>
      writeSync(this.file, encodeSlot(slot), 0, SLOT_BYTES, (slot.generation % 2) * SLOT_DISTANCE),
    );
    this.newest = slot;
  }

  writeSynced(mark: HighWaterMark): void {
    this.write(mark);
    withDiskErrors(`The file ${this.path} cannot be written`, () => fdatasyncSync(this.file));
  }

  close(): void {
    if (this.isOpen) closeSync(this.file);
    this.isOpen = false;
  }
}

/** Creates the file atomically and never empty: an empty file means lost entries. */
function createFile(path: string): void {
  const draft = `${path}.new`;
  const bytes = new Uint8Array(SLOT_DISTANCE + SLOT_BYTES);
  bytes.set(encodeSlot({ generation: 0, mark: undefined }));
  bytes.set(encodeSlot({ generation: 1, mark: undefined }), SLOT_DISTANCE);
  writeFileSync(draft, bytes, { flush: true });
  renameSync(draft, path);
  syncFolder(dirname(path));
}

function newestSlot(file: number, what: string): Slot {
  const [first, second] = [decodeSlot(readSlot(file, 0)), decodeSlot(readSlot(file, 1))];
  const newest = (second?.generation ?? -1) > (first?.generation ?? -1) ? second : first;
  if (newest !== undefined) return newest;
  throw damaged(
    what,
    "none of its entries is valid, so a loss of newer data could not be detected. " +
      "If you are sure that nothing was lost, delete this one file",
  );
}

function readSlot(file: number, index: number): Uint8Array {
  const slot = new Uint8Array(SLOT_BYTES);
  return slot.subarray(0, readSync(file, slot, 0, SLOT_BYTES, index * SLOT_DISTANCE));
}

function encodeSlot({ generation, mark }: Slot): Uint8Array {
  const writer = new RecordWriter(SLOT_BYTES);
  writer.number(generation);
  writer.byte(mark === undefined ? 0 : 1);
  if (mark !== undefined) {
    writer.number(Number(mark.position));
    writer.fixed(mark.fingerprint);
  }
  const slot = new Uint8Array(SLOT_BYTES);
  slot.set(writer.finish());
  writeUint32(slot, CHECKSUM_AT, checksumOf(SLOT_SEED, slot.subarray(0, CHECKSUM_AT)));
  return slot;
}

function decodeSlot(slot: Uint8Array): Slot | undefined {
  const record = slot.subarray(0, CHECKSUM_AT);
  if (slot.length < SLOT_BYTES || readUint32(slot, CHECKSUM_AT) !== checksumOf(SLOT_SEED, record))
    return undefined;
  const reader = new RecordReader(record);
  const generation = reader.number();
  if (reader.byte() === 0) return { generation, mark: undefined };
  return {
    generation,
    mark: { position: BigInt(reader.number()), fingerprint: reader.fixed(FINGERPRINT_BYTES) },
  };
}
