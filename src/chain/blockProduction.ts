/** Operator's settings for the blocks that we build. */
export interface BlockProduction {
  /** Share of the block period that filling a block may take, in percent (--poa-block-txs-selection-max-time). */
  readonly selectionTimePercent: number;
  readonly minOccupancyRatio: number;
  /** Maximum bytes of transactions in one of our blocks (--max-block-bytes). */
  readonly maxBlockBytes: number;
  readonly targetGasLimit: bigint | undefined;
  readonly keepsRevertReasons: boolean;
}
