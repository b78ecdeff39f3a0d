/** What a comparison reads, keeps and waits for at most: both nodes are foreign to it. */
export const COMPARE_LIMITS = {
  /**
   * Size limit of one HTTP answer, uncompressed. A batch with a larger answer is asked in halves; a single answer above the limit is
   * not compared.
   */
  answerBytes: 32 * 1024 * 1024,
  /** Lists and objects within each other; a trace of calls 1,024 deep has three levels a call. */
  answerDepth: 4096,
  /** Requests in one batch, below every server's own limit. */
  batchRequests: 50,
  /** Blocks that are compared at the same time. */
  blocksAtOnce: 4,
  /** Accounts of one block that are asked for; the others are counted as left out. */
  addressesPerBlock: 256,
  /** Transactions of one block whose calls or traces are asked for; their receipts all are. */
  transactionsPerBlock: 256,
  /** A file of methods, in bytes and entries. */
  methodsFileBytes: 64 * 1024,
  methods: 100,
  /** Differing places of one answer that are told. */
  placesPerAnswer: 20,
  /** Characters of an answer that are printed, and that are written to the report. */
  printedCharacters: 300,
  reportedCharacters: 16 * 1024,
  /** The report is not written beyond this; counting goes on. */
  reportBytes: 256 * 1024 * 1024,
  /** Differences that are printed; the others are counted. */
  printedDifferences: 100,
  requestTimeoutMs: 120_000,
  firstBackOffMs: 250,
  lastBackOffMs: 15_000,
  /** Pause between two looks for new blocks. */
  pollMs: 500,
  /** Times that an answer is asked for again that one node has and the other has not. */
  askedAgain: 3,
} as const;
