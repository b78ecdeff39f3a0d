import { Machine } from "./machine.ts";
import type { CoreKind } from "./module.ts";

/**
 * The machines of this thread that no job uses. Each running job has one of its own; after it, a machine is kept unless
 * it has grown large, because its memory never shrinks.
 */
const free: Record<CoreKind, Machine[]> = { plain: [], stepping: [] };
const inUse = new Set<Machine>();

/** A machine for one job, which gives it back at its end, or drops it. */
export function takeMachine(kind: CoreKind): Machine {
  const machine = free[kind].pop() ?? new Machine(kind);
  inUse.add(machine);
  return machine;
}

/** Gives a machine back for other jobs. */
export function returnMachine(kind: CoreKind, machine: Machine): void {
  inUse.delete(machine);
  if (machine.size <= LARGEST_KEPT_BYTES && free[kind].length < MOST_KEPT) free[kind].push(machine);
}

/** Forgets a machine whose job was stopped in the middle. */
export function dropMachine(machine: Machine): void {
  inUse.delete(machine);
}

/** Memory of this thread's machines, those that run and those that are kept. */
export function machineBytes(): number {
  let bytes = 0;
  for (const machines of [inUse, ...Object.values(free)]) for (const { size } of machines) bytes += size;
  return bytes;
}

/** 8 MB: what blocks of 34 million gas rarely need. */
const LARGEST_KEPT_BYTES = 8 * 1024 * 1024;
const MOST_KEPT = 4;
