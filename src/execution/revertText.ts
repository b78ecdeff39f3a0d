import { toDigits, viewAsBuffer } from "../primitives/hex.ts";

/** True for the output of `revert("…")` and `require`: Solidity's Error(string). */
export function isErrorText(output: Uint8Array): boolean {
  return selectorOf(output) === ERROR_SELECTOR;
}

/** The text of an Error(string); undefined when it does not decode. */
export function decodeErrorText(output: Uint8Array): string | undefined {
  return decodeAbiString(output.subarray(SELECTOR_BYTES));
}

/** Describes the output of a REVERT, if it is Solidity's Error(string) or Panic(uint256). */
export function decodeRevertText(output: Uint8Array): string | undefined {
  if (isErrorText(output)) return decodeErrorText(output);
  const code = decodePanicCode(output);
  return code && (panicText(code) ?? `unknown panic code: ${code}`);
}

/** The code of a Panic(uint256), as a quantity; undefined for any other output. */
export function decodePanicCode(output: Uint8Array): string | undefined {
  if (selectorOf(output) !== PANIC_SELECTOR || output.length !== SELECTOR_BYTES + WORD_BYTES)
    return undefined;
  return `0x${BigInt(`0x${toDigits(output.subarray(SELECTOR_BYTES))}`).toString(16)}`;
}

/** What Solidity means by the code of a panic; undefined for a code that it does not have. */
export function panicText(code: string): string | undefined {
  return PANICS.get(code);
}

const ERROR_SELECTOR = "08c379a0";
const PANIC_SELECTOR = "4e487b71";
const SELECTOR_BYTES = 4;
const WORD_BYTES = 32;

/** Panic codes with the descriptions of Solidity's documentation. */
const PANICS: ReadonlyMap<string, string> = new Map([
  ["0x0", "generic panic"],
  ["0x1", "assert(false)"],
  ["0x11", "arithmetic underflow or overflow"],
  ["0x12", "division or modulo by zero"],
  ["0x21", "enum overflow"],
  ["0x22", "invalid encoded storage byte array accessed"],
  ["0x31", "out-of-bounds array access; popping on an empty array"],
  ["0x32", "out-of-bounds access of an array or bytesN"],
  ["0x41", "out of memory"],
  ["0x51", "uninitialized function"],
]);

function selectorOf(output: Uint8Array): string {
  return toDigits(output.subarray(0, SELECTOR_BYTES));
}

/** Decodes an ABI-encoded string; undefined if it points outside of the bytes. */
function decodeAbiString(encoded: Uint8Array): string | undefined {
  const start = readWord(encoded, 0);
  if (start === undefined) return undefined;
  const length = readWord(encoded, start);
  if (length === undefined || start + WORD_BYTES + length > encoded.length) return undefined;
  return viewAsBuffer(encoded).toString("utf8", start + WORD_BYTES, start + WORD_BYTES + length);
}

/** The word at `offset` as a position in the same bytes; undefined if either lies outside of them. */
function readWord(bytes: Uint8Array, offset: number): number | undefined {
  if (offset + WORD_BYTES > bytes.length) return undefined;
  const word = BigInt(`0x${toDigits(bytes.subarray(offset, offset + WORD_BYTES))}`);
  return word <= BigInt(bytes.length) ? Number(word) : undefined;
}
