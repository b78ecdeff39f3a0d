import type { DevelopmentErrorCode } from "../../dev/orders.ts";
import type { CodedError } from "../../primitives/result.ts";
import { ERRORS, RpcError } from "./errors.ts";

/** Hardhat's code for input that does not fit the chain. */
const INVALID_INPUT = -32000;

/** The error of a comfort of the development network. */
export function developmentError({ message }: CodedError<DevelopmentErrorCode>): RpcError {
  return new RpcError(INVALID_INPUT, message);
}

/** The same error for names that only anvil has: what is wrong with a parameter alone is one of parameters there. */
export function anvilError(error: CodedError<DevelopmentErrorCode>): RpcError {
  return WRONG_FOR_ANVIL.has(error.code)
    ? new RpcError(ERRORS.invalidParams.code, error.message)
    : developmentError(error);
}

const WRONG_FOR_ANVIL: ReadonlySet<DevelopmentErrorCode> = new Set([
  "timeTooEarly",
  "timeTooLate",
  "tooDeep",
]);

/** What tools for development ask for, and a chain of IBFT with its genesis file does not have (development-network.md#the-comforts). */
export const DEVELOPMENT_REFUSALS = {
  alreadyMined: new RpcError(
    ERRORS.invalidParams.code,
    "The transaction cannot be dropped because it's already mined",
  ),
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
  fixedMinGasPrice: new RpcError(
    INVALID_INPUT,
    "A minimum gas price is set when the node starts, by --min-gas-price; a chain with a base fee has no other",
  ),
  fixedChainId: new RpcError(
    INVALID_INPUT,
    "The chain id is that of the genesis file, and part of every signature; to have another, start with a genesis file of your own",
  ),
  noOtherChain: new RpcError(
    INVALID_INPUT,
    "This chain has a genesis block of its own, and reads from no other node",
  ),
  dumpTooLarge: new RpcError(
    INVALID_INPUT,
    "The state has more accounts, storage or code than a dump may have: stop the node and copy its data folder, or use evm_snapshot and " +
      "evm_revert",
  ),
  dumpIncomplete: new RpcError(
    INVALID_INPUT,
    "Only the hash of an address or slot is known, because the data folder is of an early version: stop the node and copy the folder",
  ),
  noImpersonatedSignature: new RpcError(
    INVALID_INPUT,
    "What ecrecover returns is the same as on any other chain; to send for an account without its key, use anvil_impersonateAccount",
  ),
  noForking: new RpcError(
    INVALID_INPUT,
    "This chain has a genesis block of its own, and cannot fork another one",
  ),
};
