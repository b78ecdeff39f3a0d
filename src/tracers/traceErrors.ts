import type { HaltReason } from "../execution/haltReason.ts";

/** The texts of flat traces and trace files for the reasons of a halt. */
export const TRACE_ERRORS: Readonly<Record<HaltReason, string>> = {
  INSUFFICIENT_GAS: "Out of gas",
  INSUFFICIENT_STACK_ITEMS: "Stack underflow",
  TOO_MANY_STACK_ITEMS: "Out of stack",
  INVALID_JUMP_DESTINATION: "Bad jump destination",
  INVALID_OPERATION: "Bad instruction",
  INVALID_RETURN_DATA_BUFFER_ACCESS: "Out of bounds",
  ILLEGAL_STATE_CHANGE: "Illegal state change",
  CODE_TOO_LARGE: "Code is too large",
  INVALID_CODE: "Code is invalid",
  PRECOMPILE_ERROR: "Precompile error",
};
