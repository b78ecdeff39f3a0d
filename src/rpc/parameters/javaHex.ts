import { ERRORS, RpcError } from "../errors/errors.ts";
import { decodeText, isAbsent } from "./parameters.ts";

/**
 * Hex text of at most 32 bytes, 0x optional, or a JSON scalar as its text (json-rpc.md#miner), for the miner_set…
 * methods.
 */
export function decodeHexText(value: unknown): string | undefined {
  const digits = digitsOf(decodeText(value));
  return digits !== undefined && hexError(digits) === undefined ? digits : undefined;
}

/** Why decodeHexText decoded nothing, with the messages of Besu's libraries. */
export function explainHexText(value: unknown): RpcError {
  const { code, message } = ERRORS.invalidParams;
  return new RpcError(code, message, reasonOf(value));
}

function reasonOf(value: unknown): string | undefined {
  if (isAbsent(value)) return "Missing required json rpc parameter at index 0";
  const digits = digitsOf(decodeText(value));
  if (digits !== undefined) return hexError(digits);
  const type = Array.isArray(value) ? "java.util.ArrayList" : "java.util.LinkedHashMap";
  return `Invalid json rpc parameter at index 0. Supplied value was: '${shortened(javaText(value))}' of type: '${type}' - expected type: 'java.lang.String'`;
}

const MAX_DIGITS = 64;

function digitsOf(text: string | undefined): string | undefined {
  return text?.startsWith("0x") ? text.slice(2) : text;
}

function hexError(digits: string): string | undefined {
  const at = digits.search(/[^0-9a-fA-F]/);
  if (at >= 0) {
    return `Illegal character '${digits.charAt(at)}' found at index ${at} in hex binary representation`;
  }
  if (digits.length <= MAX_DIGITS) return undefined;
  return `Hex value is too large: expected at most 32 bytes but got ${Math.ceil(digits.length / 2)}`;
}

/** Characters of a caller's value that the error shows. */
const SHOWN_LENGTH = 200;

function shortened(text: string): string {
  return text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH)}…`;
}

/** Levels of a caller's value that the error shows. */
const SHOWN_DEPTH = 8;

/** A list or an object as Java prints it. */
function javaText(value: unknown, depth = 0): string {
  if (typeof value !== "object" || value === null) return String(value);
  if (depth === SHOWN_DEPTH) return "…";
  if (Array.isArray(value)) return `[${value.map((item: unknown) => javaText(item, depth + 1)).join(", ")}]`;
  const members = Object.entries(value).map(([name, member]) => `${name}=${javaText(member, depth + 1)}`);
  return `{${members.join(", ")}}`;
}
