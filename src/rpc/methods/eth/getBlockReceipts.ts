import { readReceipts } from "../../../chain/readReceipts.ts";
import { blobBaseFee } from "../../../execution/blockRules.ts";
import { equalBytes } from "../../../primitives/hex.ts";
import { ERRORS, RpcError } from "../../errors/errors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeNumberTagOrHash, findHeader } from "../../parameters/blockParameter.ts";
import { blockReceiptsAnswer } from "../../results/receiptResult.ts";
import { listOf, NUMBER_TAG_OR_HASH, OBJECT } from "../../schemas.ts";

export const ethGetBlockReceipts = defineMethod({
  name: "eth_getBlockReceipts",
  namespace: "ETH",
  summary: "The receipts of all transactions of a block.",
  parameters: [required("block", decodeNumberTagOrHash, NUMBER_TAG_OR_HASH)],
  result: { name: "receipts", schema: listOf(OBJECT) },
  ports: ["chain", "spec"],
  async run([choice], { backend: { chain, spec } }) {
    const found = findHeader(chain, choice);
    if (found instanceof RpcError) return found;
    const block = chain.blockByNumber(found.header.number);
    if (block === undefined || !equalBytes(block.hash, found.hash)) return ERRORS.blockNotFound;
    if (!(await readReceipts(chain, block))) return ERRORS.blockNotFound;
    const { number, timestamp } = block.header;
    return blockReceiptsAnswer(block, blobBaseFee(spec, number, timestamp));
  },
});
