import type { QuickTable } from "./instruction.ts";

/** The synchronous instructions, as tables indexed by opcode. */
export interface HotTables {
  /** The opcode itself if the fast loop (hotLoop.ts) performs it, CALL_QUICK if `quick` does, else LEAVE. */
  readonly actions: Uint8Array;
  /** Charged before anything else. */
  readonly fees: Uint32Array;
  /** Words that must be on the stack. */
  readonly needs: Uint8Array;
  readonly quick: QuickTable;
}

export const CALL_QUICK = 0xfc;
export const LEAVE = 0xfe;

/** Builds the tables for a fork; `feeOf` is undefined for opcodes that the fork does not have. */
export function hotTables(quick: QuickTable, feeOf: (code: number) => number | undefined): HotTables {
  const actions = new Uint8Array(256).fill(LEAVE);
  const fees = new Uint32Array(256);
  const needs = new Uint8Array(256);
  for (let code = 0; code < 256; code++) {
    const fee = feeOf(code);
    if (fee === undefined) continue;
    const needed = wordsNeeded(code);
    if (quick[code] !== undefined) actions[code] = CALL_QUICK;
    else if (needed !== undefined) {
      actions[code] = code;
      fees[code] = fee;
      needs[code] = needed;
    }
  }
  return { actions, fees, needs, quick };
}

/** Words that an instruction of the loop needs on the stack; undefined for other instructions. */
function wordsNeeded(code: number): number | undefined {
  if (code >= 0x60 && code <= 0x7f) return 0;
  if (code >= 0x80 && code <= 0x8f) return code - 0x7f;
  if (code >= 0x90 && code <= 0x9f) return code - 0x8e;
  return WORDS_NEEDED.get(code);
}

const WORDS_NEEDED: ReadonlyMap<number, number> = new Map([
  ...[0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07].map((code) => [code, 2] as const),
  ...[0x08, 0x09].map((code) => [code, 3] as const),
  ...[0x0b, 0x10, 0x11, 0x12, 0x13, 0x14].map((code) => [code, 2] as const),
  ...[0x15, 0x19, 0x50, 0x51, 0x56].map((code) => [code, 1] as const),
  ...[0x16, 0x17, 0x18, 0x1a, 0x1b, 0x1c, 0x1d, 0x52, 0x57].map((code) => [code, 2] as const),
  ...[0x5b, 0x5f].map((code) => [code, 0] as const),
]);
