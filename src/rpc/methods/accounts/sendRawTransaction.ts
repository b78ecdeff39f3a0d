import { toHex } from "../../../primitives/hex.ts";
import { ERRORS } from "../../errors/errors.ts";
import { toolSubmissionError } from "../../errors/toolErrors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeData } from "../../parameters/parameters.ts";
import { GIVEN_DATA, HASH } from "../../schemas.ts";

/** The method of every network, with errors in which tools for development find what they look for. */
export const devSendRawTransaction = defineMethod({
  name: "eth_sendRawTransaction",
  namespace: "HARDHAT",
  alsoIn: ["ANVIL"],
  takesPlace: true,
  summary: "Sends a signed transaction to the pool; returns its hash.",
  parameters: [required("transaction", decodeData, GIVEN_DATA)],
  exactParams: 1,
  result: { name: "hash", schema: HASH },
  ports: ["pool"],
  mayOverlap: "many",
  async run([raw], context) {
    if (raw.length === 0) return ERRORS.internalError;
    const submitted = await context.backend.pool.submit(raw, context);
    return submitted.ok ? toHex(submitted.value) : toolSubmissionError(submitted.error.code);
  },
});
