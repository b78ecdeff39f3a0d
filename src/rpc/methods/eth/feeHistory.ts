import { ERRORS } from "../../errors/errors.ts";
import { feeHistoryJson } from "../../fees/feeHistory.ts";
import { defineMethod, optional, RawJson, required } from "../../method.ts";
import { decodeNumberOrTag, numberOf } from "../../parameters/blockParameter.ts";
import { decodeIndex, decodeList, decodeNumber } from "../../parameters/parameters.ts";
import { GIVEN_QUANTITY, INTEGER, listOf, NUMBER, NUMBER_OR_TAG, OBJECT } from "../../schemas.ts";

const MAX_BLOCKS = 1024;
/** Priority fees in one answer: 200 percentiles for the most blocks. Besu has no limit. */
const MAX_REWARDS = 200 * MAX_BLOCKS;

export const ethFeeHistory = defineMethod({
  name: "eth_feeHistory",
  namespace: "ETH",
  summary: "Base fees, gas used and priority fees of consecutive blocks.",
  parameters: [
    required("blockCount", decodeIndex, { anyOf: [INTEGER, GIVEN_QUANTITY] }),
    required("newestBlock", decodeNumberOrTag, NUMBER_OR_TAG),
    optional("percentiles", decodeList(decodeNumber), listOf(NUMBER)),
  ],
  result: { name: "feeHistory", schema: OBJECT },
  ports: ["chain", "feeHistory"],
  async run([blockCount, choice, percentiles], context) {
    const { chain, feeHistory } = context.backend;
    if (blockCount < 1 || blockCount > MAX_BLOCKS) return ERRORS.invalidParams;
    if (blockCount * (percentiles?.length ?? 0) > MAX_REWARDS) return ERRORS.invalidParams;
    const newest = numberOf(chain, choice);
    if (newest > chain.head.header.number) return ERRORS.invalidParams;
    if (newest < 0n) return ERRORS.internalError;
    const isAbandoned = () => context.isAbandoned();
    return new RawJson(
      feeHistoryJson(await feeHistory.read({ newest, blockCount, percentiles, isAbandoned })),
    );
  },
});
