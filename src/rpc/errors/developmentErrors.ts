import type { DevelopmentErrorCode } from "../../dev/development.ts";
import type { CodedError } from "../../primitives/result.ts";
import { RpcError } from "./errors.ts";

/** The error of a comfort of the development network; the code is Hardhat's for input that does not fit the chain. */
export function developmentError({ message }: CodedError<DevelopmentErrorCode>): RpcError {
  return new RpcError(INVALID_INPUT, message);
}

const INVALID_INPUT = -32000;
