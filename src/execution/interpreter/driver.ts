import { aligned, FIELD, FIELDS_BYTES, FRAMES, LONG_BYTES, STATUS } from "../../evm/layout.ts";
import type { Address } from "../../primitives/address.ts";
import type { Overlay } from "../../state/overlay.ts";
import { EMPTY_ACCOUNT } from "../../types/account.ts";
import type { Message } from "../evm.ts";
import type { HaltReason } from "../haltReason.ts";
import { MemoryBeyondLimit } from "../memoryBudget.ts";
import { SELFDESTRUCT } from "../selfdestructTransfer.ts";
import { call } from "./calls.ts";
import { addressByNonce, beginCreation, create, deploy } from "./creations.ts";
import { finish, halt } from "./ends.ts";
import type { Frame } from "./frame.ts";
import { findJumpTargets, prepareCode } from "./frameCode.ts";
import { performLongWork } from "./longWork.ts";
import { beginCall } from "./messages.ts";
import { newFrame } from "./newFrame.ts";
import { makeRoom } from "./room.ts";
import { haltReasonOfStatus, type Run, spaceOf } from "./run.ts";
import { selfdestruct } from "./selfdestruct.ts";
import { copyInSlices } from "./slices.ts";
import { STATE_INSTRUCTIONS } from "./state.ts";

/** Begins the outermost message: its input lies before its frame. */
export function begin(run: Run): void {
  const { message, machine } = run;
  const { data } = message;
  const at = aligned(FRAMES + data.length);
  run.reserve(at + FIELDS_BYTES);
  if (data.length > LONG_BYTES)
    run.work = (function* () {
      yield* copyInSlices(run, FRAMES, data, data.length);
      beginMessage(run, at, message);
    })();
  else {
    machine.bytes.set(data, FRAMES);
    beginMessage(run, at, message);
  }
}

function beginMessage(run: Run, at: number, { caller, to, value, data, gasLimit }: Message): void {
  const { machine, overlay } = run;
  machine.setGas(at, startingGas({ gasLimit }));
  const address = to ?? addressOfCreation(overlay, caller);
  const frame = newFrame(run, undefined, {
    at,
    kind: to === undefined ? "create" : "call",
    address,
    codeAddress: address,
    sender: caller,
    isStatic: false,
    input: FRAMES,
    inputSize: data.length,
    outputAt: 0,
    outputSize: 0,
  });
  if (to === undefined) {
    beginCreation(run, frame, value);
    return;
  }
  // The value is stored behind the fields until it is read from there.
  const word = spaceOf(frame);
  run.reserve(word + 32);
  machine.writeWord(word, value);
  beginCall(run, frame, { word, moved: value });
}

/** The sender's nonce is already raised. */
function addressOfCreation(overlay: Overlay, sender: Address): Address {
  const { nonce } = overlay.account(sender) ?? EMPTY_ACCOUNT;
  return addressByNonce(sender, nonce - 1n);
}

/** The gas that a message starts with: the core's gas is signed. */
export function startingGas({ gasLimit }: Pick<Message, "gasLimit">): bigint {
  return gasLimit < HIGHEST_GAS ? gasLimit : HIGHEST_GAS;
}

const HIGHEST_GAS = 2n ** 63n - 1n;

/**
 * Runs until the outermost message has ended, or returns a promise after which to call it again. Throws OutOfTime and
 * MemoryExhausted.
 */
export function proceed(run: Run): Promise<unknown> | undefined {
  const { machine, yieldPolicy } = run;
  const { core } = machine;
  const budget = yieldPolicy.deadline === undefined ? WORK : INLINE_WORK;
  for (;;) {
    const resting = performWork(run);
    if (resting !== undefined) return resting;
    const { frame } = run;
    if (frame === undefined) return undefined;
    const status = core.run(frame.at, budget);
    if (status === STATUS.LEAVE) {
      yieldPolicy.deadline?.check();
      leave(run, frame);
    } else if (status === STATUS.REST) {
      if (yieldPolicy.isDue()) return yieldPolicy.yield();
      continue;
    } else resolve(run, frame, status);
    if (--run.returnsToCheck < 0) {
      run.returnsToCheck = RETURNS_PER_CHECK;
      if (yieldPolicy.isDue() && run.frame !== undefined) return yieldPolicy.yield();
    }
  }
}

/** Performs the work that precedes the rest of a frame, or returns a promise after which to call it again. */
export function performWork(run: Run): Promise<unknown> | undefined {
  const { yieldPolicy } = run;
  for (;;) {
    const { waiting, work } = run;
    if (waiting !== undefined) {
      run.waiting = undefined;
      return waiting;
    }
    if (work === undefined) return undefined;
    const isDone = work.next().done === true;
    if (isDone && run.work === work) run.work = undefined;
    if (yieldPolicy.isDue()) return yieldPolicy.yield();
  }
}

/** Handles any other return of the core. */
export function resolve(run: Run, frame: Frame, status: number): void {
  switch (status) {
    case STATUS.STOPPED:
    case STATUS.ENDED:
    case STATUS.REVERTED:
      endFrame(run, frame, status);
      return;
    case STATUS.GROW:
      makeRoom(run, frame);
      return;
    case STATUS.FIND_TARGETS:
      findJumpTargets(run, frame);
      return;
    case STATUS.PREPARE:
      prepareCode(run, frame);
      return;
    case STATUS.LONG:
      performLongWork(run, frame);
      return;
    case STATUS.BEYOND:
      throw new MemoryBeyondLimit("code addresses memory beyond 2 GiB, where Besu has none");
    default:
      halt(run, frame, haltReasonOfStatus(status));
  }
}

function endFrame(run: Run, frame: Frame, status: number): void {
  const { machine } = run;
  const { at } = frame;
  if (status === STATUS.STOPPED) machine.setField(at, FIELD.OUTPUT_SIZE, 0);
  if (status !== STATUS.REVERTED && frame.kind === "create") {
    deploy(run, frame);
    return;
  }
  const output = { at: machine.field(at, FIELD.OUTPUT), size: machine.field(at, FIELD.OUTPUT_SIZE) };
  finish(run, frame, status === STATUS.REVERTED ? "reverted" : "succeeded", output);
}

/** Performs an instruction that the core left to the driver. */
function leave(run: Run, frame: Frame): void {
  const instruction = run.machine.bytes[frame.at + FIELD.LEFT] as number;
  const reason = perform(run, frame, instruction);
  if (reason !== undefined) halt(run, frame, reason);
}

export function perform(run: Run, frame: Frame, instruction: number): HaltReason | undefined {
  const onState = STATE_INSTRUCTIONS[instruction];
  if (onState !== undefined) return onState(run, frame);
  if (instruction === SELFDESTRUCT) return selfdestruct(run, frame);
  return instruction === CREATE || instruction === CREATE2
    ? create(run, frame, instruction)
    : call(run, frame, instruction);
}

const CREATE = 0xf0;
const CREATE2 = 0xf5;
/** Jumps, or as much other work, between two checks of the clock: some microseconds. */
const WORK = 512;
const INLINE_WORK = 64;
/** Returns of the core for other reasons between two checks of the clock. */
const RETURNS_PER_CHECK = 16;
