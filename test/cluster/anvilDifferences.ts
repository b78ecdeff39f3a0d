import type { ListedDifference } from "./answerComparison.ts";

const BLOCKS = ["eth_getBlockByNumber", "eth_getBlockByHash"];
const RECEIPTS = ["eth_getTransactionReceipt", "eth_getBlockReceipts"];
const TRANSACTIONS = [
  "eth_getTransactionByHash",
  "eth_getTransactionByBlockNumberAndIndex",
  "eth_getTransactionByBlockHashAndIndex",
];
const CALL_TRACES = [" withLog", " onlyTopCall"].map((form) => `debug_traceTransaction callTracer${form}`);

/** What each chain's own consensus, and each node's own idea of an answer, makes of the same transactions. */
export const LISTED: readonly ListedDifference[] = [
  ...rows("an IBFT header counts and seals otherwise, and covers no withdrawals or blobs", BLOCKS, [
    "result.difficulty",
    "result.totalDifficulty",
    "result.extraData",
    "result.mixHash",
    "result.size",
    "result.blobGasUsed",
    "result.excessBlobGas",
    "result.parentBeaconBlockRoot",
    "result.withdrawals",
    "result.withdrawalsRoot",
  ]),
  ...rows("anvil names an empty state in its genesis block, and keeps slots that became zero", BLOCKS, [
    "result.stateRoot",
  ]),
  ...rows(
    "anvil keeps slots that became zero in its tries",
    ["eth_getProof later"],
    ["result.accountProof*", "result.storageHash", "result.storageProof[].proof*"],
  ),
  ...rows("anvil adds it; the incumbent does not", BLOCKS, ["result.transactions[].blockTimestamp"]),
  ...rows("anvil adds it; the incumbent does not", TRANSACTIONS, ["result.blockTimestamp"]),
  ...["result", "result[]"].flatMap((member, index) =>
    rows("anvil adds it; the incumbent does not", RECEIPTS.slice(index, index + 1), [
      `${member}.blockTimestamp`,
      `${member}.blobGasPrice`,
      `${member}.logs[].blockTimestamp`,
    ]),
  ),
  ...rows(
    "anvil adds it; the incumbent does not",
    ["eth_getLogs", "eth_getFilterLogs"],
    ["result[].blockTimestamp"],
  ),
  ...rows("without blobs in a header their price is zero", ["eth_feeHistory"], ["result.baseFeePerBlobGas*"]),
  ...rows("without blobs in a header their price is zero", ["eth_blobBaseFee"], ["result"]),
  ...rows("not asked for: left out, as the incumbent does", ["eth_feeHistory"], ["result.reward"]),
  ...rows(
    "the incumbent proves no account that is absent",
    ["eth_getProof", "eth_getProof later"],
    ["error", "result"],
  ),
  ...rows(
    "the incumbent wants as many topics as there are positions",
    ["eth_getLogs any topics"],
    ["result"],
  ),
  ...rows(
    "the incumbent finds nothing in a block that it does not know",
    ["eth_getLogs unknown block"],
    ["result", "error"],
  ),
  ...rows("each in its own words", ["*"], ["error.message"]),
  ...rows("the incumbent's codes", ["eth_call", "eth_estimateGas", "eth_createAccessList"], ["error.code"]),
  ...rows("the incumbent's codes", ["eth_createAccessList without funds"], ["error.code"]),
  ...rows("no call wants for balance unless it is strict", ["eth_call without funds"], ["result", "error"]),
  ...rows("the incumbent's codes", ["eth_call with gas", "eth_sendRawTransaction"], ["error.code"]),
  ...rows("the incumbent asks for the value too", ["eth_estimateGas without funds"], ["result", "error"]),
  ...rows(
    "the incumbent ignores the gas given",
    ["eth_estimateGas with gas", "eth_createAccessList with gas"],
    ["result", "error"],
  ),
  ...rows(
    "the incumbent's search begins where all gas but a 64th was burnt",
    ["eth_estimateGas burning gas"],
    ["result"],
  ),
  ...rows(
    "the incumbent lists only accounts whose storage is used",
    ["eth_createAccessList"],
    ["result.accessList"],
  ),
  ...rows(
    "the incumbent adds a share for calls in calls",
    ["eth_createAccessList", "eth_createAccessList burning gas"],
    ["result.gasUsed"],
  ),
  ...rows("anvil gives what is left for the frame, and the gas of the block so far", CALL_TRACES, [
    "result.gas",
    "result.gasUsed",
  ]),
  ...rows("anvil gives the gas of the block so far", ["debug_traceTransaction structLogs"], ["result.gas"]),
  ...rows("anvil gives what is left for the frame", ["debug_traceCall callTracer"], ["result.gas"]),
  ...rows(
    "anvil has the words of its EVM, Ibex those of go-ethereum",
    [...CALL_TRACES, "debug_traceCall callTracer"],
    ["result.error"],
  ),
  ...rows(
    "anvil has the words of its EVM, Ibex those of go-ethereum",
    ["debug_traceTransaction callTracer withLog"],
    ["result.calls[].error"],
  ),
  ...rows(
    "anvil adds it; go-ethereum does not",
    ["debug_traceTransaction callTracer withLog"],
    ["result.logs[].index"],
  ),
  ...rows(
    "the incumbent's step of a plain transfer and of a precompiled contract",
    ["debug_traceTransaction structLogs"],
    ["result.structLogs"],
  ),
  ...rows(
    "the incumbent gives no value back from a revert",
    ["debug_traceTransaction structLogs"],
    ["result.returnValue"],
  ),
  ...rows(
    "a price is named by the transactions before",
    ["eth_gasPrice", "eth_maxPriorityFeePerGas"],
    ["result"],
  ),
  ...rows("the incumbent's errors of a trace", ["debug_traceCall callTracer"], ["error.code", "error.data"]),
  ...rows("a development network has no peers", ["net_listening"], ["result"]),
  ...rows("another program", ["web3_clientVersion"], ["result"]),
];

function rows(
  reason: string,
  methods: readonly string[],
  members: readonly string[],
): readonly ListedDifference[] {
  return methods.flatMap((method) => members.map((member) => ({ method, member, reason })));
}
