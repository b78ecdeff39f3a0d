import { ERRORS, invalidParams } from "../../errors/errors.ts";
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
    if (blockCount < 1 || blockCount > MAX_BLOCKS)
      return invalidParams(`parameter 1 (blockCount) is not between 1 and ${MAX_BLOCKS}`);
    if (blockCount * (percentiles?.length ?? 0) > MAX_REWARDS)
      return invalidParams(`more than ${MAX_REWARDS} priority fees are asked for`);
    if (percentiles?.some(isBelowPrevious) === true) return invalidParams("parameter 3 (percentiles) falls");
    const newest = numberOf(chain, choice);
    if (newest > chain.head.header.number)
      return invalidParams("parameter 2 (newestBlock) is above the head");
    if (newest < 0n) return ERRORS.internalError;
    if (newest > 0n && newest < chain.historyStart.blocks) return ERRORS.historyNotStored;
    const isAbandoned = () => context.isAbandoned();
    return new RawJson(
      feeHistoryJson(await feeHistory.read({ newest, blockCount, percentiles, isAbandoned })),
    );
  },
});

/** The interface document has percentiles rise: Besu sorts them, so its rewards stand in another order than was asked. */
function isBelowPrevious(percentile: number, index: number, all: readonly number[]): boolean {
  return percentile < (all[index - 1] ?? percentile);
}
