import { type DumpedAccount, SLOT_ENTRY_BYTES } from "../state/dump/dumpedAccount.ts";
import type { Alteration } from "./alteration.ts";

/**
 * The accounts of a dump as changes for altered blocks, so many accounts and slots each that no step of a commit holds the thread for
 * long. An account whose slots do not fit is in several.
 */
export function* loadedBlocks(
  accounts: Iterable<DumpedAccount>,
  mostEntries = MOST_ENTRIES,
): Generator<readonly Alteration[], void> {
  let block: Alteration[] = [];
  let entries = 0;
  for (const part of partsOf(accounts, mostEntries)) {
    const more = 1 + part.slots.length / SLOT_ENTRY_BYTES;
    if (block.length > 0 && entries + more > mostEntries) {
      yield block;
      [block, entries] = [[], 0];
    }
    block.push({ kind: "account", account: part });
    entries += more;
  }
  yield block;
}

/** Accounts and slots that one altered block changes; a transaction may change four times as many slots. */
const MOST_ENTRIES = 5000;

function* partsOf(accounts: Iterable<DumpedAccount>, mostEntries: number): Generator<DumpedAccount, void> {
  const step = (mostEntries - 1) * SLOT_ENTRY_BYTES;
  for (const account of accounts) {
    const { slots } = account;
    if (slots.length <= step) yield account;
    else
      for (let at = 0; at < slots.length; at += step)
        yield { ...account, slots: slots.subarray(at, at + step) };
  }
}
