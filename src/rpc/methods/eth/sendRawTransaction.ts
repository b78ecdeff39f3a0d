import { toHex } from "../../../primitives/hex.ts";
import { ERRORS } from "../../errors/errors.ts";
import { SUBMISSION_ERRORS } from "../../errors/submissionErrors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeData } from "../../parameters/parameters.ts";
import { GIVEN_DATA, HASH } from "../../schemas.ts";

export const ethSendRawTransaction = defineMethod({
  name: "eth_sendRawTransaction",
  namespace: "ETH",
  summary: "Sends a signed transaction to the pool; returns its hash.",
  parameters: [required("transaction", decodeData, GIVEN_DATA)],
  exactParams: 1,
  result: { name: "hash", schema: HASH },
  ports: ["pool"],
  mayOverlap: "many",
  async run([raw], context) {
    if (raw.length === 0) return ERRORS.internalError;
    const submitted = await context.backend.pool.submit(raw, context);
    return submitted.ok ? toHex(submitted.value) : SUBMISSION_ERRORS[submitted.error.code];
  },
});
