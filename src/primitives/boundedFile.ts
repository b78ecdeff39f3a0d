import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, type Stats } from "node:fs";

/** The path does not lead to a file of the expected size. The message is meant to follow the file's name. */
export class NoSmallFile extends Error {
  override name = "NoSmallFile";
}

/** Time limit for a pipe to deliver all its bytes: the program that fills it may ask for a password. */
const PIPE_MS = 10_000;
/** Pause before an empty pipe is read again. */
const PIPE_PAUSE_MS = 20;

/**
 * Reads the text of a regular file of at most `mostBytes`. Never blocks, unlike a read from a pipe, which no signal
 * interrupts. Throws NoSmallFile, and errors of the system.
 */
export function readRegularFile(path: string, mostBytes: number): string {
  return reading(path, (file, status) => readRegular(file, status, mostBytes)).toString("utf8");
}

/**
 * Reads at most `mostBytes` from a file that an option names: a regular file, or a pipe such as a shell's `<(…)`, which must
 * deliver within `pipeMs`. Refuses folders, and devices such as /dev/zero, which never end. Throws as readRegularFile does.
 * `mostBytes` defaults to the longest text that Node.js can hold.
 */
export function readNamedBytes(path: string, mostBytes = LONGEST_TEXT, pipeMs = PIPE_MS): Buffer {
  return reading(path, (file, status) =>
    status.isFIFO() ? readPipe(file, mostBytes, pipeMs) : readRegular(file, status, mostBytes),
  );
}

/** Like readNamedBytes, for a text in UTF-8. */
export function readNamedFile(path: string, mostBytes = LONGEST_TEXT, pipeMs = PIPE_MS): string {
  return readNamedBytes(path, mostBytes, pipeMs).toString("utf8");
}

const LONGEST_TEXT = 500_000_000;

function reading(path: string, read: (file: number, status: Stats) => Buffer): Buffer {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    return read(file, fstatSync(file));
  } finally {
    closeSync(file);
  }
}

function readRegular(file: number, status: Stats, mostBytes: number): Buffer {
  if (status.isDirectory()) throw new NoSmallFile("it is a folder");
  if (!status.isFile()) throw new NoSmallFile("it is not a regular file");
  if (status.size > mostBytes) throw tooLarge(mostBytes);
  return readFileSync(file);
}

/** A pipe whose other end is not open yet looks like one that has ended; it counts as ended once it has delivered something. */
function readPipe(file: number, mostBytes: number, pipeMs: number): Buffer {
  const pieces: Buffer[] = [];
  let length = 0;
  const deadlineMs = performance.now() + pipeMs;
  for (;;) {
    const piece = readPiece(file);
    if (piece?.length === 0 && length > 0) return Buffer.concat(pieces);
    if (piece !== undefined && piece.length > 0) {
      pieces.push(piece);
      length += piece.length;
      if (length > mostBytes) throw tooLarge(mostBytes);
      continue;
    }
    if (performance.now() > deadlineMs)
      throw new NoSmallFile(`it is a pipe that does not end within ${pipeMs / 1000} s`);
    Atomics.wait(PAUSE, 0, 0, PIPE_PAUSE_MS);
  }
}

const PAUSE = new Int32Array(new SharedArrayBuffer(4));
const PIECE_BYTES = 64 * 1024;

/** Reads a piece; empty at the end, undefined while there is nothing. */
function readPiece(file: number): Buffer | undefined {
  const piece = Buffer.alloc(PIECE_BYTES);
  try {
    return piece.subarray(0, readSync(file, piece));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EAGAIN") return undefined;
    throw error;
  }
}

function tooLarge(mostBytes: number): NoSmallFile {
  return new NoSmallFile(`it is larger than ${mostBytes} bytes`);
}
