import { blobBaseFee } from "../../../execution/blockRules.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeHash } from "../../parameters/parameters.ts";
import { receiptAnswer } from "../../results/receiptResult.ts";
import { HASH, OBJECT, orNull } from "../../schemas.ts";

export const ethGetTransactionReceipt = defineMethod({
  name: "eth_getTransactionReceipt",
  namespace: "ETH",
  summary: "The receipt of a mined transaction.",
  parameters: [required("hash", decodeHash, HASH)],
  result: { name: "receipt", schema: orNull(OBJECT) },
  ports: ["chain", "spec"],
  run([hash], { backend: { chain, spec } }) {
    const located = chain.transactionByHash(hash);
    if (located === undefined) return null;
    const { number, timestamp } = located.block.header;
    return receiptAnswer(located, blobBaseFee(spec, number, timestamp));
  },
});
