import type { Hash } from "../../../primitives/hash.ts";
import { readRlpString } from "../../../primitives/rlp.ts";
import type { SubmissionErrorCode } from "../../../txpool/errors.ts";
import { ERRORS } from "../../errors/errors.ts";
import { SUBMISSION_ERRORS } from "../../errors/submissionErrors.ts";
import { FieldError } from "../graphQlError.ts";
import type { GraphQlContext } from "../request.ts";
import { rpcError } from "./sources.ts";

/**
 * Adds a transaction to the pool as a local one. It comes as an item of a block's body, in which one of a type is an RLP string, or as
 * libraries sign it. Throws a FieldError with Besu's number and text, which differ from those of eth_sendRawTransaction.
 */
export async function sendRawTransaction(item: Uint8Array, context: GraphQlContext): Promise<Hash> {
  const submitted = await context.backend.pool.submit(canonical(item), context);
  if (submitted.ok) return submitted.value;
  throw (
    TEXTS[submitted.error.code] ?? new FieldError(ERRORS.internalError.message, ERRORS.internalError.code)
  );
}

/** The transaction's own encoding. */
function canonical(item: Uint8Array): Uint8Array {
  const [first = 0] = item;
  if (first >= LIST || first < RLP_STRING) return item;
  try {
    const raw = readRlpString(item);
    if (raw.length > 1) return raw;
  } catch {
    // Refused below, as what is no RLP string.
  }
  throw rpcError(ERRORS.invalidParams);
}

const LIST = 0xc0;
/** Begins an RLP string of more than a byte; what begins below is a type. */
const RLP_STRING = 0x80;

const TEXTS: Readonly<Partial<Record<SubmissionErrorCode, FieldError>>> = {
  malformedTransaction: new FieldError("Invalid params", -32602),
  unsupportedV: new FieldError("Invalid params", -32602),
  unknownTransactionType: new FieldError("Invalid params", -32602),
  nonceTooLow: new FieldError("Nonce too low", -32001),
  invalidSignature: new FieldError("Invalid signature", -32002),
  intrinsicGasAboveLimit: new FieldError("Intrinsic gas exceeds gas limit", -32003),
  upfrontCostAboveBalance: new FieldError("Upfront cost exceeds account balance", -32004),
  gasLimitAboveBlock: new FieldError("Transaction gas limit exceeds block gas limit", -32005),
  senderNotAuthorized: new FieldError("Sender account not authorized to send transactions", -32007),
  stateUnavailable: new FieldError("Initial sync is still in progress", -32008),
  gasPriceTooLow: new FieldError("Gas price below configured minimum gas price", -32009),
  wrongChainId: new FieldError("Wrong Chain ID in transaction signature", -32000),
  chainIdNotSupported: new FieldError("Signatures with replay protection are not supported", -32000),
  feeCapExceeded: new FieldError("Transaction fee cap exceeded", -32000),
  // Not in Besu: these are answered as by JSON-RPC.
  poolFull: rpcError(SUBMISSION_ERRORS.poolFull),
  tooManyWaiting: rpcError(SUBMISSION_ERRORS.tooManyWaiting),
};
