import { EVMError, type ExecResult } from "@ethereumjs/evm";

/** A precompiled contract that fails takes all the gas it was given. */
export function failed(gasLimit: bigint, error: EVMError["error"]): ExecResult {
  return { executionGasUsed: gasLimit, returnValue: new Uint8Array(0), exceptionError: new EVMError(error) };
}
