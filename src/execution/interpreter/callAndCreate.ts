import { type EVM, EVMError, type EVMResult, Message } from "@ethereumjs/evm";
import { Account as LibraryAccount, type Address as LibraryAddress } from "@ethereumjs/util";
import { asAddress } from "../../primitives/address.ts";
import type { Overlay } from "../../state/overlay.ts";
import { EMPTY_ACCOUNT } from "../../types/account.ts";
import type { YieldPolicy } from "../yieldPolicy.ts";
import { reservedBufferOf } from "./reservedBuffer.ts";
import { copyInSlices } from "./slices.ts";
import type { Substate } from "./substate.ts";
import { wordOfBytes } from "./words.ts";

/** The frame that sends a message; the names are the library's. */
export interface Sender {
  readonly _evm: Pick<EVM, "runCall"> & {
    readonly overlay: Overlay;
    readonly substate: Substate;
    readonly yieldPolicy: YieldPolicy;
  };
  readonly _env: {
    readonly address: LibraryAddress;
    readonly depth: number;
    readonly blobVersionedHashes: readonly `0x${string}`[];
    contract: LibraryAccount;
  };
  readonly _runState: {
    returnBytes: Uint8Array;
    gasRefund: bigint;
    useGas(amount: bigint): void;
    clearReturnData(): Promise<void> | undefined;
  };
  readonly common: EVM["common"];
  readonly journal: EVM["journal"];
}

/**
 * Sends the message of a call instruction and returns the result for the stack: 1 for success. Replaces the library's,
 * which copies all logs, destroyed and created accounts of the transaction at each call.
 */
export async function sendCall(frame: Sender, message: Message): Promise<bigint> {
  const { _evm: evm, _env: env, _runState: state, common } = frame;
  const { substate } = evm;
  const clearing = state.clearReturnData();
  if (clearing !== undefined) await clearing;
  if (isTooDeep(frame) || (!message.delegatecall && env.contract.balance < message.value)) return FAILED;
  message.selfdestruct = substate.destroyed;
  message.gasRefund = state.gasRefund;
  if (common.isActivatedEIP(6780)) message.createdAddresses = substate.created;
  const mark = substate.mark();
  const { execResult } = await evm.runCall({ message });
  const { exceptionError: error, returnValue } = execResult;
  if (error !== undefined) substate.revertTo(mark);
  state.useGas(execResult.executionGasUsed);
  if (error === undefined || error.error === REVERTED) state.returnBytes = returnValue;
  if (error !== undefined) return FAILED;
  updateCaller(frame, execResult);
  return SUCCEEDED;
}

/** The operands of CREATE or CREATE2; with `salt` the address depends on the code (EIP-1014). */
export interface Creation {
  readonly gasLimit: bigint;
  readonly value: bigint;
  readonly code: Uint8Array;
  readonly salt: Uint8Array | undefined;
}

/** As sendCall, for CREATE and CREATE2: returns the address of the new contract, or zero. */
export async function sendCreation(
  frame: Sender,
  { gasLimit, value, code, salt }: Creation,
): Promise<bigint> {
  const { _evm: evm, _env: env, _runState: state, common } = frame;
  const { substate } = evm;
  const { contract } = env;
  const clearing = state.clearReturnData();
  if (clearing !== undefined) await clearing;
  if (isTooDeep(frame) || contract.balance < value || contract.nonce >= HIGHEST_NONCE) return FAILED;
  contract.nonce += 1n;
  await frame.journal.putAccount(env.address, contract);
  const message = new Message({
    caller: env.address,
    gasLimit,
    value,
    // A copy, because the library's loop over code is slower once it has seen resizable buffers.
    data: reservedBufferOf(code) === undefined ? code : await copyInSlices(code, evm.yieldPolicy),
    ...(salt !== undefined && { salt }),
    depth: env.depth + 1,
    selfdestruct: substate.destroyed,
    gasRefund: state.gasRefund,
    blobVersionedHashes: [...env.blobVersionedHashes],
  });
  if (common.isActivatedEIP(6780)) message.createdAddresses = substate.created;
  const mark = substate.mark();
  const { execResult, createdAddress } = await evm.runCall({ message });
  const error = execResult.exceptionError?.error;
  // In Frontier a creation that cannot pay for storing its code succeeds without code.
  const hasFailed = error !== undefined && error !== CODE_UNPAID;
  if (hasFailed) substate.revertTo(mark);
  state.useGas(execResult.executionGasUsed);
  if (error === REVERTED) state.returnBytes = execResult.returnValue;
  if (hasFailed) return FAILED;
  updateCaller(frame, execResult);
  return createdAddress === undefined ? SUCCEEDED : wordOfBytes(createdAddress.bytes);
}

/** A new copy of an account for the library's instructions, which may mutate it. */
export function libraryAccount(overlay: Overlay, address: Uint8Array): LibraryAccount {
  const { nonce, balance, storageRoot, codeHash } = overlay.account(asAddress(address)) ?? EMPTY_ACCOUNT;
  return new LibraryAccount(nonce, balance, storageRoot, codeHash);
}

/** Updates the caller after a success: the callee may have changed its account and the refund counter. */
function updateCaller({ _evm, _env, _runState }: Sender, { gasRefund }: EVMResult["execResult"]): void {
  _env.contract = libraryAccount(_evm.overlay, _env.address.bytes);
  _runState.gasRefund = gasRefund ?? 0n;
}

function isTooDeep({ _env, common }: Sender): boolean {
  return _env.depth >= Number(common.param("stackLimit"));
}

const FAILED = 0n;
const SUCCEEDED = 1n;
/** EIP-2681. */
const HIGHEST_NONCE = 2n ** 64n - 1n;
const { REVERT: REVERTED, CODESTORE_OUT_OF_GAS: CODE_UNPAID } = EVMError.errorMessages;
