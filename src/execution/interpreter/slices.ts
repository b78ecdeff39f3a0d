import { LONG_BYTES } from "../../evm/layout.ts";
import type { Run, Work } from "./run.ts";

/*
 * LONG_BYTES are copied in some tenths of a millisecond, hashed in three milliseconds, and touched for the first time in one or two.
 */

/** Copies `source` to a position of the machine's memory, `size` bytes; bytes beyond the source are zero. */
export function* copyInSlices(run: Run, to: number, source: Uint8Array, size: number): Work {
  for (let at = 0; at < size; at += LONG_BYTES) {
    const until = Math.min(at + LONG_BYTES, size);
    const part = source.subarray(at, until);
    run.machine.bytes.set(part, to + at);
    run.machine.bytes.fill(0, to + at + part.length, to + until);
    yield;
  }
}

/** Moves bytes within the machine's memory; the ranges may overlap. */
export function* moveInSlices(run: Run, to: number, from: number, size: number): Work {
  for (let at = 0; at < size; at += LONG_BYTES) {
    const until = Math.min(at + LONG_BYTES, size);
    // Starts at the end towards which it moves, so that no slice overwrites what a later one reads.
    const start = to > from ? size - until : at;
    run.machine.bytes.copyWithin(to + start, from + start, from + start + until - at);
    yield;
  }
}

export function* zeroInSlices(run: Run, from: number, until: number): Work {
  for (let at = from; at < until; at += LONG_BYTES) {
    run.machine.bytes.fill(0, at, Math.min(at + LONG_BYTES, until));
    yield;
  }
}

/** Writes the Keccak-256 of a range of the machine's memory as a word. */
export function* hashInSlices(run: Run, to: number, from: number, size: number): Work {
  const { core } = run.machine;
  core.beginKeccak();
  const whole = size - (size % RATE);
  for (let at = 0; at < whole; at += SLICE) {
    core.absorb(from + at, Math.min(SLICE, whole - at));
    yield;
  }
  core.endKeccak(to, from + whole, size - whole);
}

const RATE = 136;
const SLICE = RATE * 4096;

/** A copy of a range of the machine's memory. */
export function* takeInSlices(run: Run, from: number, size: number): Generator<undefined, Uint8Array> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += LONG_BYTES) {
    bytes.set(run.machine.bytes.subarray(from + at, from + Math.min(at + LONG_BYTES, size)), at);
    yield;
  }
  return bytes;
}
