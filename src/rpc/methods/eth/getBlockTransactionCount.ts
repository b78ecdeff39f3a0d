import { toQuantity } from "../../../primitives/quantity.ts";
import { transactionCountOf } from "../../../types/block.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeNumberOrTag, numberOf } from "../../parameters/blockParameter.ts";
import { decodeHash } from "../../parameters/parameters.ts";
import { HASH, NUMBER_OR_TAG, orNull, QUANTITY } from "../../schemas.ts";

const RESULT = { name: "count", schema: orNull(QUANTITY) };

/** The only method by block number that answers null for a negative number, as in Besu. */
export const ethGetBlockTransactionCountByNumber = defineMethod({
  name: "eth_getBlockTransactionCountByNumber",
  namespace: "ETH",
  summary: "How many transactions a block has, by number or tag.",
  parameters: [required("block", decodeNumberOrTag, NUMBER_OR_TAG)],
  result: RESULT,
  ports: ["chain"],
  run([choice], { backend: { chain } }) {
    const number = numberOf(chain, choice);
    const block = number < 0n ? undefined : chain.blockByNumber(number);
    return block === undefined ? null : toQuantity(transactionCountOf(block));
  },
});

export const ethGetBlockTransactionCountByHash = defineMethod({
  name: "eth_getBlockTransactionCountByHash",
  namespace: "ETH",
  summary: "How many transactions a block has, by hash.",
  parameters: [required("hash", decodeHash, HASH)],
  result: RESULT,
  ports: ["chain"],
  run([hash], { backend: { chain } }) {
    const block = chain.blockByHash(hash);
    return block === undefined ? null : toQuantity(transactionCountOf(block));
  },
});
