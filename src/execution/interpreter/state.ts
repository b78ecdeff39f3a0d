import { FIELD, LONG_BYTES } from "../../evm/layout.ts";
import type { Address } from "../../primitives/address.ts";
import { asHash, ZERO_HASH } from "../../primitives/hash.ts";
import { codeOf } from "../accountCode.ts";
import { isEmpty } from "../emptyAccounts.ts";
import type { HaltReason } from "../haltReason.ts";
import type { Frame } from "./frame.ts";
import { codeOfFrame } from "./frameCode.ts";
import { type Run, WARM_GAS } from "./run.ts";
import { copyInSlices } from "./slices.ts";
import { storageStore } from "./store.ts";

/**
 * An instruction on the state, after which the frame continues. Returns why it halts the frame, if it does. The operands are
 * still on the stack, as the core leaves it.
 */
type StateInstruction = (run: Run, frame: Frame) => HaltReason | undefined;

/** The instructions on the state by opcode, except for calls, creations, and SELFDESTRUCT. */
export const STATE_INSTRUCTIONS: readonly (StateInstruction | undefined)[] = tableOf([
  [0x31, balance],
  [0x39, copyOwnCode],
  [0x3b, codeSize],
  [0x3c, copyCode],
  [0x3f, codeHash],
  [0x40, blockHash],
  [0x47, selfBalance],
  [0x49, blobHash],
  [0x54, storageLoad],
  [0x55, storageStore],
  [0x5c, transientLoad],
  [0x5d, transientStore],
  ...[0, 1, 2, 3, 4].map((topics) => [0xa0 + topics, log(topics)] as const),
]);

function tableOf(
  entries: readonly (readonly [code: number, instruction: StateInstruction])[],
): readonly (StateInstruction | undefined)[] {
  const table = new Array<StateInstruction | undefined>(256).fill(undefined);
  for (const [code, instruction] of entries) table[code] = instruction;
  return table;
}

/** BALANCE, EXTCODESIZE and EXTCODEHASH: prices the access to the account on top of the stack. */
function accessed(run: Run, frame: Frame, basic: number): Address | HaltReason {
  if (run.stackSize(frame) < 1) return "INSUFFICIENT_STACK_ITEMS";
  const address = run.addressAt(run.word(frame, 0));
  return run.charge(frame, basic + run.accountAccess(address)) ? address : "INSUFFICIENT_GAS";
}

function balance(run: Run, frame: Frame): HaltReason | undefined {
  const address = accessed(run, frame, run.table.balance);
  if (typeof address === "string") return address;
  run.machine.writeWord(run.word(frame, 0), run.overlay.account(address)?.balance ?? 0n);
  return undefined;
}

function codeSize(run: Run, frame: Frame): HaltReason | undefined {
  const address = accessed(run, frame, run.table.code);
  if (typeof address === "string") return address;
  const account = run.overlay.account(address);
  run.machine.writeNumber(
    run.word(frame, 0),
    account === undefined ? 0 : run.overlay.codeSize(account.codeHash),
  );
  return undefined;
}

function codeHash(run: Run, frame: Frame): HaltReason | undefined {
  const address = accessed(run, frame, run.table.codeHash);
  if (typeof address === "string") return address;
  const account = run.overlay.account(address);
  const at = run.word(frame, 0);
  if (account === undefined || isEmpty(account)) run.machine.writeNumber(at, 0);
  else run.machine.writeBytes(at, account.codeHash);
  return undefined;
}

/** EXTCODECOPY: the core has paid for memory and for the copied words. */
function copyCode(run: Run, frame: Frame): HaltReason | undefined {
  const address = run.addressAt(run.word(frame, 0));
  if (!run.charge(frame, run.table.code + run.accountAccess(address))) return "INSUFFICIENT_GAS";
  run.drop(frame, 1);
  copyToMemory(run, frame, () => codeOf(run.overlay, address));
  return undefined;
}

/** CODECOPY when the core does not have the code in one piece; the core has paid for everything. */
function copyOwnCode(run: Run, frame: Frame): HaltReason | undefined {
  copyToMemory(run, frame, () => codeOfFrame(run, frame));
  return undefined;
}

/** Performs a copy by its three operands: destination, source, number of bytes. Zeros follow the code. */
function copyToMemory(run: Run, frame: Frame, codeToCopy: () => Uint8Array): void {
  const { machine } = run;
  const to = machine.field(frame.at, FIELD.MEMORY) + machine.readNumber(run.word(frame, 0));
  const wanted = machine.readWord(run.word(frame, 1));
  const size = machine.readNumber(run.word(frame, 2));
  run.drop(frame, 3);
  if (size === 0) return;
  const code = codeToCopy();
  const from = wanted < code.length ? Number(wanted) : code.length;
  if (size > LONG_BYTES) run.work = copyInSlices(run, to, code.subarray(from), size);
  else {
    const part = code.subarray(from, from + size);
    machine.bytes.set(part, to);
    machine.bytes.fill(0, to + part.length, to + size);
  }
}

