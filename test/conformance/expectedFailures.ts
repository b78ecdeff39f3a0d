import type { ExpectedFailure } from "./judgement.ts";

/** The list that each run is compared with. Sorted by suite; a reason says whose choice it is. */
export const EXPECTED_FAILURES: readonly ExpectedFailure[] = [
  {
    suite: "chain",
    case: "besu-jsonrpc/chains/mainnet/badpow.blocks",
    says: "block 1 is accepted, whose proof of work is wrong",
    reason:
      "Nothing here checks proofs of work: no chain of ours has one, and these chains are read to be executed.",
  },
  ...(["staged: 61", "past: 263", "zero: 52"] as const).map((place): ExpectedFailure => {
    const [chain, block] = place.split(": ");
    return {
      suite: "ibft",
      case: `besu-ibft/prague-25.4.1/${chain}`,
      says: `block ${block}: wrongGasUsed`,
      reason:
        "It calls a BLS12-381 precompile, which the recorded build did not have, so that all the gas was burnt.",
    };
  }),
];
