import { DamagedData } from "../storage/database.ts";

/** The index cannot be read: an entry is damaged, or all are of another version. */
export class UnusableIndex extends DamagedData {
  override name = "UnusableIndex";
  /** What is wrong, without what to do about it. */
  readonly what: string;

  constructor(what: string) {
    super(`${what}. ${REBUILD}`);
    this.what = what;
  }
}

/** What an operator does about an index that is damaged: nothing in it is the only copy of anything. */
export const REBUILD =
  "Stop the node and delete explorer-index/ in the data folder: the node builds it again from the chain.";
