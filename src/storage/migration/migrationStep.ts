import type { Batch } from "../batch.ts";
import type { KeyRange } from "../database.ts";

/** Leads from one schema version of the database to the next (checklists/change-the-schema.md#steps). */
export interface MigrationStep {
  /** What it does, for the operator: "Store receipts without their blooms". */
  readonly what: string;
  /** Bytes written for each byte read, at most. */
  readonly growth: number;
  /** The passes, which run one after the other. */
  readonly passes: readonly MigrationPass[];
}

/** Goes over all entries of a range once, in key order. */
export interface MigrationPass {
  readonly range: Pick<KeyRange, "from" | "until">;
  /**
   * Puts what takes the place of one entry, and deletes it when its key is another. It depends on the entry alone, and
   * writes no key of the range that comes after the entry's: a pass that was interrupted goes on after the last entry that
   * it finished, and would meet such a key. Throws DamagedData for an entry whose checksum does not match.
   */
  convert(entry: { readonly key: Uint8Array; readonly value: Uint8Array }, batch: EntryWriter): void;
}

export type EntryWriter = Pick<Batch, "put" | "delete">;
