/** What an export keeps in memory, asks for and waits for at most. */
export const EXPORT_LIMITS = {
  /** Of one HTTP answer. The receipts of one block may have that many bytes; more ends the export. One is asked for at a time. */
  answerBytes: 256 * 1024 * 1024,
  /** Blocks are asked for in pieces of about that many bytes of answers, as those before had. */
  pieceBytes: 2 * 1024 * 1024,
  /** With their receipts and traces they are one batch of JSON-RPC. */
  blocksPerPiece: 16,
  /** Pieces that are asked for before the first of them is written. */
  piecesAhead: 3,
  /** Of the answer to such a piece. The blocks of a larger one are asked for one by one, when it is their turn. */
  pieceAnswerBytes: 16 * 1024 * 1024,
  /** Rows of a table that are kept until they are written as one row group of Parquet. */
  rowGroupRows: 100_000,
  /** The same in bytes of their values; a row group is as large as that and one row. */
  rowGroupBytes: 8 * 1024 * 1024,
  /** Text that is compressed and written at once. */
  textPieceBytes: 1024 * 1024,
  /** Times that a block is asked for again that the node answers with an error. */
  askedAgain: 5,
  firstPauseMs: 250,
  /** Times that blocks are written anew because the chain was set back meanwhile, until the export gives up. */
  writtenAnew: 10,
  /** Between two looks for new blocks. */
  pollMs: 500,
} as const;
