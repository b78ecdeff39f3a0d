import { linkSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { PIECE_BYTES } from "./limits.ts";

/** The pace of copies, and how to stop them. */
export interface CopyPace {
  /** Most bytes read and written per second; undefined for no limit. */
  readonly bytesPerSecond: number | undefined;
  /** Throws when the command must stop. Called between two pieces. */
  continueOrThrow(): void;
  /** Called with the bytes of each piece that was read. */
  onBytes?(bytes: number): void;
}

/** Size and CRC-32 of a copied file. */
interface Copied {
  readonly bytes: number;
  readonly crc32: number;
}

/** Copies a file to a new one and makes it durable. */
export async function copyFile(from: string, to: string, pace: CopyPace, mode = 0o644): Promise<Copied> {
  const target = await open(to, "wx", mode);
  try {
    const copied = await readPieces(from, pace, (piece) => writeAll(target, piece));
    await target.sync();
    return copied;
  } finally {
    await target.close();
  }
}

/** Reads a file to its end. */
export function readWhole(path: string, pace: CopyPace): Promise<Copied> {
  return readPieces(path, pace, () => undefined);
}

/** Makes a hard link; false if the file system has none, is another one, or the file no longer exists. */
export function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (isCode(error, ["EXDEV", "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "ENOENT"]))
      return false;
    throw error;
  }
}

/** Whether the system gave one of these codes. */
export function isCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

async function readPieces(
  path: string,
  { bytesPerSecond, continueOrThrow, onBytes }: CopyPace,
  use: (piece: Uint8Array) => unknown,
): Promise<Copied> {
  const file = await open(path, "r");
  try {
    const buffer = new Uint8Array(PIECE_BYTES);
    let [bytes, sum] = [0, 0];
    for (;;) {
      continueOrThrow();
      const startMs = performance.now();
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return { bytes, crc32: sum };
      const piece = buffer.subarray(0, bytesRead);
      sum = crc32(piece, sum);
      bytes += bytesRead;
      await use(piece);
      onBytes?.(bytesRead);
      if (bytesPerSecond === undefined) continue;
      const restMs = (1000 * bytesRead) / bytesPerSecond - (performance.now() - startMs);
      if (restMs >= 1) await pause(restMs);
    }
  } finally {
    await file.close();
  }
}

async function writeAll(target: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) {
    const { bytesWritten } = await target.write(piece, at, piece.length - at);
    at += bytesWritten;
  }
}
