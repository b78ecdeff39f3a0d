import { decodeErrorText, decodePanicCode, isErrorText, panicText } from "../../execution/revertText.ts";
import { EMPTY_BYTES, toHex } from "../../primitives/hex.ts";
import type { SubmissionErrorCode } from "../../txpool/errors.ts";
import { ERRORS, RpcError } from "./errors.ts";
import { estimateError, type FailedSimulation, REVERTED, revertError } from "./simulationErrors.ts";
import { SUBMISSION_ERRORS } from "./submissionErrors.ts";

/*
 * Errors of calls and transactions on a development network, whose callers are tools (development-network.md#calls-and-errors). Hardhat's
 * matchers want `data`, viem certain codes, and viem and ethers look for words of go-ethereum and anvil, which stand in brackets after
 * the sentences of Hardhat that builders quote in their tests.
 */

/** Why a transaction or a call failed after it began: a REVERT and its whole output, or a halt as go-ethereum or Besu names it. */
export type Failure = { readonly reverted: Uint8Array } | { readonly halted: string };

/** The error of a transaction that a block has and that failed, and of a call that was halted. */
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

/** The error of eth_call, eth_estimateGas and eth_createAccessList. A revert has the words of any other network, and those of a panic. */
export function toolCallError(failure: FailedSimulation): RpcError {
  switch (failure.kind) {
    case "reverted": {
      const { code, message, data } = revertError(failure.data);
      const panic = decodePanicCode(failure.data);
      return new RpcError(code, panic === undefined ? message : `${message}: ${panicOf(panic)}`, data);
    }
    case "halted":
      return failedError({ halted: failure.reason });
    case "refused":
      return isSpoken(failure.code)
        ? new RpcError(ERRORS.invalidInput.code, `${messageOf(failure.code, undefined)}: ${failure.detail}`)
        : estimateError(failure);
    default:
      return estimateError(failure);
  }
}

/** The error of a transaction that the pool refuses; `facts` are those of the refusal, where they are known. */
export function toolSubmissionError(code: SubmissionErrorCode, facts?: Facts): RpcError {
  return isSpoken(code)
    ? new RpcError(ERRORS.invalidInput.code, messageOf(code, facts))
    : SUBMISSION_ERRORS[code];
}

type Facts = Readonly<Record<string, unknown>>;

/** A reason to refuse a transaction: a sentence with its numbers, one without, and what viem and ethers look for in either. */
const SPOKEN = {
  upfrontCostAboveBalance: {
    sentence: ({ costWei, balanceWei }: Facts) =>
      `Sender doesn't have enough funds to send tx. The max upfront cost is: ${costWei} and the sender's balance is: ${balanceWei}.`,
    short: "Sender doesn't have enough funds to send tx",
    words: "insufficient funds for gas * price + value",
  },
  nonceTooLow: {
    sentence: ({ expected, nonce }: Facts) =>
      `Nonce too low. Expected nonce to be at least ${expected} but got ${nonce}.`,
    short: ERRORS.nonceTooLow.message,
    words: undefined,
  },
  intrinsicGasAboveLimit: {
    sentence: ({ intrinsicGas, gasLimit }: Facts) =>
      `Transaction requires at least ${intrinsicGas} gas but got ${gasLimit}`,
    short: ERRORS.intrinsicGasAboveLimit.message,
    words: "intrinsic gas too low",
  },
  gasLimitAboveBlock: {
    sentence: ({ gasLimit, blockGasLimit }: Facts) =>
      `Transaction gas limit is ${gasLimit} and exceeds block gas limit of ${blockGasLimit}`,
    short: ERRORS.gasLimitAboveBlock.message,
    words: "intrinsic gas too high",
  },
  priorityFeeAboveFeeCap: {
    sentence: undefined,
    short: ERRORS.priorityFeeAboveFeeCap.message,
    words: "max priority fee per gas higher than max fee per gas",
  },
  knownTransaction: { sentence: undefined, short: ERRORS.knownTransaction.message, words: "already known" },
} as const;

type SpokenCode = keyof typeof SPOKEN;

function isSpoken(code: string): code is SpokenCode {
  return Object.hasOwn(SPOKEN, code);
}

function messageOf(code: SpokenCode, facts: Facts | undefined): string {
  const { sentence, short, words } = SPOKEN[code];
  const said = facts === undefined ? short : (sentence?.(facts) ?? short);
  return words === undefined ? said : `${said} (${words})`;
}
