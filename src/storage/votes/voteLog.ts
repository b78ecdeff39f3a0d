import { existsSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "../../primitives/syncFolder.ts";
import { checksumOf, readUint32, writeUint32 } from "../checksum.ts";
import { DamagedData } from "../database.ts";
import { translateDiskError, withDiskErrors } from "../diskErrors.ts";
import { type MarkerFile, openMarkerFile } from "../markerFile.ts";

/**
 * The votes that this validator has signed, in a file apart from the chain, so that a vote waits for only one small synced
 * write (architecture.md#vote-log). A record is opaque here; only the newest one counts.
 */
export interface VoteLog {
  /** The newest record; undefined when there is none. */
  read(): Uint8Array | undefined;
  /** Resolves when the record is durable. Throws DiskError, and refuses everything after that. */
  write(record: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/** Size at which a new file with only the newest record replaces the file. */
const VOTE_FILE_LIMIT_BYTES = 64 * 1024 * 1024;
/** Most bytes to read: the limit and one record, with room for those of other versions. */
const MOST_BYTES_READ = 512 * 1024 * 1024;

/**
 * Opens the file at `path`, creating it when absent. Each record is a header (length, sequence, checksum) and its
 * bytes. Drops an incomplete record at the end: a power cut interrupted its write, which never resolved. A marker file
 * beside it (`path`.mark) shows whether more is missing, because a validator that forgets a vote could contradict it.
 * Throws DamagedData when a durable record is gone.
 */
export async function openVoteLog(path: string, limitBytes = VOTE_FILE_LIMIT_BYTES): Promise<VoteLog> {
  const markerFile = openMarkerFile(`${path}.mark`, "the mark of the vote log");
  try {
    const found = findNewest(existsSync(path) ? readAll(path) : new Uint8Array(), path);
    refuseLoss(found, markerFile, path);
    const file = await openForAppending(path, found.end);
    return new FileVoteLog({ path, limitBytes, markerFile }, file, found);
  } catch (error) {
    markerFile.close();
    throw translateDiskError(error, `The vote log ${path} cannot be opened`);
  }
}

/**
 * Renames the vote log of a node that is not running to `copy`, in the same folder and durably: the next start finds
 * none. Removes the marker file first, since a mark without its log counts as damage; a log without a mark does not.
 */
export function setVoteLogAside(path: string, copy: string): void {
  withDiskErrors(`The vote log ${path} cannot be set aside`, () => {
    rmSync(`${path}.mark`, { force: true });
    renameSync(path, copy);
    syncFolder(dirname(path));
  });
}

const HEADER_BYTES = 16;

/** The newest valid record, and where the next one goes. */
interface Found {
  readonly record: Uint8Array | undefined;
  readonly sequence: number;
  readonly end: number;
}

interface Parts {
  readonly path: string;
  readonly limitBytes: number;
  readonly markerFile: MarkerFile;
}

class FileVoteLog implements VoteLog {
  private readonly parts: Parts;
  private file: FileHandle;
  private newest: Found;
  /** Resolves when the write in progress and those queued after it have ended. */
  private queue: Promise<void> = Promise.resolve();
  private failure: Error | undefined;

  constructor(parts: Parts, file: FileHandle, newest: Found) {
    this.parts = parts;
    this.file = file;
    this.newest = newest;
  }

  read(): Uint8Array | undefined {
    return this.newest.record;
  }

  write(record: Uint8Array): Promise<void> {
    const written = this.queue.then(() => this.writeNext(record));
    this.queue = written.catch(() => undefined);
    return written;
  }

  async close(): Promise<void> {
    await this.queue;
    await this.file.close();
    this.parts.markerFile.close();
  }

  private async writeNext(record: Uint8Array): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    const sequence = this.newest.sequence + 1;
    const bytes = encodeRecord(sequence, record);
    try {
      const fits = this.newest.end + bytes.length <= this.parts.limitBytes;
      const end = fits ? await this.append(bytes) : await this.beginAnew(bytes);
      this.parts.markerFile.write(markOf(sequence, bytes));
      this.newest = { record: Uint8Array.from(record), sequence, end };
    } catch (error) {
      this.failure = translateDiskError(error, `The vote log ${this.parts.path} cannot be written`);
      throw this.failure;
    }
  }

  private async append(bytes: Uint8Array): Promise<number> {
    await writeWhole(this.file, bytes, this.newest.end);
    await this.file.datasync();
    return this.newest.end + bytes.length;
  }

  /** Replaces the file with a new one once that is durable: at every moment there is a file. */
  private async beginAnew(bytes: Uint8Array): Promise<number> {
    const { path } = this.parts;
    const fresh = await open(`${path}.new`, "w");
    await writeWhole(fresh, bytes, 0);
    await fresh.sync();
    await rename(`${path}.new`, path);
    syncFolder(dirname(path));
    await this.file.close();
    this.file = fresh;
    return bytes.length;
  }
}

async function openForAppending(path: string, end: number): Promise<FileHandle> {
  if (existsSync(path)) {
    const file = await open(path, "r+");
    await file.truncate(end);
    // The process that created it may have been killed before the name was durable.
    syncFolder(dirname(path));
    return file;
  }
  const file = await open(path, "w");
  await file.sync();
  syncFolder(dirname(path));
  return file;
}

async function writeWhole(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

function readAll(path: string): Uint8Array {
  return withDiskErrors(`The vote log ${path} cannot be read`, () => {
    const status = statSync(path);
    if (!status.isFile()) throw lostVotes(path, "it is not a regular file");
    if (status.size > MOST_BYTES_READ)
      throw lostVotes(path, `it has ${status.size} bytes, which no vote log has`);
    return readFileSync(path);
  });
}

function encodeRecord(sequence: number, record: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + record.length);
  writeUint32(bytes, 0, record.length);
  writeUint32(bytes, 4, Math.floor(sequence / 2 ** 32));
  writeUint32(bytes, 8, sequence % 2 ** 32);
  writeUint32(bytes, 12, checksumOf(bytes.subarray(0, 12), record));
  bytes.set(record, HEADER_BYTES);
  return bytes;
}

/** Reads records from the beginning to the first invalid one. Throws DamagedData when a valid one follows that. */
function findNewest(bytes: Uint8Array, path: string): Found {
  let found: Found = { record: undefined, sequence: 0, end: 0 };
  for (;;) {
    const next = validRecord(bytes, found.end);
    if (next !== undefined) found = next;
    else if (validRecord(bytes, endOfRecord(bytes, found.end)) !== undefined)
      throw lostVotes(path, `its record at byte ${found.end} does not match its checksum`);
    else return { ...found, record: found.record === undefined ? undefined : Uint8Array.from(found.record) };
  }
}

function validRecord(bytes: Uint8Array, at: number): Found | undefined {
  const end = endOfRecord(bytes, at);
  if (end > bytes.length) return undefined;
  const record = bytes.subarray(at + HEADER_BYTES, end);
  if (readUint32(bytes, at + 12) !== checksumOf(bytes.subarray(at, at + 12), record)) return undefined;
  return { record, sequence: readUint32(bytes, at + 4) * 2 ** 32 + readUint32(bytes, at + 8), end };
}

function endOfRecord(bytes: Uint8Array, at: number): number {
  return at + HEADER_BYTES + readUint32(bytes, at);
}

function markOf(sequence: number, encoded: Uint8Array): { position: bigint; fingerprint: Uint8Array } {
  const fingerprint = new Uint8Array(32);
  fingerprint.set(encoded.subarray(0, HEADER_BYTES));
  return { position: BigInt(sequence), fingerprint };
}

function refuseLoss(found: Found, markerFile: MarkerFile, path: string): void {
  const mark = markerFile.read();
  if (mark === undefined || BigInt(found.sequence) >= mark.position) return;
  throw lostVotes(
    path,
    `its newest sound record is number ${found.sequence}, but number ${mark.position} was written`,
  );
}

function lostVotes(path: string, why: string): DamagedData {
  return new DamagedData(
    `The vote log ${path} is damaged: ${why}. A validator that forgot a vote could contradict it, so this node does ` +
      `not start. Delete ${path} and ${path}.mark: the validator is then silent until the network is past the height in ` +
      "which it may have voted (docs/operating.md, Lost votes).",
  );
}
