import { aligned, FIELD, LONG_BYTES } from "../../evm/layout.ts";
import type { Frame } from "./frame.ts";
import type { Run, Work } from "./run.ts";
import { moveInSlices, zeroInSlices } from "./slices.ts";

/**
 * Makes room for the memory that an instruction needs; the instruction is then performed again. The room doubles while it is
 * small, is zeroed, and counts against the budget.
 */
export function makeRoom(run: Run, frame: Frame): void {
  const { machine } = run;
  const { at } = frame;
  const needed = machine.field(at, FIELD.NEEDED);
  const before = machine.field(at, FIELD.ROOM);
  if (needed > INLINE_BYTES) run.yieldPolicy.deadline?.abort();
  const room = Math.max(needed, Math.min(2 * before, before + LARGEST_STEP));
  run.count(frame, room - before);
  const memory = machine.field(at, FIELD.MEMORY);
  run.reserve(memory + room);
  if (room - before > LONG_BYTES || machine.field(at, FIELD.RETURNED_SIZE) > LONG_BYTES)
    run.work = roomInSlices(run, frame, room);
  else {
    moveReturned(run, frame, memory + room);
    machine.bytes.fill(0, memory + before, memory + room);
    machine.setField(at, FIELD.ROOM, room);
  }
}

/** 64 KB: the maximum that one instruction of an inline call may hash, copy or return. */
const INLINE_BYTES = 65_536;
const LARGEST_STEP = 65_536;

/** Moves the last callee's data, which lies behind the memory, out of the way of memory that grows. */
function moveReturned(run: Run, { at }: Frame, to: number): void {
  const { machine } = run;
  const size = machine.field(at, FIELD.RETURNED_SIZE);
  const from = machine.field(at, FIELD.RETURNED);
  if (size === 0 || from >= to) return;
  run.reserve(to + size);
  machine.bytes.copyWithin(to, from, from + size);
  machine.setField(at, FIELD.RETURNED, to);
}

function* roomInSlices(run: Run, { at }: Frame, room: number): Work {
  const { machine } = run;
  const memory = machine.field(at, FIELD.MEMORY);
  const size = machine.field(at, FIELD.RETURNED_SIZE);
  const from = machine.field(at, FIELD.RETURNED);
  const to = aligned(memory + room);
  if (size > 0 && from < to) {
    run.reserve(to + size);
    yield* moveInSlices(run, to, from, size);
    machine.setField(at, FIELD.RETURNED, to);
  }
  yield* zeroInSlices(run, memory + machine.field(at, FIELD.ROOM), memory + room);
  machine.setField(at, FIELD.ROOM, room);
}
