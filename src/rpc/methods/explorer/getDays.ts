import type { CountedDay } from "../../../accounts/indexReader.ts";
import { quantityOrNull, toQuantity } from "../../../primitives/quantity.ts";
import { ERRORS } from "../../errors/errors.ts";
import { defineMethod, type Json, optional, required } from "../../method.ts";
import { decodePageSize } from "../../parameters/explorerParameters.ts";
import { decodeIndex } from "../../parameters/parameters.ts";
import { GIVEN_QUANTITY, OBJECT } from "../../schemas.ts";

/** Days of one answer: a year and a day. */
const MOST_DAYS = 366;
/** A day after all others, in days since 1970. */
const LAST_DAY = 2 ** 32 - 2;

export const explorerGetDays = defineMethod({
  name: "explorer_getDays",
  namespace: "EXPLORER",
  summary: "Transactions, gas, fees, new accounts and times between blocks by day, the newest first.",
  parameters: [
    required("count", decodePageSize(MOST_DAYS), GIVEN_QUANTITY),
    optional("newest", decodeIndex, GIVEN_QUANTITY),
  ],
  result: { name: "days", schema: OBJECT },
  ports: ["chain", "accounts"],
  mayOverlap: "few",
  async run([count, newest = LAST_DAY], { backend: { chain, accounts } }) {
    if (accounts === undefined) return ERRORS.accountIndexOff;
    return accounts.read(chain, async (view) => ({
      days: (await view.days(newest, count)).map(dayJson),
      firstBlock: quantityOrNull(view.counted?.first),
      lastBlock: quantityOrNull(view.counted && view.counted.next - 1),
    }));
  },
});

function dayJson(one: CountedDay): Json {
  return {
    day: toQuantity(one.day),
    firstBlock: toQuantity(one.firstBlock),
    lastBlock: toQuantity(one.lastBlock),
    transactions: toQuantity(one.transactions),
    gasUsed: toQuantity(one.gasUsed),
    fees: toQuantity(one.feesWei),
    newAccounts: toQuantity(one.newAccounts),
    spacing: toQuantity(one.spacingSeconds),
    longestSpacing: toQuantity(one.longestSeconds),
  };
}
