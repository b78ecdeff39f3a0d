import { equalBytes, toHex } from "../primitives/hex.ts";
import { type HeaderRecord, readHeader } from "./blocks/headerStore.ts";
import { damaged, FETCH_LOST_BLOCKS, missing, REMEDY } from "./checksum.ts";
import { type HeadPointer, readHead } from "./commitRecord.ts";
import { DamagedData, type Database } from "./database.ts";
import type { MarkerFile } from "./markerFile.ts";

/** The newest blocks are missing, and nothing else is known to be. */
export class LostEnd extends DamagedData {
  override name = "LostEnd";
  /** What is wrong, without what to do about it. */
  readonly what: string;
  /** The newest block that is left. */
  readonly newest: HeaderRecord;

  constructor(what: string, newest: HeaderRecord) {
    super(`${what}. Stop the node and ${FETCH_LOST_BLOCKS}`);
    this.what = what;
    this.newest = newest;
  }
}

/**
 * Whether the node goes on with the blocks that are left and fetches the others from its peers: only where nothing that it
 * signed and no block that it alone has can be among the lost ones.
 */
export type MayFetchLostEnd = (lost: LostEnd) => boolean | Promise<boolean>;

/** Records the head outside the database, so that a start detects a database that lost its end (markerFile.ts). */
export interface HeadMarker {
  /** Call it after each commit, once its batch is durable. Takes microseconds; not synced. */
  record(head: HeadPointer): void;
  /** Call it before the batch of a rewind is written: a head as low as this is then not reported as lost. Synced. */
  lower(head: HeadPointer): void;
}

/** Creates the head marker of a database that was just opened and verified, and records its head. */
export function createHeadMarker(database: Database, markerFile: MarkerFile): HeadMarker {
  const headMarker: HeadMarker = {
    record: ({ number, hash }) => markerFile.write({ position: number, fingerprint: hash }),
    lower: ({ number, hash }) => markerFile.writeSynced({ position: number, fingerprint: hash }),
  };
  const head = readHead(database);
  if (head !== undefined) headMarker.record(head);
  return headMarker;
}

/**
 * Compares the database's head with the marked one. Undefined when it is as high; throws DamagedData when no block is left, or
 * when another block is stored at that height.
 */
export function findLostEnd(database: Database, markerFile: MarkerFile): LostEnd | undefined {
  const head = readHead(database);
  const marked = markerFile.read();
  if (marked === undefined) return undefined;
  if (head === undefined || head.number < marked.position) {
    const lost =
      `The database has lost its end: block ${marked.position} (${toHex(marked.fingerprint)}) was committed, but the ` +
      "database";
    if (head === undefined) throw new DamagedData(`${lost} holds no block. ${REMEDY}`);
    const newest = readHeader(database, head.number);
    if (newest === undefined) throw missing(`block ${head.number}`);
    return new LostEnd(`${lost} ends with block ${head.number}`, newest);
  }
  const header = readHeader(database, marked.position);
  if (header === undefined || !equalBytes(header.hash, marked.fingerprint))
    throw damaged(
      `block ${marked.position}`,
      `${toHex(marked.fingerprint)} was committed, but another block is stored`,
    );
  return undefined;
}
