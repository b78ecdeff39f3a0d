import { equalBytes } from "../primitives/hex.ts";
import { readHeader } from "../storage/blocks/headerStore.ts";
import { readHead } from "../storage/commitRecord.ts";
import { DamagedData, type Database } from "../storage/database.ts";
import { readHistoryStart, WHOLE_HISTORY } from "../storage/historyStart.ts";
import { readStateHead, readStateRecord } from "./stateRecord.ts";

/**
 * Reports the blocks from the start of the states up to the head that lack their state, adjacent ones together, and those
 * whose state root differs from their header's. Other checks, of entries and of blocks, report what cannot be read at all.
 * Calls `onBlock` after each block.
 */
export function* findBlocksWithoutState(
  database: Database,
  onBlock: () => void = () => undefined,
): Generator<string> {
  const head = ifReadable(() => readHead(database));
  if (head === undefined) return;
  let first: bigint | undefined;
  const { states: start } = ifReadable(() => readHistoryStart(database)) ?? WHOLE_HISTORY;
  for (let number = start; number <= head.number; number++) {
    const state = stateOf(database, number);
    onBlock();
    if (state === "missing") {
      first ??= number;
      continue;
    }
    if (first !== undefined) yield lackingState(first, number - 1n);
    first = undefined;
    if (state === "mismatch") yield `The state of block ${number} is not the one that its header names.`;
  }
  if (first !== undefined) yield lackingState(first, head.number);
  const newest = ifReadable(() => readStateHead(database));
  if (newest !== undefined && BigInt(newest.number) !== head.number)
    yield `The newest state is that of block ${newest.number}, the newest block is ${head.number}.`;
}

function stateOf(database: Database, number: bigint): "missing" | "mismatch" | "match" | "unreadable" {
  return (
    ifReadable(() => {
      const record = readStateRecord(database, Number(number));
      if (record === undefined) return "missing";
      const header = readHeader(database, number);
      if (header === undefined) return "unreadable";
      return equalBytes(record.root.hash, header.header.stateRoot) ? "match" : "mismatch";
    }) ?? "unreadable"
  );
}

function lackingState(first: bigint, last: bigint): string {
  return first === last ? `Block ${first} lacks its state.` : `Blocks ${first} to ${last} lack their states.`;
}

function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DamagedData)) throw error;
    return undefined;
  }
}
