import { FIELD, FIELDS_BYTES, LONG_BYTES } from "../../evm/layout.ts";
import { type Address, asAddress } from "../../primitives/address.ts";
import { asHash, EMPTY_TRIE_ROOT, keccak256 } from "../../primitives/hash.ts";
import { concatBytes, equalBytes } from "../../primitives/hex.ts";
import { bigintToBytes } from "../../primitives/quantity.ts";
import { encodeRlp } from "../../primitives/rlp.ts";
import { EMPTY_ACCOUNT } from "../../types/account.ts";
import { hasNoCode } from "../emptyAccounts.ts";
import type { HaltReason } from "../haltReason.ts";
import { beginResult, MAX_CALL_DEPTH } from "./calls.ts";
import { finish, halt, type Range } from "./ends.ts";
import type { Frame } from "./frame.ts";
import { HIGHEST_BALANCE, observeDepth, runCode, writeAccounts } from "./messages.ts";
import { newFrame } from "./newFrame.ts";
import { type Run, spaceOf, type Work } from "./run.ts";
import { hashInSlices, takeInSlices } from "./slices.ts";

/**
 * CREATE and CREATE2: the core has checked the operands and paid for memory. Returns why the creator halts, if it does;
 * otherwise the creation may have begun, or even ended.
 */
export function create(run: Run, frame: Frame, instruction: number): HaltReason | undefined {
  const { machine, rules, table, overlay } = run;
  const value = run.word(frame, 0);
  const inputSize = machine.readNumber(run.word(frame, 2));
  const isSalted = instruction === CREATE2;
  const price = Number(creationPrice(run, instruction, BigInt(Math.ceil(inputSize / 32))));
  if (!run.charge(frame, price)) return "INSUFFICIENT_GAS";
  const at = run.behind(frame);
  run.reserve(at + FIELDS_BYTES);
  machine.core.giveGas(frame.at, at, 0, table.hasAllButOne64th ? 1 : 0, 0);
  const memory = machine.field(frame.at, FIELD.MEMORY);
  const input = inputSize === 0 ? memory : memory + machine.readNumber(run.word(frame, 1));
  const salt = isSalted ? machine.readBytes(run.word(frame, 3), 32) : undefined;
  const wei = machine.readWord(value);
  run.watch?.paid(frame, at, 0);
  if (rules.initCodeLimitBytes !== undefined && inputSize > rules.initCodeLimitBytes) return "CODE_TOO_LARGE";
  beginResult(run, frame, run.word(frame, isSalted ? 3 : 2));
  const account = overlay.account(frame.address) ?? EMPTY_ACCOUNT;
  if (frame.depth >= MAX_CALL_DEPTH || account.balance < wei || account.nonce >= HIGHEST_NONCE) {
    machine.core.returnGas(frame.at, at);
    return undefined;
  }
  overlay.putAccount(frame.address, { ...account, nonce: account.nonce + 1n });
  run.accesses.touch(frame.address);
  const begin = (address: Address): void => {
    const creation = newFrame(run, frame, {
      at,
      kind: "create",
      address,
      codeAddress: address,
      sender: frame.address,
      isStatic: false,
      input,
      inputSize,
      outputAt: memory,
      outputSize: 0,
    });
    beginCreation(run, creation, wei);
  };
  if (salt === undefined) begin(addressByNonce(frame.address, account.nonce));
  else if (inputSize > LONG_BYTES)
    run.work = (function* (): Work {
      const hash = at + FIELDS_BYTES;
      run.reserve(hash + 32);
      yield* hashInSlices(run, hash, input, inputSize);
      begin(addressBySalt(frame.address, salt, machine.readBytes(hash, 32)));
    })();
  else {
    const hash = keccak256(machine.bytes.subarray(input, input + inputSize));
    begin(addressBySalt(frame.address, salt, hash));
  }
  return undefined;
}

/** The price of a creation besides memory, by the words of its init code. */
export function creationPrice({ table }: Run, instruction: number, words: bigint): bigint {
  return CREATE_GAS + words * BigInt(table.initCodeWord + (instruction === CREATE2 ? HASH_WORD_GAS : 0));
}

const CREATE2 = 0xf5;
const CREATE_GAS = 32_000n;
const HASH_WORD_GAS = 6;
/** Highest nonce of an account (EIP-2681). */
const HIGHEST_NONCE = 2n ** 64n - 1n;

/** `nonce` is the creator's before the creation. */
export function addressByNonce(creator: Address, nonce: bigint): Address {
  return asAddress(keccak256(encodeRlp([creator, bigintToBytes(nonce)])).slice(12));
}

