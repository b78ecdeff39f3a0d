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
