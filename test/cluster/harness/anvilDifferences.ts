import type { ListedDifference } from "./answerComparison.ts";

const BLOCKS = ["eth_getBlockByNumber", "eth_getBlockByHash"];
const RECEIPTS = ["eth_getTransactionReceipt", "eth_getBlockReceipts"];
const TRANSACTIONS = [
  "eth_getTransactionByHash",
  "eth_getTransactionByBlockNumberAndIndex",
  "eth_getTransactionByBlockHashAndIndex",
];
const CALL_TRACES = [" withLog", " onlyTopCall"].map((form) => `debug_traceTransaction callTracer${form}`);

/** Differences due to each chain's own consensus, and to each node's own format of answers. */
export const LISTED: readonly ListedDifference[] = [
  ...rows("an IBFT header has another difficulty and seals, and no withdrawals or blobs", BLOCKS, [
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
  ...rows("anvil has an empty state root in its genesis block, and keeps slots that became zero", BLOCKS, [
    "result.stateRoot",
  ]),
  ...rows(
    "anvil keeps slots that became zero in its tries",
    ["eth_getProof later"],
    ["result.accountProof*", "result.storageHash", "result.storageProof[].proof*"],
  ),
  ...rows("anvil adds it; Besu does not", BLOCKS, ["result.transactions[].blockTimestamp"]),
  ...rows("anvil adds it; Besu does not", TRANSACTIONS, ["result.blockTimestamp"]),
  ...["result", "result[]"].flatMap((member, index) =>
    rows("anvil adds it; Besu does not", RECEIPTS.slice(index, index + 1), [
      `${member}.blockTimestamp`,
      `${member}.blobGasPrice`,
      `${member}.logs[].blockTimestamp`,
    ]),
  ),
  ...rows("anvil adds it; Besu does not", ["eth_getLogs", "eth_getFilterLogs"], ["result[].blockTimestamp"]),
  ...rows("without blobs in a header their price is zero", ["eth_feeHistory"], ["result.baseFeePerBlobGas*"]),
  ...rows("without blobs in a header their price is zero", ["eth_blobBaseFee"], ["result"]),
  ...rows("without percentiles Besu omits it", ["eth_feeHistory"], ["result.reward"]),
  ...rows(
    "Besu gives no proof for absent accounts",
    ["eth_getProof", "eth_getProof later"],
    ["error", "result"],
  ),
  ...rows("Besu requires as many topics as there are positions", ["eth_getLogs any topics"], ["result"]),
  ...rows("Besu finds no logs in an unknown block", ["eth_getLogs unknown block"], ["result", "error"]),
  ...rows("messages differ", ["*"], ["error.message"]),
  ...rows("Besu's codes", ["eth_call", "eth_estimateGas", "eth_createAccessList"], ["error.code"]),
  ...rows("Besu's codes", ["eth_createAccessList without funds"], ["error.code"]),
  ...rows("only strict calls need a balance", ["eth_call without funds"], ["result", "error"]),
  ...rows("Besu's codes", ["eth_call with gas", "eth_sendRawTransaction"], ["error.code"]),
  ...rows("Besu requires a balance for the value", ["eth_estimateGas without funds"], ["result", "error"]),
  ...rows(
    "Besu ignores the gas parameter",
    ["eth_estimateGas with gas", "eth_createAccessList with gas"],
    ["result", "error"],
  ),
  ...rows(
    "Besu's search starts from a run that burnt all gas but a 64th",
    ["eth_estimateGas burning gas"],
    ["result"],
  ),
  ...rows("Besu lists only accounts whose storage is used", ["eth_createAccessList"], ["result.accessList"]),
  ...rows(
    "Besu adds a share for nested calls",
    ["eth_createAccessList", "eth_createAccessList burning gas"],
    ["result.gasUsed"],
  ),
  ...rows("anvil shows the gas left for the frame, and the gas of the block so far", CALL_TRACES, [
    "result.gas",
    "result.gasUsed",
  ]),
  ...rows("anvil shows the gas of the block so far", ["debug_traceTransaction structLogs"], ["result.gas"]),
  ...rows("anvil shows the gas left for the frame", ["debug_traceCall callTracer"], ["result.gas"]),
  ...rows(
    "anvil has the error texts of its EVM, Ibex those of go-ethereum",
    [...CALL_TRACES, "debug_traceCall callTracer"],
    ["result.error"],
  ),
  ...rows(
    "anvil has the error texts of its EVM, Ibex those of go-ethereum",
    ["debug_traceTransaction callTracer withLog"],
    ["result.calls[].error"],
  ),
  ...rows(
    "anvil adds it; go-ethereum does not",
    ["debug_traceTransaction callTracer withLog"],
    ["result.logs[].index"],
  ),
  ...rows(
    "Besu's step for a plain transfer and a precompiled contract",
    ["debug_traceTransaction structLogs"],
    ["result.structLogs"],
  ),
  ...rows(
    "Besu shows no return value of a revert",
    ["debug_traceTransaction structLogs"],
    ["result.returnValue"],
  ),
  ...rows(
    "the price depends on earlier transactions",
    ["eth_gasPrice", "eth_maxPriorityFeePerGas"],
    ["result"],
  ),
  ...rows("Besu's errors of a trace", ["debug_traceCall callTracer"], ["error.code", "error.data"]),
  ...rows(
    "Ibex says what is wrong with a parameter, as the error's data",
    ["eth_sendRawTransaction"],
    ["error.data"],
  ),
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
