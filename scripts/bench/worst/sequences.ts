import type { Random } from "../../../test/storage/random.ts";
import { code, OP, push, twoPhases } from "./assembly.ts";
import type { Case } from "./instructions.ts";
import { CALLEES, zeros } from "./stage.ts";

const call = (address: bigint): Uint8Array => code(...zeros(5), push(address), OP.GAS, OP.CALL, OP.POP);
const calleeOf = (name: string): bigint => CALLEES.find(([known]) => known === name)?.[1] ?? 0n;

/** State that can accumulate in a transaction. */
const PILES: readonly (readonly [string, Uint8Array])[] = [
  ["LOG0", code(OP.PUSH0, OP.PUSH0, OP.LOG0)],
  ["LOG0 of 1 KB", code(push(1024), OP.PUSH0, OP.LOG0)],
  ["new slots", code(push(1), OP.GAS, OP.SSTORE)],
  ["read slots", code(OP.GAS, OP.SLOAD, OP.POP)],
  ["transient slots", code(push(1), OP.GAS, OP.TSTORE)],
  ["touched accounts", code(OP.GAS, OP.BALANCE, OP.POP)],
  ["creations", code(...zeros(3), OP.CREATE, OP.POP)],
  ["self-destructs", call(calleeOf("SELFDESTRUCT to a fresh account"))],
  ["memory", code(push(1), OP.GAS, push(4), OP.SHR, OP.MSTORE)],
];

/** Operations that may have to copy or walk that state. */
const WALKS: readonly (readonly [string, Uint8Array])[] = [
  ["calls", call(calleeOf("STOP"))],
  ["calls that fail", code(...zeros(5), push(calleeOf("INVALID")), push(100), OP.CALL, OP.POP)],
  ["nested calls", call(calleeOf("itself, all the way down"))],
  ["creations", code(...zeros(3), OP.CREATE, OP.POP)],
  ["LOG0", code(OP.PUSH0, OP.PUSH0, OP.LOG0)],
];

/** Spends half of the gas on accumulation, and half on an operation that may depend on its size. */
export function drawSequence(random: Random): Case {
  const [pile, first] = PILES[random.below(PILES.length)] ?? ["", new Uint8Array(0)];
  const [walk, second] = WALKS[random.below(WALKS.length)] ?? ["", new Uint8Array(0)];
  return { name: `${pile}, then ${walk}`, code: twoPhases(first, second), input: new Uint8Array(0) };
}

export const SEQUENCES = PILES.length * WALKS.length;
