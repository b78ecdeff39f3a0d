/** Bounds of a dump of a state, and of one that is read: some seconds on a thread of its own, and then a block like any other. */
export const DUMP_LIMITS = {
  /** Accounts and slots, counted together. */
  entries: 100_000,
  /** Bytes of the JSON text, which gzip expands to. */
  textBytes: 32 * 1024 * 1024,
  /** Bytes of all code together. */
  codeBytes: 8 * 1024 * 1024,
  /** Bytes of one account's code. */
  accountCodeBytes: 512 * 1024,
};
