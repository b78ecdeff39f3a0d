import { DamagedData, type Database } from "../storage/database.ts";
import { readHistoryStart } from "../storage/historyStart.ts";
import { StateRemoved } from "../types/stateRemoved.ts";
import type { NodeReader } from "./trie/pageReader.ts";
import type { PlacedRecord, StoredNode } from "./trie/storedNode.ts";

/**
 * Reads the nodes of one state, which may be removed meanwhile (removal/stateRemoval.ts). Throws StateRemoved instead of DamagedData
 * once the states begin later.
 */
export class KeptNodes implements NodeReader {
  private readonly reader: NodeReader;
  private readonly database: Pick<Database, "get">;
  private readonly number: bigint;

  constructor(reader: NodeReader, database: Pick<Database, "get">, number: bigint) {
    this.reader = reader;
    this.database = database;
    this.number = number;
  }

  read(trieId: number, key: Uint8Array, depth: number, node: StoredNode): PlacedRecord {
    try {
      return this.reader.read(trieId, key, depth, node);
    } catch (error) {
      if (error instanceof DamagedData && this.number < readHistoryStart(this.database).states)
        throw new StateRemoved(this.number);
      throw error;
    }
  }
}

/** The result of `read`, or `stateUnavailable` when the state was removed meanwhile. */
export async function unlessRemoved<T>(
  read: () => T | Promise<T>,
): Promise<T | { readonly kind: "stateUnavailable" }> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof StateRemoved)) throw error;
    return { kind: "stateUnavailable" };
  }
}
