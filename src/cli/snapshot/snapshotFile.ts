import { type FileHandle, open } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { messageOf } from "../../primitives/errorMessage.ts";
import { EMPTY_BYTES, equalBytes } from "../../primitives/hex.ts";
import { readUint32, writeUint32 } from "../../storage/checksum.ts";
import { MAX_FRAME_BYTES } from "./limits.ts";

/*
 * A snapshot file: eight bytes "IBEXSNAP", the version u32, and frames up to the one of kind "end":
 *
 *   kind u8 | length u32 | payload | CRC-32 u32 over the frame's position in the file, kind, length and payload
 *
 * The checksum finds and locates damage; only hashes prove that the contents are true (importSnapshot.ts).
 */

/** The kinds of frames, in their order in the file. There are many of `headers` and `state`. */
const FRAME_KINDS = { begin: 1, headers: 2, block: 3, receipts: 4, state: 5, end: 6 } as const;

export type FrameKind = keyof typeof FRAME_KINDS;

/** Increased with each change to the format. */
export const SNAPSHOT_VERSION = 1;

const MAGIC = new TextEncoder().encode("IBEXSNAP");
const PREFACE_BYTES = MAGIC.length + 4;
const FRAME_HEADER_BYTES = 5;
const CHECKSUM_BYTES = 4;

/** The file is not usable. The message says why and, after the preface, at which byte. */
export class SnapshotFileError extends Error {
  override name = "SnapshotFileError";
}

export interface SnapshotWriter {
  write(kind: FrameKind, payload: Uint8Array): Promise<void>;
  /** Syncs and closes the file; returns its length. */
  finish(): Promise<number>;
  /** Closes the file as it is. */
  abandon(): Promise<void>;
}

/** Creates the file, replacing an old one. Throws errors of the file system. */
export async function createSnapshotFile(path: string): Promise<SnapshotWriter> {
  const file = await open(path, "w");
  const preface = new Uint8Array(PREFACE_BYTES);
  preface.set(MAGIC);
  writeUint32(preface, MAGIC.length, SNAPSHOT_VERSION);
  await file.writeFile(preface);
  let position = PREFACE_BYTES;
  return {
    async write(kind, payload) {
      const header = frameHeader(FRAME_KINDS[kind], payload.length);
      const checksum = new Uint8Array(CHECKSUM_BYTES);
      writeUint32(checksum, 0, frameChecksum(position, header, payload));
      await file.writeFile(Buffer.concat([header, payload, checksum]));
      position += header.length + payload.length + checksum.length;
    },
    async finish() {
      await file.sync();
      await file.close();
      return position;
    },
    abandon: () => file.close(),
  };
}

export interface Frame {
  readonly kind: FrameKind;
  readonly payload: Uint8Array;
  /** Position of its first byte in the file. */
  readonly position: number;
}

export interface SnapshotReader {
  /** Length of the file. */
  readonly size: number;
  /** The next frame. Throws SnapshotFileError, also at the end of the file: the last frame is of kind "end". */
  read(): Promise<Frame>;
  /** Throws SnapshotFileError unless the file ends after the frames read. */
  expectEnd(): void;
  close(): Promise<void>;
}

/** Throws SnapshotFileError when the file cannot be read, is no snapshot, or has another version. */
export async function openSnapshotFile(path: string): Promise<SnapshotReader> {
  const file = await openFile(path);
  try {
    const { size } = await file.stat();
    await checkPreface(file, size);
    let position = PREFACE_BYTES;
    return {
      size,
      async read() {
        const frame = await readFrame(file, position, size);
        position += FRAME_HEADER_BYTES + frame.payload.length + CHECKSUM_BYTES;
        return frame;
      },
      expectEnd() {
        if (position !== size)
          throw new SnapshotFileError(`the snapshot ends at byte ${position}, but the file continues`);
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, "r");
  } catch (error) {
    throw new SnapshotFileError(`the file cannot be opened: ${messageOf(error)}`);
  }
}

async function checkPreface(file: FileHandle, size: number): Promise<void> {
  const preface = size < PREFACE_BYTES ? EMPTY_BYTES : await readBytes(file, 0, PREFACE_BYTES);
  if (!equalBytes(preface.subarray(0, MAGIC.length), MAGIC))
    throw new SnapshotFileError("it is not a snapshot of Ibex");
  const version = readUint32(preface, MAGIC.length);
  if (version !== SNAPSHOT_VERSION)
    throw new SnapshotFileError(
      `it has version ${version} of the format; this release of Ibex reads version ${SNAPSHOT_VERSION}`,
    );
}

async function readFrame(file: FileHandle, position: number, size: number): Promise<Frame> {
  const rest = size - position - FRAME_HEADER_BYTES - CHECKSUM_BYTES;
  if (rest < 0) throw cutOff(position);
  const header = await readBytes(file, position, FRAME_HEADER_BYTES);
  const length = readUint32(header, 1);
  if (length > MAX_FRAME_BYTES) throw damagedAt(position);
  if (length > rest) throw cutOff(position);
  const bytes = await readBytes(file, position + FRAME_HEADER_BYTES, length + CHECKSUM_BYTES);
  const payload = bytes.subarray(0, length);
  if (readUint32(bytes, length) !== frameChecksum(position, header, payload)) throw damagedAt(position);
  const kind = kindOf(header[0] ?? 0);
  if (kind === undefined) throw damagedAt(position);
  return { kind, payload, position };
}

function cutOff(position: number): SnapshotFileError {
  return new SnapshotFileError(
    `the part that begins at byte ${position} is not complete: the file was cut off or is damaged there`,
  );
}

function damagedAt(position: number): SnapshotFileError {
  return new SnapshotFileError(`the part that begins at byte ${position} is damaged`);
}

async function readBytes(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) throw cutOff(position);
    filled += bytesRead;
  }
  return bytes;
}

function kindOf(code: number): FrameKind | undefined {
  const found = Object.entries(FRAME_KINDS).find(([, each]) => each === code);
  // The entries have the keys of the table, hence the cast.
  return found?.[0] as FrameKind | undefined;
}

function frameHeader(code: number, length: number): Uint8Array {
  const header = new Uint8Array(FRAME_HEADER_BYTES);
  header[0] = code;
  writeUint32(header, 1, length);
  return header;
}

function frameChecksum(position: number, header: Uint8Array, payload: Uint8Array): number {
  const place = new Uint8Array(8);
  writeUint32(place, 0, Math.floor(position / 2 ** 32));
  writeUint32(place, 4, position % 2 ** 32);
  const begun = crc32(header, crc32(place));
  return payload.length === 0 ? begun : crc32(payload, begun);
}
