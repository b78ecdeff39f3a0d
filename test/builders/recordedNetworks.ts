/** Chains that real validators of the incumbent sealed: votes, epochs, rounds above 0, forks by time. */
export const RECORDED_NETWORKS: readonly RecordedNetwork[] = [
  { folder: ["besu-ibft", "net1"] },
  { folder: ["besu-ibft", "net2"] },
  { folder: ["besu-ibft", "net3"] },
  { folder: ["besu-ibft", "net4"] },
  { folder: ["besu-ibft", "prague-25.4.1", "staged"], withoutBls: 61n },
  { folder: ["besu-ibft", "prague-25.4.1", "past"], withoutBls: 263n },
  { folder: ["besu-ibft", "prague-25.4.1", "zero"], withoutBls: 52n },
];

export interface RecordedNetwork {
  readonly folder: readonly string[];
  /** Block that calls a BLS12-381 precompile, which the build that was recorded did not have: it burnt all gas. */
  readonly withoutBls?: bigint;
}
