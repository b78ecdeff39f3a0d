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
  ...all("tracer", "result.output is missing", ["call_tracer_withLog/frontier_create_outofstorage.json"], {
    reason:
      "Frontier's contracts that cannot pay for their code: what they would have been is not shown; no IBFT chain is so old",
  }),
  ...all("tracer", "action.balance is missing", ["call_tracer_flat/callcode_precompiled_fail_hide.json"], {
    reason: "a balance in a call: an older tracer's, which go-ethereum's no longer shows",
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
  ...all(
    "rpc",
    "error.code is 3",
    ["besu-jsonrpc/eth_latest/eth_call_revert.json", "besu-jsonrpc/eth_latest/eth_estimateGas_revert.json"],
    { reason: "by ruling: a revert has the standard's code 3, with Besu's words and data" },
  ),
  ...all(
    "rpc",
    "eth_call: answer.error is missing",
    ["besu-jsonrpc/eth/eth_call_gasPriceTooHigh_block_8.json"],
    {
      reason:
        "by ruling: eth_call without strict does not fail for want of balance, as the interface document says",
    },
  ),
  ...all(
    "rpc",
    "netBlockReward",
    [
      "besu-jsonrpc/eth/eth_getMinerDataByBlockHash.json",
      "besu-jsonrpc/eth/eth_getMinerDataByBlockNumber.json",
    ],
    { reason: "a reward for proof of work, which no chain of ours pays" },
  ),
  ...all(
    "rpc",
    "error is missing",
    [
      "execution-apis/debug_getRawBlock/get-invalid-number.io",
      "execution-apis/debug_getRawHeader/get-invalid-number.io",
      "execution-apis/debug_getRawReceipts/get-invalid-number.io",
      "execution-apis/debug_getRawTransaction/get-invalid-hash.io",
    ],
    { reason: "Besu takes decimal numbers, and hashes without 0x (json-rpc.md#parameters)" },
  ),
  ...all("rpc", 'expected "0x03f9', ["execution-apis/debug_getRawReceipts/get-block-n.io"], {
    reason: "Besu wraps a typed receipt in a byte string (json-rpc.md#debug)",
  }),
  ...all("rpc", "result.gasUsed", ["execution-apis/eth_createAccessList/create-al-contract-eip1559.io"], {
    reason: "Besu inflates the figure (json-rpc.md#eth_createaccesslist)",
  }),
  ...all("rpc", "result is", ["execution-apis/eth_estimateGas/estimate-successful-call.io"], {
    reason: "Besu's search is more exact than the one that made this case (json-rpc.md#eth_estimategas)",
  }),
  ...all("rpc", "blobGasUsedRatio", ["besu-jsonrpc/eth/eth_feeHistory_fieldNamesWithoutReward.json"], {
    reason: "blob gas is in no header of an IBFT chain (ibft2.md#later-forks)",
  }),
  ...all("rpc", "baseFeePerBlobGas", ["execution-apis/eth_feeHistory/fee-history.io"], {
    reason:
      "blob gas is in no header of an IBFT chain, so its price is always the lowest (ibft2.md#later-forks)",
  }),
  ...all(
    "rpc",
    "result is missing",
    [
      "execution-apis/eth_getBlockReceipts/get-block-receipts-future.io",
      "execution-apis/eth_getBlockReceipts/get-block-receipts-not-found.io",
    ],
    {
      reason: "Besu answers an error where the standard has null (json-rpc.md#departures-from-the-standard)",
    },
  ),
  ...all("rpc", "result.0 is missing", ["execution-apis/eth_getLogs/topic-wildcard.io"], {
    reason: "an empty list of topics matches nothing with Besu (json-rpc.md#eth_getlogs)",
  }),
  ...all("rpc", "storageProof.0.key", ["execution-apis/eth_getProof/get-account-proof-with-storage.io"], {
    reason: "Besu shows a key in as few bytes as it takes (json-rpc.md#eth_getproof)",
  }),
  ...all(
    "rpc",
    "error.code is -32602, expected -32000",
    [
      "execution-apis/eth_getStorageAt/get-storage-invalid-key-too-large.io",
      "execution-apis/eth_getStorageAt/get-storage-invalid-key.io",
    ],
    { reason: "Besu's code for what cannot be decoded" },
  ),
  ...all("rpc", "assert(false)", ["execution-apis/eth_call/call-revert-abi-panic.io"], {
    reason: "Besu does not put a panic into words (json-rpc-errors.md#reverts)",
  }),
];

function all(
  suite: string,
  says: string,
  cases: readonly string[],
  { reason }: Pick<ExpectedFailure, "reason">,
): ExpectedFailure[] {
  return cases.map((one) => ({ suite, case: one, says, reason }));
}
