import { asHash } from "../primitives/hash.ts";
import { equalBytes, toHex } from "../primitives/hex.ts";
import { type HeaderRecord, readHeader } from "./blocks/headerStore.ts";
import { damaged, FETCH_LOST_BLOCKS, missing, REMEDY } from "./checksum.ts";
import { type HeadPointer, readHead } from "./commitRecord.ts";
import { DamagedData, type Database, type Survival } from "./database.ts";
import type { HighWaterMark, MarkerFile } from "./markerFile.ts";

/** The newest blocks are missing; no other damage is known. */
export class LostEnd extends DamagedData {
  override name = "LostEnd";
  /** What is wrong, without the remedy. */
  readonly what: string;
  /** The newest block that remains. */
  readonly newest: HeaderRecord;
  /** The newest block that was committed. */
  readonly lost: HeadPointer;

  constructor(what: string, { newest, lost }: Pick<LostEnd, "newest" | "lost">) {
    super(`${what}. Stop the node and ${FETCH_LOST_BLOCKS}`);
    this.what = what;
    this.newest = newest;
    this.lost = lost;
  }
}

/**
 * What a node does that has lost only its newest blocks. `refused`: it does not start. `fetched`: it continues, and fetches
 * the lost blocks like any new ones. `restored`: it continues, but takes part and imports only blocks that are proved to be
 * the lost ones.
 */
export type LostEndAction = "refused" | "fetched" | "restored";

export type JudgeLostEnd = (lost: LostEnd) => LostEndAction | Promise<LostEndAction>;

/** Records the head outside the database, so that a start detects a database that lost its end (markerFile.ts). */
export interface HeadMarker {
  /** Records a commit, once its batch is durable. Takes microseconds; not synced. */
  record(head: HeadPointer): void;
  /**
   * Lowers the mark before the batch of a rewind is written, so that the lower head is not reported as a loss. Synced, if the batch
   * is.
   */
  lower(head: HeadPointer, survives?: Survival): void;
}

/** A lost end that is being restored. */
interface Restoration {
  readonly lost: HeadPointer;
  /** Called once, when the lost blocks are durable again. */
  readonly onRestored: () => void;
}

/**
 * Creates the head marker of a database that was just opened and verified, and records its head. While a lost end is restored, the
 * mark stays at the lost block, so that a start in between finds what the first one found.
 */
export function createHeadMarker(
  database: Database,
  markerFile: MarkerFile,
  restoration?: Restoration,
): HeadMarker {
  let lacking = restoration;
  const headMarker: HeadMarker = {
    record({ number, hash }) {
      if (lacking !== undefined) {
        if (number < lacking.lost.number) return;
        refuseOther(database, lacking.lost);
      }
      markerFile.write({ position: number, fingerprint: hash });
      lacking?.onRestored();
      lacking = undefined;
    },
    lower({ number, hash }, survives = "powerCut") {
      lacking = undefined;
      const mark = { position: number, fingerprint: hash };
      if (survives === "powerCut") markerFile.writeSynced(mark);
      else markerFile.write(mark);
    },
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
    return new LostEnd(`${lost} ends with block ${head.number}`, { newest, lost: pointerOf(marked) });
  }
  refuseOther(database, pointerOf(marked));
  return undefined;
}

/**
 * What the database has lost of a chain whose writes are not synced, of which a power cut may take any of the newest: then it ends where
 * it ends, whatever the mark says. Undefined when nothing is lost. Throws DamagedData for what no power cut takes: an entry is damaged, or
 * no block is left, where the first one was synced.
 */
export function findUnsyncedLoss(database: Database, markerFile: MarkerFile): string | undefined {
  const marked = markerFile.read();
  const head = readHead(database);
  if (marked === undefined) return undefined;
  if (head === undefined || head.number < marked.position) return findLostEnd(database, markerFile)?.what;
  const { number, hash } = pointerOf(marked);
  const header = readHeader(database, number);
  if (header === undefined) throw missing(`block ${number}`);
  if (equalBytes(header.hash, hash)) return undefined;
  return `The database has another end: block ${number} (${toHex(hash)}) was committed, but another block is stored`;
}

function pointerOf({ position, fingerprint }: HighWaterMark): HeadPointer {
  return { number: position, hash: asHash(fingerprint) };
}

/** Throws DamagedData unless the database has this block. */
function refuseOther(database: Database, { number, hash }: HeadPointer): void {
  const header = readHeader(database, number);
  if (header === undefined || !equalBytes(header.hash, hash))
    throw damaged(`block ${number}`, `${toHex(hash)} was committed, but another block is stored`);
}
