/** Limits on what an export holds in memory, requests and waits for. */
export const EXPORT_LIMITS = {
  /**
   * Size limit of one HTTP answer. The receipts of one block may have that many bytes; more ends the export. Only one such
   * answer is requested at a time.
   */
  answerBytes: 256 * 1024 * 1024,
  /** Target size of the answers to one piece of blocks, estimated from earlier blocks. */
  pieceBytes: 2 * 1024 * 1024,
  /** Most blocks in one piece, which with their receipts and traces are one batch of JSON-RPC. */
  blocksPerPiece: 16,
  /** Number of pieces requested ahead. */
  piecesAhead: 3,
  /** Size limit of the answer to a piece. The blocks of a larger one are requested one by one, in their turn. */
  pieceAnswerBytes: 16 * 1024 * 1024,
  /** Number of rows of a table held until they are written as one row group of Parquet. */
  rowGroupRows: 100_000,
  /** Bytes of row values that fill a row group of Parquet, which may exceed it by one row. */
  rowGroupBytes: 8 * 1024 * 1024,
  /** Bytes of text that are compressed and written at once. */
  textPieceBytes: 1024 * 1024,
  /** Number of retries for a block that the node answers with an error. */
  askedAgain: 5,
  firstPauseMs: 250,
  /** Number of times that blocks are rewritten because the chain was rewound meanwhile, before the export gives up. */
  writtenAnew: 10,
  /** Polling interval for new blocks. */
  pollMs: 500,
} as const;
