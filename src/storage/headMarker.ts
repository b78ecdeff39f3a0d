import { equalBytes, toHex } from "../primitives/hex.ts";
import { readHeader } from "./blocks/headerStore.ts";
import { damaged, REMEDY } from "./checksum.ts";
import { type HeadPointer, readHead } from "./commitRecord.ts";
import { DamagedData, type Database } from "./database.ts";
import type { MarkerFile } from "./markerFile.ts";

/** Remembers the head outside the database, so that a database that lost its end is noticed (witness.ts). */
export interface HeadMarker {
  /** Call it after each commit, once its batch is durable. Costs microseconds; not synced. */
  record(head: HeadPointer): void;
  /** Call it before the batch of a rewind is written: from now on a head as low as this is no loss. Synced. */
  lower(head: HeadPointer): void;
}

/**
 * A head marker for a database that was just opened. Throws DamagedData when the database's head is behind what the
 * witness saw, or its chain has another block at that place.
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
  const seen = markerFile.read();
  if (seen === undefined) return;
  if (head === undefined || head.number < seen.position) {
    const now = head === undefined ? "holds no block" : `ends with block ${head.number}`;
    throw new DamagedData(
      `The database has lost its end: block ${seen.position} (${toHex(seen.fingerprint)}) was committed, but the ` +
        `database ${now}. ${REMEDY}`,
    );
  }
  const header = readHeader(database, seen.position);
  if (header === undefined || !equalBytes(header.hash, seen.fingerprint))
    throw damaged(
      `block ${seen.position}`,
      `${toHex(seen.fingerprint)} was committed, but another block is stored`,
    );
}