function blockHash(run: Run, frame: Frame): HaltReason | undefined {
  if (!run.charge(frame, BLOCK_HASH_GAS)) return "INSUFFICIENT_GAS";
  if (run.stackSize(frame) < 1) return "INSUFFICIENT_STACK_ITEMS";
  const { block } = run.parts;
  const at = run.word(frame, 0);
  const number = run.machine.readWord(at);
  const isRecent = number < block.number && block.number - number <= 256n;
  const hash = isRecent ? block.hashOf(number) : undefined;
  if (hash === undefined) run.machine.writeNumber(at, 0);
  else run.machine.writeBytes(at, hash);
  return undefined;
}

const BLOCK_HASH_GAS = 20;

/** SELFBALANCE. */
function selfBalance(run: Run, frame: Frame): HaltReason | undefined {
  const { machine } = run;
  if (!run.charge(frame, 5)) return "INSUFFICIENT_GAS";
  const top = machine.field(frame.at, FIELD.TOP);
  if (top >= machine.field(frame.at, FIELD.STACK_END)) return "TOO_MANY_STACK_ITEMS";
  machine.writeWord(top, run.overlay.account(frame.address)?.balance ?? 0n);
  machine.setField(frame.at, FIELD.TOP, top + 32);
  return undefined;
}

/** BLOBHASH of an existing hash: the core has taken its price. */
function blobHash(run: Run, frame: Frame): HaltReason | undefined {
  const { machine, message } = run;
  const at = run.word(frame, 0);
  machine.writeBytes(at, message.blobVersionedHashes[machine.readNumber(at)] ?? ZERO_HASH);
  return undefined;
}

/** SLOAD. */
function storageLoad(run: Run, frame: Frame): HaltReason | undefined {
  if (run.stackSize(frame) < 1) return "INSUFFICIENT_STACK_ITEMS";
  const { machine, table, accesses, rules, overlay } = run;
  const at = run.word(frame, 0);
  const slot = machine.readBytes(at, 32);
  let gas = table.load;
  if (rules.hasColdAccess) gas = accesses.warmSlot(frame.address, slot) ? COLD_SLOT_GAS : WARM_GAS;
  if (!run.charge(frame, gas)) return "INSUFFICIENT_GAS";
  machine.writeBytes(at, overlay.storage(frame.address, slot));
  return undefined;
}

const COLD_SLOT_GAS = 2_100;

function transientLoad(run: Run, frame: Frame): HaltReason | undefined {
  if (!run.charge(frame, TRANSIENT_GAS)) return "INSUFFICIENT_GAS";
  if (run.stackSize(frame) < 1) return "INSUFFICIENT_STACK_ITEMS";
  const at = run.word(frame, 0);
  run.machine.writeBytes(at, run.transient.get(frame.address, run.machine.readBytes(at, 32)));
  return undefined;
}

function transientStore(run: Run, frame: Frame): HaltReason | undefined {
  if (!run.charge(frame, TRANSIENT_GAS)) return "INSUFFICIENT_GAS";
  if (frame.isStatic) return "ILLEGAL_STATE_CHANGE";
  if (run.stackSize(frame) < 2) return "INSUFFICIENT_STACK_ITEMS";
  const { machine } = run;
  const slot = machine.readBytes(run.word(frame, 0), 32);
  run.transient.put(frame.address, slot, machine.readTrimmed(run.word(frame, 1)));
  run.drop(frame, 2);
  return undefined;
}

const TRANSIENT_GAS = 100;

/** LOG: the core has paid for it and taken its words off the stack, where the topics still lie. */
function log(topicCount: number): StateInstruction {
  return (run, frame) => {
    const { machine } = run;
    const size = machine.field(frame.at, FIELD.OUTPUT_SIZE);
    run.countLog(topicCount, size);
    const top = machine.field(frame.at, FIELD.TOP);
    const topics = Array.from({ length: topicCount }, (_, index) =>
      asHash(machine.readBytes(top + 32 * (topicCount - 1 - index), 32)),
    );
    const from = machine.field(frame.at, FIELD.OUTPUT);
    run.keep(LOG_BYTES + TOPIC_BYTES * topicCount + size);
    const { address } = frame;
    if (size > LONG_BYTES) {
      const data = new Uint8Array(size);
      run.work = (function* () {
        for (let at = 0; at < size; at += LONG_BYTES) {
          data.set(machine.bytes.subarray(from + at, from + Math.min(at + LONG_BYTES, size)), at);
          yield;
        }
        run.substate.logs.push({ address, topics, data });
      })();
    } else run.substate.logs.push({ address, topics, data: machine.bytes.slice(from, from + size) });
    return undefined;
  };
}

/** Maximum memory of a log, and of each of its topics. */
const LOG_BYTES = 500;
const TOPIC_BYTES = 250;
