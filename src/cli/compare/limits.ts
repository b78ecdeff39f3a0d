/** Limits on what a comparison reads, holds and waits for: neither node is trusted. */
export const COMPARE_LIMITS = {
  /**
   * Size limit of one HTTP answer, uncompressed. A batch with a larger answer is split in halves; a single answer above the
   * limit is not compared.
   */
  answerBytes: 32 * 1024 * 1024,
  /** Nesting of lists and objects: a trace of calls 1,024 deep has three levels a call. */
  answerDepth: 4096,
  /** Requests in one batch, below every server's own limit. */
  batchRequests: 50,
  /** Number of blocks compared at the same time. */
  blocksAtOnce: 4,
  /** Most accounts of one block that are requested; the others are counted as left out. */
  addressesPerBlock: 256,
  /** Most transactions of one block whose calls or traces are requested; all their receipts are. */
  transactionsPerBlock: 256,
  /** A file of methods, in bytes and entries. */
  methodsFileBytes: 64 * 1024,
  methods: 100,
  /** Most differing places of one answer that are reported. */
  placesPerAnswer: 20,
  /** Most characters of an answer that are printed, and that are written to the report. */
  printedCharacters: 300,
  reportedCharacters: 16 * 1024,
  /** Largest report; counting continues beyond it. */
  reportBytes: 256 * 1024 * 1024,
  /** Most differences that are printed; the others are only counted. */
  printedDifferences: 100,
  requestTimeoutMs: 120_000,
  firstBackOffMs: 250,
  lastBackOffMs: 15_000,
  /** Polling interval for new blocks. */
  pollMs: 500,
  /** Number of retries of a request that only one node has answered. */
  askedAgain: 3,
} as const;
