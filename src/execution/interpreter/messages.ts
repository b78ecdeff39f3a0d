import { placeCode } from "../../evm/code.ts";
import { aligned, FIELD, FIELDS_BYTES, LONG_BYTES, preparedBytes } from "../../evm/layout.ts";
import type { PreparedCode } from "../../evm/machine.ts";
import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import { atOnce } from "../../primitives/steps.ts";
import { type Account, EMPTY_ACCOUNT } from "../../types/account.ts";
import { DELEGATION_BYTES, delegationTarget } from "../delegation.ts";
import { credit, hasNoCode } from "../emptyAccounts.ts";
import { finish } from "./ends.ts";
import type { Frame } from "./frame.ts";
import { runPrecompile } from "./precompiles.ts";
import { type Run, spaceOf, type Work } from "./run.ts";

/** A message's value: the word in memory that CALLVALUE returns, and the wei that are moved. */
interface SentValue {
  readonly word: number;
  /** Undefined for a delegated call, which moves nothing and touches no account. */
  readonly moved: bigint | undefined;
}

/**
 * Begins a call, whose gas is already in its fields: moves the value, then runs a precompiled contract, or code, or nothing.
 * The machine's memory reaches the end of its fields.
 */
export function beginCall(run: Run, frame: Frame, { word, moved }: SentValue): void {
  const { overlay } = run;
  run.frame = frame;
  run.checkpoint();
  writeAccounts(run, frame, word);
  run.watch?.entered(frame);
  const hasMoved = moved === undefined || moveValue(run, frame, moved);
  const precompile = run.precompileNumber(frame.codeAddress);
  if (precompile !== undefined) {
    frame.isPrecompile = true;
    if (hasMoved) runPrecompile(run, frame, precompile);
    else finish(run, frame, "PRECOMPILE_ERROR");
    return;
  }
  let account = overlay.account(frame.codeAddress) ?? EMPTY_ACCOUNT;
  const delegate = delegateOf(run, account);
  if (delegate !== undefined) {
    account = overlay.account(delegate) ?? EMPTY_ACCOUNT;
    if (frame.depth === 0) run.accesses.warm(delegate);
  }
  observeDepth(run, frame);
  if (!hasMoved) finish(run, frame, "PRECOMPILE_ERROR");
  else if (hasNoCode(account)) {
    run.watch?.ranNothing(frame);
    finish(run, frame, "succeeded");
  } else runContract(run, frame, account.codeHash);
}

/** The account that an account's code delegates to (EIP-7702); reads code only if it may delegate. */
export function delegateOf({ rules, machine, overlay }: Run, account: Account): Address | undefined {
  if (!rules.hasDelegation || hasNoCode(account)) return undefined;
  const known = machine.preparedCode(account.codeHash);
  if (known !== undefined && known.size !== DELEGATION_BYTES) return undefined;
  return delegationTarget(overlay.code(account.codeHash));
}

/** Records the depth of a message, also without code: Besu executes the implicit STOP there. */
export function observeDepth({ parts: { observed } }: Run, { depth }: Frame): void {
  if (depth > observed.maxDepth) observed.maxDepth = depth;
}

/** Fills in what ADDRESS, CALLER and CALLVALUE return. */
export function writeAccounts({ machine }: Run, { at, address, sender }: Frame, value: number): void {
  machine.writeBytes(at + FIELD.ADDRESS, address);
  machine.writeBytes(at + FIELD.CALLER, sender);
  if (value === 0) machine.writeNumber(at + FIELD.VALUE, 0);
  else machine.copyWord(at + FIELD.VALUE, value);
}

/** Moves the value of a call. Touches both accounts even for zero; false if the recipient's balance overflows. */
function moveValue(run: Run, { sender, address }: Frame, value: bigint): boolean {
  const { overlay, accesses, rules } = run;
  accesses.touch(sender);
  accesses.touch(address);
  if (value === 0n) {
    if (rules.clearsEmptyAccounts) return true;
    credit(overlay, address, 0n);
    run.countChanges();
    return true;
  }
  const account = overlay.account(sender) ?? EMPTY_ACCOUNT;
  if (account.balance < value) return false;
  overlay.putAccount(sender, { ...account, balance: account.balance - value });
  const { balance } = overlay.account(address) ?? EMPTY_ACCOUNT;
  if (balance + value > HIGHEST_BALANCE) return false;
  credit(overlay, address, value);
  run.countChanges();
  return true;
}

export const HIGHEST_BALANCE = 2n ** 256n - 1n;

/** Starts the frame of a contract. */
function runContract(run: Run, frame: Frame, codeHash: Hash): void {
  frame.codeHash = codeHash;
  const known = run.machine.preparedCode(codeHash);
  if (known === undefined) runCode(run, frame, run.overlay.codeSize(codeHash), codeHash);
  else startFrame(run, frame, known, stackEnd(run, frame));
}

/** Places code of so many bytes and starts the frame; init code has no hash, and is not kept. */
export function runCode(run: Run, frame: Frame, size: number, codeHash: Hash | undefined): void {
  const { machine } = run;
  const kept = codeHash === undefined ? undefined : machine.placeInArena(size);
  const at = kept ?? stackEnd(run, frame);
  if (kept === undefined) {
    run.reserve(at + preparedBytes(size));
    run.count(frame, preparedBytes(size));
  }
  const placing = placeCode(machine, at, size, codeHash === undefined ? frame.input : 0);
  const end = (placed: PreparedCode): void => {
    if (kept !== undefined && codeHash !== undefined) machine.keep(codeHash, placed);
    const memory = kept === undefined ? at + preparedBytes(size) : stackEnd(run, frame);
    startFrame(run, frame, placed, memory);
  };
  if (size > LONG_BYTES) run.work = placeInSlices(placing, end);
  else end(atOnce(placing));
}

function* placeInSlices(
  placing: Generator<undefined, PreparedCode>,
  end: (placed: PreparedCode) => void,
): Work {
  end(yield* placing);
}

function stackEnd(run: Run, frame: Frame): number {
  return aligned(spaceOf(frame) + 32 * run.parts.config.stackLimit);
}

function startFrame(run: Run, frame: Frame, code: PreparedCode, memory: number): void {
  const { at, isStatic, input, kind } = frame;
  const { machine } = run;
  // The fields of a callee have to fit behind the memory, too.
  run.reserve(memory + FIRST_ROOM + FIELDS_BYTES);
  const { stackLimit } = run.parts.config;
  const inputSize = kind === "create" ? 0 : frame.inputSize;
  machine.enter({ at, code, stackLimit, isStatic, input, inputSize }, memory);
  machine.bytes.fill(0, memory, memory + FIRST_ROOM);
  machine.setField(at, FIELD.ROOM, FIRST_ROOM);
}

/** Bytes of memory that each frame may use without a request for more. */
const FIRST_ROOM = 512;
