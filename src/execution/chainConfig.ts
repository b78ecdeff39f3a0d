/** The chain's parameters for the interpreter, besides the fork. */
export interface ChainConfig {
  readonly chainId: bigint;
  readonly contractSizeLimitBytes: number;
  /** Maximum words on a frame's stack: 1,024 unless the genesis file sets it. */
  readonly stackLimit: number;
}
