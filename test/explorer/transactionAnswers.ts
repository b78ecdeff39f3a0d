import type { Answering } from "./scriptedNode.ts";

export const HASH = `0x${"7e".repeat(32)}`;
const SENDER = `0x${"b2".repeat(20)}`;
const RECEIVER = `0x${"c3".repeat(20)}`;

/** What a node answers about a transaction of block 1, with these members changed. */
export function aTransactionAnswer(
  change: { readonly transaction?: object; readonly receipt?: object } = {},
): Readonly<Record<string, Answering>> {
  return {
    eth_getTransactionByHash: () => ({ ...TRANSACTION, ...change.transaction }),
    eth_getTransactionReceipt: () => ({ ...RECEIPT, ...change.receipt }),
    debug_traceTransaction: () => TRACE,
  };
}

/** A call of the transaction, as the callTracer gives it. */
export const TRACE = { type: "CALL", from: SENDER, to: RECEIVER, gasUsed: "0x5208", input: "0x" };

const TRANSACTION = {
  hash: HASH,
  blockNumber: "0x1",
  transactionIndex: "0x0",
  from: SENDER,
  to: RECEIVER,
  value: "0x1",
  nonce: "0x0",
  gas: "0x5208",
  gasPrice: "0x0",
  input: "0x",
  type: "0x2",
};

const RECEIPT = {
  transactionHash: HASH,
  blockNumber: "0x1",
  status: "0x1",
  gasUsed: "0x5208",
  effectiveGasPrice: "0x0",
  contractAddress: null,
  logs: [],
};
