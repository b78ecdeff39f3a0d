import type { ExpectedFailure } from "./judgement.ts";

/** The list that each run is compared with, by suite. A reason says whose choice it is. */
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
  ...all(
    "genesis",
    "which this version does not know",
    ["besu-core/networks/experimental.json", "besu-core/networks/future.json"],
    {
      reason: "by design: a chain is refused whose forks are not all known; these name forks of experiments",
    },
  ),
  ...all("precompile", "INSUFFICIENT_GAS", ["eip152-blake2f 4 prague"], {
    reason: "2^32 - 1 rounds for as much gas, which is more than any block holds",
  }),
  ...all("precompile", "by a contract: 0x00", ["eip152-blake2f 4 prague, by a contract"], {
    reason: "likewise",
  }),
  ...all(
    "evmtool",
    "state root 0x7e18",
    ["Frontier", "Homestead", "EIP150"].map((fork) => `HighGasPrice HighGasPrice ${fork} 0`),
    {
      reason:
        "filled before the tests paid a reward of zero, which makes an account of the beneficiary under these forks; " +
        "the state suite has the same test with it",
    },
  ),
  ...all("tracer", "result.output is missing", ["call_tracer_withLog/frontier_create_outofstorage.json"], {
    reason:
      "Frontier's contracts that cannot pay for their code: what they would have been is not shown; no IBFT chain is so old",
  }),
  ...all(
    "trie",
    "keys of several lengths",
    [
      "trietest emptyValues, *",
      "trietest insert-middle-leaf, *",
      "trietest branch-value-update, *",
      "trieanyorder dogs, *",
      "trieanyorder puppy, *",
      "trieanyorder foo, *",
      "trieanyorder smallValues, *",
      "trieanyorder testy, *",
    ],
    {
      reason:
        "by design: a trie of ours has keys of one length, as all keys of the state have, so no branch has a value; the " +
        "same tests pass with hashed keys",
    },
  ),
  ...all(
    "basefee",
    "expected",
    [
      "above the limit, *",
      "at the target, *",
      "below the target, rounded, *",
      "after an empty block, case 117: 0 of 9000000",
    ],
    {
      reason:
        "the table follows a draft of EIP-1559, which capped the rise and rounded falls up; the final rule is what " +
        "recorded chains show (test/execution/fees.test.ts)",
    },
  ),
];

function all(
  suite: string,
  says: string,
  cases: readonly string[],
  { reason }: Pick<ExpectedFailure, "reason">,
): ExpectedFailure[] {
  return cases.map((one) => ({ suite, case: one, says, reason }));
}
