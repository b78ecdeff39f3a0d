/** Bounds of a dump of a state, and of one that is read: some seconds on a thread of its own, and then a block like any other. */
export const DUMP_LIMITS = {
  /** Accounts and slots, counted together. */
  entries: 100_000,
  /** Bytes of the JSON text, which gzip expands to. */
  textBytes: 32 * 1024 * 1024,
  /**
   * Lists, objects and their members in a dump that is read: a parser spends a hundred bytes on each, outside the heap where they are
   * nested. A dump of the most accounts has half as many, and one of anvil also blocks and transactions, which have few a byte.
   */
  textParts: 2_000_000,
  /** Lists and objects that lie in one another. */
  textDepth: 1000,
  /** Bytes of all code together. */
  codeBytes: 8 * 1024 * 1024,
  /** Bytes of one account's code. */
  accountCodeBytes: 512 * 1024,
};
