import { equalBytes, toHex } from "../primitives/hex.ts";
import { readHeader } from "./blocks/headerStore.ts";
import { damaged, FETCH_LOST_BLOCKS, REMEDY } from "./checksum.ts";
import { type HeadPointer, readHead } from "./commitRecord.ts";
import { DamagedData, type Database } from "./database.ts";
import type { MarkerFile } from "./markerFile.ts";

/** The newest blocks are missing, and nothing else is known to be. */
export class LostEnd extends DamagedData {
  override name = "LostEnd";
  /** What is wrong, without what to do about it. */
  readonly what: string;

  constructor(what: string) {
    super(`${what}. Stop the node and ${FETCH_LOST_BLOCKS}`);
    this.what = what;
  }
}

/** Records the head outside the database, so that a start detects a database that lost its end (markerFile.ts). */
export interface HeadMarker {
  /** Call it after each commit, once its batch is durable. Takes microseconds; not synced. */
  record(head: HeadPointer): void;
  /** Call it before the batch of a rewind is written: a head as low as this is then not reported as lost. Synced. */
  lower(head: HeadPointer): void;
}

/**
 * Creates the head marker of a database that was just opened. Throws DamagedData when the database's head is below the
 * marked one, or when its chain has another block at that height.
 */
export function openHeadMarker(database: Database, markerFile: MarkerFile): HeadMarker {
  const head = readHead(database);
  refuseLostHead(database, markerFile, head);
  const headMarker: HeadMarker = {
    record: ({ number, hash }) => markerFile.write({ position: number, fingerprint: hash }),
    lower: ({ number, hash }) => markerFile.writeSynced({ position: number, fingerprint: hash }),
  };
  if (head !== undefined) headMarker.record(head);
  return headMarker;
}

function refuseLostHead(database: Database, markerFile: MarkerFile, head: HeadPointer | undefined): void {
  const marked = markerFile.read();
  if (marked === undefined) return;
  if (head === undefined || head.number < marked.position) {
    const lost =
      `The database has lost its end: block ${marked.position} (${toHex(marked.fingerprint)}) was committed, but the ` +
      "database";
    if (head === undefined) throw new DamagedData(`${lost} holds no block. ${REMEDY}`);
    throw new LostEnd(`${lost} ends with block ${head.number}`);
  }
  const header = readHeader(database, marked.position);
  if (header === undefined || !equalBytes(header.hash, marked.fingerprint))
    throw damaged(
      `block ${marked.position}`,
      `${toHex(marked.fingerprint)} was committed, but another block is stored`,
    );
}
