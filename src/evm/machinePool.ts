import { countPages, PAGE_BYTES } from "../primitives/threadPages.ts";
import { Machine } from "./machine.ts";
import type { CoreKind } from "./module.ts";

/**
 * The machines of this thread that no job uses. Each running job has one of its own; after it, a machine is kept unless
 * it has grown large, because its memory never shrinks.
 */
const free: Record<CoreKind, Machine[]> = { plain: [], stepping: [] };

/** A machine for one job, which gives it back at its end, or drops it. */
export function takeMachine(kind: CoreKind): Machine {
  const kept = free[kind].pop();
  if (kept !== undefined) return kept;
  const machine = new Machine(kind);
  countPages(machine.size / PAGE_BYTES);
  return machine;
}

/** Gives a machine back for other jobs. */
export function returnMachine(kind: CoreKind, machine: Machine): void {
  if (machine.size <= LARGEST_KEPT_BYTES && free[kind].length < MOST_KEPT) free[kind].push(machine);
  else discard(machine);
}

/** Forgets a machine whose job was stopped in the middle. */
export function dropMachine(machine: Machine): void {
  discard(machine);
}

/** Forgets the machines that no job uses: one that served a job which failed may not be as it should. */
export function dropFreeMachines(): void {
  for (const machines of Object.values(free)) for (const machine of machines.splice(0)) discard(machine);
}

function discard({ size }: Machine): void {
  countPages(-size / PAGE_BYTES);
}

/** 8 MB: what blocks of 34 million gas rarely need. */
const LARGEST_KEPT_BYTES = 8 * 1024 * 1024;
const MOST_KEPT = 4;
