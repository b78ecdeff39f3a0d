import type { SimulationResult } from "../execution/simulation/callRequest.ts";
import { bigintAt } from "../primitives/quantity.ts";

/** Readings of what tokens' contracts answer to questions about themselves. */

/** Gas of a question: enough for every honest answer about a token, and little for one that only wastes time. */
export const GAS_OF_QUESTION = 500_000n;
/** Characters of a name that are shown. */
const MAX_NAME_CHARACTERS = 64;
const BYTES_OF_CHARACTER = 4;
const WORD = 32;

/** The first word of what was returned. */
export function wordOf(result: SimulationResult): bigint | undefined {
  return result.kind === "returned" && result.data.length >= WORD
    ? bigintAt(result.data, 0, WORD)
    : undefined;
}

/** A name: a string, or as some old tokens have it 32 bytes. Cut after some characters. */
export function textOf(result: SimulationResult): string | undefined {
  if (result.kind !== "returned") return undefined;
  const { data } = result;
  if (data.length === WORD) return shown(data.subarray(0, endOfText(data)));
  if (data.length < 2 * WORD) return undefined;
  const offset = bigintAt(data, 0, WORD);
  if (offset + BigInt(WORD) > data.length) return undefined;
  const start = Number(offset) + WORD;
  const length = bigintAt(data, start - WORD, start);
  if (length > BigInt(data.length - start)) return undefined;
  return shown(
    data.subarray(start, start + Math.min(Number(length), BYTES_OF_CHARACTER * MAX_NAME_CHARACTERS)),
  );
}

function endOfText(bytes: Uint8Array): number {
  const end = bytes.indexOf(0);
  return end === -1 ? bytes.length : end;
}

function shown(bytes: Uint8Array): string {
  return [...new TextDecoder().decode(bytes)].slice(0, MAX_NAME_CHARACTERS).join("");
}
