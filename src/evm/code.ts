import {
  FIELD,
  FOUND,
  PIECE,
  PREPARED_AT_ONCE,
  preparedBytes,
  targetBytes,
  targetsBehind,
  UNPREPARED,
} from "./layout.ts";
import type { Machine, PreparedCode } from "./machine.ts";

/*
 * Code in a machine:
 *
 *     prepared code │ zeros │ FOUND, a bit for each jump target
 *
 * Nothing of it is prepared until it runs, and its jump targets are found when it jumps for the first time: a call may run
 * a few of 24,576 bytes. Contracts' code as it is stays outside.
 */

/**
 * Makes space for code at a position with room for preparedBytes; `raw` is where init code lies, 0 for other code. Yields
 * between slices of very long code.
 */
export function* placeCode(
  machine: Machine,
  at: number,
  size: number,
  raw: number,
): Generator<undefined, PreparedCode> {
  const codeEnd = at + size;
  const end = at + preparedBytes(size);
  for (let from = at; from < end; from += SLICE_BYTES) {
    const until = Math.min(from + SLICE_BYTES, end);
    machine.bytes.fill(UNPREPARED, from, Math.min(until, codeEnd));
    machine.bytes.fill(0, Math.max(from, codeEnd), until);
    if (until < end) yield;
  }
  return { code: at, raw, targets: at + targetsBehind(size), size };
}

/** Prepares some of a frame's code, from its next instruction on. `codeOf` returns all of it, and is not asked for init code. */
export function prepareNext(machine: Machine, frame: number, codeOf: () => Uint8Array): void {
  const at = machine.field(frame, FIELD.NEXT) - machine.field(frame, FIELD.CODE);
  let raw = machine.field(frame, FIELD.RAW_CODE);
  if (raw === 0) {
    machine.bytes.set(codeOf().subarray(at, at + PREPARED_AT_ONCE + LONGEST_DATA), PIECE);
    raw = PIECE - at;
  }
  machine.core.prepare(frame, raw, at);
}

/** Finds the jump targets of a frame's code; yields between pieces of it. `codeOf` as above. */
export function* findTargets(
  machine: Machine,
  frame: number,
  codeOf: () => Uint8Array,
): Generator<undefined, void> {
  const raw = machine.field(frame, FIELD.RAW_CODE);
  const targets = machine.field(frame, FIELD.TARGETS);
  const size = machine.field(frame, FIELD.CODE_SIZE);
  for (let from = 0; from < size; ) {
    const until = Math.min(from + PIECE_BYTES, size);
    if (raw === 0) machine.bytes.set(codeOf().subarray(from, until), PIECE);
    from = machine.core.findTargets(raw === 0 ? PIECE - from : raw, targets, from, until);
    yield;
  }
  setFound(machine, targets);
}

/** A copy of the bits of a frame's code. */
export function targetsOf(machine: Machine, frame: number): Uint8Array {
  const at = machine.field(frame, FIELD.TARGETS);
  return machine.bytes.slice(at, at + targetBytes(machine.field(frame, FIELD.CODE_SIZE)));
}

export function setTargets(machine: Machine, frame: number, bits: Uint8Array): void {
  const at = machine.field(frame, FIELD.TARGETS);
  machine.bytes.set(bits, at);
  setFound(machine, at);
}

function setFound(machine: Machine, targets: number): void {
  machine.setField(targets, -FOUND, 1);
}

/** Bytes that are filled in some tenths of a millisecond. */
const SLICE_BYTES = 1_048_576;
/** Data of a PUSH32, with which the last instruction may end. */
const LONGEST_DATA = 32;
/** Bytes searched at once: as many as have room between PIECE and ARENA. */
const PIECE_BYTES = 16_384;
