/** What an export keeps in memory, asks for and waits for at most. */
export const EXPORT_LIMITS = {
  /**
   * Size limit of one HTTP answer. The receipts of one block may have that many bytes; more ends the export. Only one such answer is
   * asked for at a time.
   */
  answerBytes: 256 * 1024 * 1024,
  /** Blocks are asked for in pieces of about that many bytes of answers, as those before had. */
  pieceBytes: 2 * 1024 * 1024,
  /** Blocks of one piece, which with their receipts and traces are one batch of JSON-RPC. */
  blocksPerPiece: 16,
  /** Pieces that are asked for before the first of them is written. */
  piecesAhead: 3,
  /** Size limit of the answer to a piece. The blocks of a larger one are asked for one by one, when it is their turn. */
  pieceAnswerBytes: 16 * 1024 * 1024,
  /** Rows of a table that are kept until they are written as one row group of Parquet. */
  rowGroupRows: 100_000,
  /** Bytes of row values that fill a row group of Parquet, which is as large as that and one row. */
  rowGroupBytes: 8 * 1024 * 1024,
  /** Text that is compressed and written at once. */
  textPieceBytes: 1024 * 1024,
  /** Times that a block is asked for again that the node answers with an error. */
  askedAgain: 5,
  firstPauseMs: 250,
  /** Times that blocks are written anew because the chain was set back meanwhile, until the export gives up. */
  writtenAnew: 10,
  /** Pause between two looks for new blocks. */
  pollMs: 500,
} as const;
