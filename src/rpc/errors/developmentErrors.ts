import type { DevelopmentErrorCode } from "../../dev/development.ts";
import type { CodedError } from "../../primitives/result.ts";
import { RpcError } from "./errors.ts";

/** Hardhat's code for input that does not fit the chain. */
const INVALID_INPUT = -32000;

/** The error of a comfort of the development network. */
export function developmentError({ message }: CodedError<DevelopmentErrorCode>): RpcError {
  return new RpcError(INVALID_INPUT, message);
}

/** What tools for development ask for, and a chain of IBFT with its genesis file does not have (development-network.md#the-comforts). */
export const DEVELOPMENT_REFUSALS = {
  alreadyMined: new RpcError(INVALID_INPUT, "The transaction cannot be dropped because it's already mined"),
  fixedBaseFee: new RpcError(
    INVALID_INPUT,
    "The base fee of this chain is fixed by its genesis file, and cannot be set",
  ),
  fixedCoinbase: new RpcError(
    INVALID_INPUT,
    "The coinbase of an IBFT block is the validator that made it, and cannot be set",
  ),
  fixedPrevRandao: new RpcError(
    INVALID_INPUT,
    "Every IBFT block has the same mix hash, which contracts see as prevrandao; it cannot be set",
  ),
  noForking: new RpcError(
    INVALID_INPUT,
    "This chain has a genesis block of its own, and cannot fork another one",
  ),
};