/** Address of a contract that CREATE2 makes (EIP-1014). */
function addressBySalt(creator: Address, salt: Uint8Array, codeHash: Uint8Array): Address {
  return asAddress(keccak256(concatBytes(CREATE2_PREFIX, creator, salt, codeHash)).slice(12));
}

const CREATE2_PREFIX = Uint8Array.of(0xff);

/** Begins a creation, whose gas is already in its fields, by a creator whose nonce is already raised. */
export function beginCreation(run: Run, frame: Frame, value: bigint): void {
  const { machine, overlay, accesses, rules, substate, yieldPolicy } = run;
  const { address, sender } = frame;
  // Init code of any length is hashed and searched for jump targets, which takes an unpredictable time.
  yieldPolicy.deadline?.abort();
  run.frame = frame;
  // The address stays warm if the creation fails.
  if (rules.hasColdAccess) accesses.warm(address);
  run.checkpoint();
  run.reserve(spaceOf(frame) + 32);
  machine.writeWord(spaceOf(frame), value);
  writeAccounts(run, frame, spaceOf(frame));
  run.watch?.entered(frame);
  observeDepth(run, frame);
  const creator = overlay.account(sender) ?? EMPTY_ACCOUNT;
  if (creator.balance < value) {
    finish(run, frame, "PRECOMPILE_ERROR");
    return;
  }
  overlay.putAccount(sender, { ...creator, balance: creator.balance - value });
  accesses.touch(sender);
  if (rules.initCodeLimitBytes !== undefined && frame.inputSize > rules.initCodeLimitBytes) {
    halt(run, frame, "CODE_TOO_LARGE");
    return;
  }
  substate.create(address);
  const before = overlay.account(address) ?? EMPTY_ACCOUNT;
  if (before.nonce > 0n || !hasNoCode(before) || !equalBytes(before.storageRoot, EMPTY_TRIE_ROOT)) {
    halt(run, frame, "ILLEGAL_STATE_CHANGE");
    return;
  }
  overlay.putAccount(address, before);
  accesses.touch(address);
  overlay.clearStorage(address);
  if (before.balance + value > HIGHEST_BALANCE) {
    finish(run, frame, "PRECOMPILE_ERROR");
    return;
  }
  const nonce = rules.clearsEmptyAccounts ? before.nonce + 1n : before.nonce;
  overlay.putAccount(address, { ...before, nonce, balance: before.balance + value });
  run.countChanges();
  if (frame.inputSize === 0) {
    run.watch?.ranNothing(frame);
    finish(run, frame, "succeeded");
    return;
  }
  runCode(run, frame, frame.inputSize, undefined);
}

/** Ends init code that succeeded: pays for its output, the code of the new account, and stores it. */
export function deploy(run: Run, frame: Frame): void {
  const { machine, rules, overlay, parts } = run;
  const at = machine.field(frame.at, FIELD.OUTPUT);
  const size = machine.field(frame.at, FIELD.OUTPUT_SIZE);
  if (rules.clearsEmptyAccounts && size > parts.config.contractSizeLimitBytes) {
    halt(run, frame, "CODE_TOO_LARGE");
    return;
  }
  if (!run.charge(frame, size * CODE_BYTE_GAS)) {
    // In Frontier a creation that cannot pay for storing its code succeeds without code.
    if (rules.chargesCreation) halt(run, frame, "INSUFFICIENT_GAS");
    else finish(run, frame, "succeeded");
    return;
  }
  // EIP-3541 came with the base fee.
  if (rules.hasBaseFee && size > 0 && machine.bytes[at] === RESERVED_FIRST_BYTE) {
    halt(run, frame, "INVALID_CODE");
    return;
  }
  const output = { at, size };
  run.countBytes(size);
  if (size > LONG_BYTES) {
    run.work = deployInSlices(run, frame, output);
    return;
  }
  if (size > 0) overlay.putCode(frame.address, machine.bytes.slice(at, at + size));
  finish(run, frame, "succeeded", output);
}

/**
 * Stores code of a length that only a chain without EIP-170 allows. The hash is written to its stack, which is no longer
 * needed.
 */
function* deployInSlices(run: Run, frame: Frame, output: Range): Work {
  const { machine, overlay } = run;
  const hash = spaceOf(frame);
  yield* hashInSlices(run, hash, output.at, output.size);
  const code = yield* takeInSlices(run, output.at, output.size);
  overlay.putCode(frame.address, code, asHash(machine.readBytes(hash, 32)));
  finish(run, frame, "succeeded", output);
}

const CODE_BYTE_GAS = 200;
const RESERVED_FIRST_BYTE = 0xef;
