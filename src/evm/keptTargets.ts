import { toKey } from "../primitives/byteKey.ts";
import { countPages, PAGE_BYTES } from "../primitives/threadPages.ts";

/*
 * The jump targets of the contracts that this thread ran, by code hash: a bit for each byte of code. Machines have no room
 * for the code of some hundred large contracts that are called in turn, but their targets are found once.
 */
let kept = new Map<string, Uint8Array>();
let bytes = 0;
let isFull = false;

/** Called before the first frame of a message: once there is no more room, all are dropped. */
export function makeRoomForTargets(): void {
  if (!isFull) return;
  kept = new Map();
  count(-bytes);
  isFull = false;
}

export function keptTargets(codeHash: Uint8Array): Uint8Array | undefined {
  return kept.get(toKey(codeHash));
}

/** Keeps the jump targets of code, while there is room. */
export function keepTargets(codeHash: Uint8Array, targets: Uint8Array): void {
  const size = targets.length + ENTRY_BYTES;
  isFull ||= bytes + size > MOST_BYTES;
  if (isFull) return;
  kept.set(toKey(codeHash), targets);
  count(size);
}

function count(more: number): void {
  const before = Math.ceil(bytes / PAGE_BYTES);
  bytes += more;
  countPages(Math.ceil(bytes / PAGE_BYTES) - before);
}

/** 16 MB: of some 5,000 contracts of the largest size, which take 13 million gas to call for the first time. */
const MOST_BYTES = 16 * 1024 * 1024;
const ENTRY_BYTES = 250;
