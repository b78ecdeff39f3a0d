import type { ExpectedFailure } from "./comparison.ts";

/** The expected failures of each run, by suite, with reasons. */
export const EXPECTED_FAILURES: readonly ExpectedFailure[] = [
  {
    suite: "chain",
    case: "besu-jsonrpc/chains/mainnet/badpow.blocks",
    says: "block 1 is accepted, whose proof of work is wrong",
    reason: "Proofs of work are not checked: IBFT chains have none, and these chains are only executed.",
  },
  ...(["staged: 61", "past: 263", "zero: 52"] as const).map((place): ExpectedFailure => {
    const [chain, block] = place.split(": ");
    return {
      suite: "ibft",
      case: `besu-ibft/prague-25.4.1/${chain}`,
      says: `block ${block}: wrongGasUsed`,
      reason:
        "It calls a BLS12-381 precompile, which the recorded build did not have, so all gas was consumed.",
    };
  }),
  ...all(
    "genesis",
    "which this version does not know",
    ["besu-core/networks/experimental.json", "besu-core/networks/future.json"],
    {
      reason: "by design: a chain with unknown forks is refused, and these name experimental forks",
    },
  ),
  ...all("precompile", "INSUFFICIENT_GAS", ["eip152-blake2f 4 prague"], {
    reason: "2^32 - 1 rounds cost as much gas, which is more than any block has",
  }),
  ...all("precompile", "by a contract: 0x00", ["eip152-blake2f 4 prague, by a contract"], {
    reason: "the same",
  }),
  ...all("tracer", "result.output is missing", ["call_tracer_withLog/frontier_create_outofstorage.json"], {
    reason:
      "Frontier's contracts that cannot pay for their code: the code is not shown; no IBFT chain uses Frontier",
  }),
  ...all("tracer", "action.balance is missing", ["call_tracer_flat/callcode_precompiled_fail_hide.json"], {
    reason: "a balance in a call, which go-ethereum's tracer no longer shows",
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
        "by design: our trie has keys of one length, as all state keys are, so branches have no values; the " +
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
        "the table follows a draft of EIP-1559, which capped increases and rounded decreases up; recorded chains follow " +
        "the final rule (test/execution/fees.test.ts)",
    },
  ),
  ...all(
    "rpc",
    "error.code is 3",
    ["besu-jsonrpc/eth_latest/eth_call_revert.json", "besu-jsonrpc/eth_latest/eth_estimateGas_revert.json"],
    { reason: "by ruling: a revert has the standard's code 3, with Besu's message and data" },
  ),
  ...all(
    "rpc",
    "eth_call: answer.error is missing",
    ["besu-jsonrpc/eth/eth_call_gasPriceTooHigh_block_8.json"],
    {
      reason:
        "by ruling: eth_call without strict does not fail because of a low balance, as the interface document says",
    },
  ),
  ...all(
    "rpc",
    "netBlockReward",
    [
      "besu-jsonrpc/eth/eth_getMinerDataByBlockHash.json",
      "besu-jsonrpc/eth/eth_getMinerDataByBlockNumber.json",
    ],
    { reason: "a reward for proof of work, which IBFT chains do not pay" },
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
    { reason: "Besu accepts decimal numbers, and hashes without 0x (json-rpc.md#parameters)" },
  ),
  ...all("rpc", 'expected "0x03f9', ["execution-apis/debug_getRawReceipts/get-block-n.io"], {
    reason: "Besu wraps a typed receipt in a byte string (json-rpc.md#debug)",
  }),
  ...all("rpc", "result.gasUsed", ["execution-apis/eth_createAccessList/create-al-contract-eip1559.io"], {
    reason: "Besu inflates the figure (json-rpc.md#eth_createaccesslist)",
  }),
  ...all("rpc", "result is", ["execution-apis/eth_estimateGas/estimate-successful-call.io"], {
    reason:
      "Besu's search is more exact than that of the client that made this case (json-rpc.md#eth_estimategas)",
  }),
  ...all("rpc", "blobGasUsedRatio", ["besu-jsonrpc/eth/eth_feeHistory_fieldNamesWithoutReward.json"], {
    reason: "headers of an IBFT chain have no blob gas (ibft2.md#later-forks)",
  }),
  ...all("rpc", "baseFeePerBlobGas", ["execution-apis/eth_feeHistory/fee-history.io"], {
    reason:
      "headers of an IBFT chain have no blob gas, so its price is always the lowest (ibft2.md#later-forks)",
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
  ...all("rpc", "storageProof.0.key", ["execution-apis/eth_getProof/get-account-proof-with-storage.io"], {
    reason: "Besu shows a key without leading zeros (json-rpc.md#eth_getproof)",
  }),
  ...all(
    "rpc",
    "error.code is -32602, expected -32000",
    [
      "execution-apis/eth_getStorageAt/get-storage-invalid-key-too-large.io",
      "execution-apis/eth_getStorageAt/get-storage-invalid-key.io",
    ],
    { reason: "Besu's code for invalid parameters" },
  ),
  ...all("rpc", "assert(false)", ["execution-apis/eth_call/call-revert-abi-panic.io"], {
    reason: "Besu does not decode panics (json-rpc-errors.md#reverts)",
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
