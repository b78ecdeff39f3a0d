import { blobBaseFee } from "../../../execution/blockRules.ts";
import { toHex } from "../../../primitives/hex.ts";
import { ERRORS, RpcError } from "../../errors/errors.ts";
import { SUBMISSION_ERRORS } from "../../errors/submissionErrors.ts";
import { defineMethod, optional, required } from "../../method.ts";
import { decodeData, decodeIndex } from "../../parameters/parameters.ts";
import { receiptAnswer } from "../../results/receiptResult.ts";
import { GIVEN_DATA, GIVEN_QUANTITY, INTEGER, OBJECT } from "../../schemas.ts";

/** Timeouts of go-ethereum, where clients find the method. */
const DEFAULT_TIMEOUT_MS = 20_000;
const MAX_TIMEOUT_MS = 60_000;

/** The code of EIP-7966 for a transaction that waits in the pool; its hash is the data. */
const NOT_INCLUDED_IN_TIME = 4;

export const ethSendRawTransactionSync = defineMethod({
  name: "eth_sendRawTransactionSync",
  namespace: "ETH",
  summary: "Sends a signed transaction to the pool, and returns its receipt once a block has it.",
  parameters: [
    required("transaction", decodeData, GIVEN_DATA),
    optional("timeoutMs", decodeIndex, { anyOf: [INTEGER, GIVEN_QUANTITY] }),
  ],
  result: { name: "receipt", schema: OBJECT },
  ports: ["pool", "inclusionWaits", "spec"],
  mayOverlap: "few",
  async run([raw, wanted = 0], context) {
    const { pool, inclusionWaits, spec } = context.backend;
    const timeoutMs = wanted > 0 ? Math.min(wanted, MAX_TIMEOUT_MS) : DEFAULT_TIMEOUT_MS;
    const answer = await inclusionWaits.within(context.remoteHost, async () => {
      const submitted = await pool.submit(raw, context);
      if (!submitted.ok) return SUBMISSION_ERRORS[submitted.error.code];
      const isAbandoned = () => context.isAbandoned();
      const located = await inclusionWaits.included(submitted.value, { timeoutMs, isAbandoned });
      if (located === undefined) return notIncluded(timeoutMs, toHex(submitted.value));
      const { number, timestamp } = located.block.header;
      return receiptAnswer(located, blobBaseFee(spec, number, timestamp));
    });
    return answer ?? ERRORS.tooManyCalls;
  },
});

function notIncluded(timeoutMs: number, hash: string): RpcError {
  const message = `The transaction was added to the transaction pool but wasn't processed in ${timeoutMs / 1000}s`;
  return new RpcError(NOT_INCLUDED_IN_TIME, message, hash);
}
