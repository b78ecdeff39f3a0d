import { decodeErrorText, decodePanicCode, isErrorText, panicText } from "../../execution/revertText.ts";
import { EMPTY_BYTES, toHex } from "../../primitives/hex.ts";
import type { SubmissionErrorCode } from "../../txpool/errors.ts";
import { ERRORS, RpcError } from "./errors.ts";
import { type FailedSimulation, REVERTED } from "./simulationErrors.ts";
import { SUBMISSION_ERRORS } from "./submissionErrors.ts";

/*
 * Errors of transactions that the node signs on a development network, whose callers are tools (development-network.md#calls-and-errors).
 * Hardhat's matchers want `data`, viem certain codes, and viem and ethers look for words of go-ethereum and anvil, which stand in brackets
 * after the sentences of Hardhat that builders quote in their tests. Methods of every network have Besu's errors here, too.
 */

/** Why a transaction or a call failed after it began: a REVERT and its whole output, or a halt as go-ethereum or Besu names it. */
export type Failure = { readonly reverted: Uint8Array } | { readonly halted: string };

/** The error of eth_sendTransaction for a transaction that a block has and that failed. */
export function failedError(failure: Failure): RpcError {
  return "reverted" in failure
    ? new RpcError(REVERTED, revertedText(failure.reverted), toHex(failure.reverted))
    : new RpcError(REVERTED, haltedText(failure.halted), toHex(EMPTY_BYTES));
}

function revertedText(output: Uint8Array): string {
  if (output.length === 0) return NO_REASON;
  return `${IN_TRANSACTION} reverted ${reasonOf(output)}`;
}

function reasonOf(output: Uint8Array): string {
  const text = isErrorText(output) ? decodeErrorText(output) : undefined;
  if (text !== undefined) return `with reason string '${text}'`;
  const panic = decodePanicCode(output);
  if (panic !== undefined) return `with ${panicOf(panic)}`;
  return `with an unrecognized custom error (return data: ${toHex(output)})`;
}

function panicOf(code: string): string {
  const meaning = panicText(code);
  return meaning === undefined ? `unknown panic code ${code}` : `panic code ${code} (${meaning})`;
}

function haltedText(reason: string): string {
  if (/^out of gas|^INSUFFICIENT_GAS$|storage out of gas$/.test(reason)) return "Transaction ran out of gas";
  if (/^invalid opcode|^INVALID_OPERATION$/.test(reason)) return `${IN_TRANSACTION} invalid opcode`;
  return `${NO_REASON} (${reason})`;
}

const IN_TRANSACTION = "VM Exception while processing transaction:";
const NO_REASON = "Transaction reverted without a reason string";

/**
 * The error of a call or an estimate: that of any other network, and `data` where it was halted, without which Hardhat's matchers
 * do not take it for one that reverted.
 */
export function withHaltData(failure: FailedSimulation, error: RpcError): RpcError {
  return failure.kind === "halted" ? new RpcError(error.code, error.message, toHex(EMPTY_BYTES)) : error;
}

/** The error of eth_sendTransaction for a transaction that the pool refuses, with the facts of the refusal. */
export function walletRefusal(code: SubmissionErrorCode, facts: Readonly<Record<string, unknown>>): RpcError {
  const { costWei, balanceWei, expected, nonce, intrinsicGas, gasLimit, blockGasLimit } = facts;
  switch (code) {
    case "upfrontCostAboveBalance":
      return refused(
        `Sender doesn't have enough funds to send tx. The max upfront cost is: ${costWei} and the sender's balance is: ${balanceWei}. ` +
          "(insufficient funds for gas * price + value)",
      );
    case "nonceTooLow":
      return refused(`Nonce too low. Expected nonce to be at least ${expected} but got ${nonce}.`);
    case "intrinsicGasAboveLimit":
      return refused(
        `Transaction requires at least ${intrinsicGas} gas but got ${gasLimit} (intrinsic gas too low)`,
      );
    case "gasLimitAboveBlock":
      return refused(
        `Transaction gas limit is ${gasLimit} and exceeds block gas limit of ${blockGasLimit} (intrinsic gas too high)`,
      );
    case "priorityFeeAboveFeeCap":
      return refused(
        `${ERRORS.priorityFeeAboveFeeCap.message} (max priority fee per gas higher than max fee per gas)`,
      );
    case "knownTransaction":
      return refused(`${ERRORS.knownTransaction.message} (already known)`);
    default:
      return SUBMISSION_ERRORS[code];
  }
}

function refused(message: string): RpcError {
  return new RpcError(ERRORS.invalidInput.code, message);
}
