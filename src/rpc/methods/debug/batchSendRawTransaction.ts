import { parseHex } from "../../../primitives/hex.ts";
import { defineMethod, rest } from "../../method.ts";
import { decodeText } from "../../parameters.ts";
import type { RpcPorts, SubmissionRejectionCode } from "../../ports.ts";
import { DATA, listOf, OBJECT } from "../../schemas.ts";

/** Each parameter is a transaction of its own; what is none is told beside the others. */
export const debugBatchSendRawTransaction = defineMethod({
  name: "debug_batchSendRawTransaction",
  namespace: "DEBUG",
  summary: "Offers signed transactions to the pool, one after another; answers what came of each.",
  parameters: [rest("transactions", decodeText, DATA)],
  result: { name: "results", schema: listOf(OBJECT) },
  async run([texts], { backend }) {
    const results: object[] = [];
    for (const [index, text] of texts.entries()) {
      const flaw = await submit(text, backend);
      results.push({ index, success: flaw === undefined, ...(flaw !== undefined && { errorMessage: flaw }) });
    }
    return results;
  },
});

async function submit(text: string, backend: Pick<RpcPorts, "submit">): Promise<string | undefined> {
  const raw = parseHex(text);
  if (raw === undefined) return NOT_HEX;
  const outcome = await backend.submit(raw);
  return outcome.ok ? undefined : REASONS[outcome.rejection.code];
}

const NOT_HEX = "Invalid raw transaction hex";

/** The incumbent's own names of its reasons, which it shows here and nowhere else. */
const REASONS: Readonly<Record<SubmissionRejectionCode, string>> = {
  malformedTransaction: "Invalid RLP in raw transaction hex",
  unknownTransactionType: NOT_HEX,
  knownTransaction: "TRANSACTION_ALREADY_KNOWN",
  feeCapExceeded: "TX_FEECAP_EXCEEDED",
  gasPriceTooLow: "GAS_PRICE_TOO_LOW",
  wrongChainId: "WRONG_CHAIN_ID",
  chainIdNotSupported: "REPLAY_PROTECTED_SIGNATURES_NOT_SUPPORTED",
  replayProtectionRequired: "REPLAY_PROTECTED_SIGNATURE_REQUIRED",
  invalidSignature: "INVALID_SIGNATURE",
  invalidTransactionType: "INVALID_TRANSACTION_FORMAT",
  nonceOverflow: "NONCE_OVERFLOW",
  initCodeTooLarge: "INITCODE_TOO_LARGE",
  upfrontCostOverflow: "UPFRONT_COST_EXCEEDS_UINT256",
  priorityFeeAboveFeeCap: "MAX_PRIORITY_FEE_PER_GAS_EXCEEDS_MAX_FEE_PER_GAS",
  intrinsicGasAboveLimit: "INTRINSIC_GAS_EXCEEDS_GAS_LIMIT",
  gasLimitAboveBlock: "EXCEEDS_BLOCK_GAS_LIMIT",
  stateUnavailable: "CHAIN_HEAD_WORLD_STATE_NOT_AVAILABLE",
  senderNotAuthorized: "TX_SENDER_NOT_AUTHORIZED",
  upfrontCostAboveBalance: "UPFRONT_COST_EXCEEDS_BALANCE",
  nonceTooLow: "NONCE_TOO_LOW",
  nonceTooDistant: "NONCE_TOO_FAR_IN_FUTURE_FOR_SENDER",
  replacementUnderpriced: "TRANSACTION_REPLACEMENT_UNDERPRICED",
  poolDisabled: "TX_POOL_DISABLED",
};
