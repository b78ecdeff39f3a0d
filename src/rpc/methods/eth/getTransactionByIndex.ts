import { type StoredBlock, transactionAt } from "../../../types/block.ts";
import { RpcError } from "../../errors/errors.ts";
import { defineMethod, type JsonStream, type RawJson, required } from "../../method.ts";
import { decodeNumberOrTag, findBlock } from "../../parameters/blockParameter.ts";
import { decodeHash, decodeIndex } from "../../parameters/parameters.ts";
import { transactionAnswer } from "../../results/transactionResult.ts";
import { GIVEN_QUANTITY, HASH, NUMBER_OR_TAG, OBJECT, orNull } from "../../schemas.ts";

const INDEX = required("index", decodeIndex, GIVEN_QUANTITY);
const RESULT = { name: "transaction", schema: orNull(OBJECT) };

export const ethGetTransactionByBlockNumberAndIndex = defineMethod({
  name: "eth_getTransactionByBlockNumberAndIndex",
  namespace: "ETH",
  summary: "A transaction by its index in a block given by number or tag.",
  parameters: [required("block", decodeNumberOrTag, NUMBER_OR_TAG), INDEX],
  result: RESULT,
  ports: ["chain"],
  run([choice, index], { backend }) {
    const block = findBlock(backend.chain, choice);
    return block instanceof RpcError ? block : show(block, index);
  },
});

export const ethGetTransactionByBlockHashAndIndex = defineMethod({
  name: "eth_getTransactionByBlockHashAndIndex",
  namespace: "ETH",
  summary: "A transaction by its index in a block given by hash.",
  parameters: [required("hash", decodeHash, HASH), INDEX],
  result: RESULT,
  ports: ["chain"],
  run([hash, index], { backend }) {
    return show(backend.chain.blockByHash(hash), index);
  },
});

function show(block: StoredBlock | undefined, index: number): RawJson | JsonStream | null {
  const transaction = block && transactionAt(block, index);
  return block === undefined || transaction === undefined
    ? null
    : transactionAnswer({ block, transaction, index });
}
