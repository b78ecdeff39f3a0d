import type { Hash } from "../../../primitives/hash.ts";
import { readRlpString } from "../../../primitives/rlp.ts";
import type { SubmissionErrorCode } from "../../../txpool/errors.ts";
import { ERRORS } from "../../errors/errors.ts";
import { FieldError, rpcError } from "../graphQlError.ts";
import type { GraphQlContext } from "../request.ts";

/**
 * Adds a transaction to the pool as a local one. It comes as an item of a block's body, in which one of a type is an RLP string, or as
 * libraries sign it. Throws a FieldError with Besu's number and text, which differ from those of eth_sendRawTransaction.
 */
export async function sendRawTransaction(item: Uint8Array, context: GraphQlContext): Promise<Hash> {
  const submitted = await context.backend.pool.submit(canonical(item), context);
  if (submitted.ok) return submitted.value;
  throw TEXTS[submitted.error.code] ?? rpcError(ERRORS.internalError);
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

/** Where the texts differ from those of JSON-RPC, they are Besu's. */
const TEXTS: Readonly<Partial<Record<SubmissionErrorCode, FieldError>>> = {
  malformedTransaction: rpcError(ERRORS.invalidParams),
  unsupportedV: rpcError(ERRORS.invalidParams),
  unknownTransactionType: rpcError(ERRORS.invalidParams),
  nonceTooLow: rpcError(ERRORS.nonceTooLow),
  invalidSignature: rpcError(ERRORS.invalidSignature),
  intrinsicGasAboveLimit: rpcError(ERRORS.intrinsicGasAboveLimit),
  upfrontCostAboveBalance: rpcError(ERRORS.upfrontCostAboveBalance),
  gasLimitAboveBlock: rpcError(ERRORS.gasLimitAboveBlock),
  senderNotAuthorized: rpcError(ERRORS.senderNotAuthorized),
  stateUnavailable: rpcError(ERRORS.initialSyncRunning),
  gasPriceTooLow: rpcError(ERRORS.gasPriceTooLow),
  wrongChainId: new FieldError("Wrong Chain ID in transaction signature", -32000),
  chainIdNotSupported: new FieldError("Signatures with replay protection are not supported", -32000),
  feeCapExceeded: rpcError(ERRORS.feeCapExceeded),
  // Not in Besu.
  poolFull: rpcError(ERRORS.poolFull),
  tooManyWaiting: rpcError(ERRORS.tooManyCalls),
};
