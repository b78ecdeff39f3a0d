import { DamagedData } from "../storage/database.ts";

/** The index cannot be read: an entry is damaged, or the version differs. */
export class UnusableIndex extends DamagedData {
  override name = "UnusableIndex";
  /** What is wrong, without the remedy. */
  readonly what: string;

  constructor(what: string) {
    super(`${what}. ${REBUILD}`);
    this.what = what;
  }
}

/** The remedy for a damaged index: nothing in it is the only copy of anything. */
export const REBUILD =
  "Stop the node and delete explorer-index/ in the data folder: the node rebuilds it from the chain.";
