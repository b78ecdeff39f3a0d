import { EVMError } from "@ethereumjs/evm";

/** Why code stopped without succeeding or reverting, in Besu's spelling (json-rpc.md#eth_estimategas). */
export type HaltReason =
  | "INSUFFICIENT_GAS"
  | "INSUFFICIENT_STACK_ITEMS"
  | "TOO_MANY_STACK_ITEMS"
  | "INVALID_JUMP_DESTINATION"
  | "INVALID_OPERATION"
  | "INVALID_RETURN_DATA_BUFFER_ACCESS"
  | "ILLEGAL_STATE_CHANGE"
  | "CODE_TOO_LARGE"
  | "INVALID_CODE"
  | "PRECOMPILE_ERROR";

/** An error that the library reports as out of gas. */
export const RETURN_DATA_OUT_OF_BOUNDS = "return data out of bounds";

const { errorMessages } = EVMError;

const REASONS: ReadonlyMap<string, HaltReason> = new Map([
  [errorMessages.OUT_OF_GAS, "INSUFFICIENT_GAS"],
  [errorMessages.CODESTORE_OUT_OF_GAS, "INSUFFICIENT_GAS"],
  [errorMessages.STACK_UNDERFLOW, "INSUFFICIENT_STACK_ITEMS"],
  [errorMessages.STACK_OVERFLOW, "TOO_MANY_STACK_ITEMS"],
  [errorMessages.INVALID_OPCODE, "INVALID_OPERATION"],
  [errorMessages.STATIC_STATE_CHANGE, "ILLEGAL_STATE_CHANGE"],
  [errorMessages.CREATE_COLLISION, "ILLEGAL_STATE_CHANGE"],
  [errorMessages.CODESIZE_EXCEEDS_MAXIMUM, "CODE_TOO_LARGE"],
  [errorMessages.INITCODE_SIZE_VIOLATION, "CODE_TOO_LARGE"],
  [errorMessages.INVALID_BYTECODE_RESULT, "INVALID_CODE"],
  [RETURN_DATA_OUT_OF_BOUNDS, "INVALID_RETURN_DATA_BUFFER_ACCESS"],
]);

/** Maps the library's message to a reason. Unknown messages come from precompiled contracts. */
export function haltReasonOf(message: string): HaltReason {
  // The message of a bad jump ends with its position.
  if (message.startsWith(errorMessages.INVALID_JUMP)) return "INVALID_JUMP_DESTINATION";
  return REASONS.get(message) ?? "PRECOMPILE_ERROR";
}
