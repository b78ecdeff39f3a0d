import type { Batch } from "../batch.ts";
import type { KeyRange } from "../database.ts";

/** Leads from one schema version of the database to the next (checklists/change-the-schema.md#steps). */
export interface MigrationStep {
  /** Description for the operator: "Store receipts without their blooms". */
  readonly what: string;
  /** Most bytes written for each byte read. */
  readonly growth: number;
  /** The passes, which run one after the other. */
  readonly passes: readonly MigrationPass[];
}

/** Goes over all entries of a range once, in key order. */
export interface MigrationPass {
  readonly range: Pick<KeyRange, "from" | "until">;
  /**
   * Puts the replacement of one entry, and deletes the entry when the key differs. Depends only on the entry, and writes no
   * key of the range after the entry's: an interrupted pass continues after the last entry that it finished, and would meet
   * such a key. Throws DamagedData for an entry whose checksum does not match.
   */
  convert(entry: { readonly key: Uint8Array; readonly value: Uint8Array }, batch: EntryWriter): void;
}

export type EntryWriter = Pick<Batch, "put" | "delete">;
