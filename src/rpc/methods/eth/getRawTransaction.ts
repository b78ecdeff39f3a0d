import { type StoredBlock, transactionAt } from "../../../types/block.ts";
import { RpcError } from "../../errors/errors.ts";
import { defineMethod, type JsonStream, required } from "../../method.ts";
import { decodeNumberOrTag, findBlock } from "../../parameters/blockParameter.ts";
import { decodeHash, decodeIndex } from "../../parameters/parameters.ts";
import { dataAnswer } from "../../results/dataAnswer.ts";
import { DATA, GIVEN_QUANTITY, HASH, NUMBER_OR_TAG } from "../../schemas.ts";

/**
 * The bytes of transactions as they were sent, by their places; getTransactionByHash.ts has the method for their hashes. Besu has no such
 * methods. An unknown transaction is "0x", as in go-ethereum.
 */

const INDEX = required("index", decodeIndex, GIVEN_QUANTITY);
const RESULT = { name: "transaction", schema: DATA };
const NOT_FOUND = "0x";

export const ethGetRawTransactionByBlockNumberAndIndex = defineMethod({
  name: "eth_getRawTransactionByBlockNumberAndIndex",
  namespace: "ETH",
  summary: "The bytes of a transaction by its index in a block given by number or tag.",
  parameters: [required("block", decodeNumberOrTag, NUMBER_OR_TAG), INDEX],
  result: RESULT,
  ports: ["chain"],
  run([choice, index], { backend }) {
    const block = findBlock(backend.chain, choice);
    return block instanceof RpcError ? block : show(block, index);
  },
});

export const ethGetRawTransactionByBlockHashAndIndex = defineMethod({
  name: "eth_getRawTransactionByBlockHashAndIndex",
  namespace: "ETH",
  summary: "The bytes of a transaction by its index in a block given by hash.",
  parameters: [required("hash", decodeHash, HASH), INDEX],
  result: RESULT,
  ports: ["chain"],
  run([hash, index], { backend }) {
    return show(backend.chain.blockByHash(hash), index);
  },
});

function show(block: StoredBlock | undefined, index: number): string | JsonStream {
  const transaction = block && transactionAt(block, index);
  return transaction === undefined ? NOT_FOUND : dataAnswer(transaction.raw);
}
