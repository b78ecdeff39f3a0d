import { parseHex } from "../../../primitives/hex.ts";
import { REJECTION_REASONS } from "../../../txpool/besuNames.ts";
import type { SubmissionErrorCode } from "../../../txpool/errors.ts";
import { ERRORS } from "../../errors/errors.ts";
import { type ContextOf, defineMethod, type Json, rest } from "../../method.ts";
import { decodeText } from "../../parameters/parameters.ts";
import { GIVEN_DATA, listOf, OBJECT } from "../../schemas.ts";

/** Each parameter is one transaction; an invalid one gets an error entry among the others. */
export const debugBatchSendRawTransaction = defineMethod({
  name: "debug_batchSendRawTransaction",
  namespace: "DEBUG",
  summary: "Sends signed transactions to the pool, one after another; returns the result for each.",
  parameters: [rest("transactions", decodeText, GIVEN_DATA)],
  result: { name: "results", schema: listOf(OBJECT) },
  ports: ["pool"],
  async run([texts], context) {
    const results: Json[] = [];
    for (const [index, text] of texts.entries()) {
      const error = await submit(text, context);
      results.push({
        index,
        success: error === undefined,
        ...(error !== undefined && { errorMessage: error }),
      });
    }
    return results;
  },
});

async function submit(text: string, context: ContextOf<"pool">): Promise<string | undefined> {
  const raw = parseHex(text);
  if (raw === undefined) return NOT_HEX;
  const submitted = await context.backend.pool.submit(raw, context);
  if (submitted.ok) return undefined;
  const { code, message } = submitted.error;
  return code === "unsupportedV" ? message : REASONS[code];
}

const NOT_HEX = "Invalid raw transaction hex";

/** Besu shows its internal names of the reasons here, and nowhere else. */
const REASONS: Readonly<Record<Exclude<SubmissionErrorCode, "unsupportedV">, string>> = {
  ...REJECTION_REASONS,
  malformedTransaction: "Invalid RLP in raw transaction hex",
  unknownTransactionType: NOT_HEX,
  tooManyWaiting: ERRORS.tooManyCalls.message,
};
