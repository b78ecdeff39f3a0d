import { endOfString, QUOTE } from "../../primitives/jsonText.ts";
import { COMPARE_LIMITS } from "./limits.ts";

/** Marks a number: JSON texts have no such character unless escaped. */
const NUMBER_MARK = "\u0000";

/**
 * Parses JSON of bounded depth with each number kept as it is written, because parsing would round large ones and treat 1
 * and 1.0 as the same. Throws on anything else.
 */
export function parseAnswer(text: string): unknown {
  return JSON.parse(withMarkedNumbers(text));
}

/** A parsed answer as JSON text, its numbers as they were written. */
export function showValue(value: unknown): string {
  if (value === undefined) return "nothing";
  return JSON.stringify(value).replaceAll(/"\\u0000([-+.\deE]*)"/g, "$1");
}

/** The number as it was written; undefined if the value is not a number. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value !== "string" || !value.startsWith(NUMBER_MARK)) return undefined;
  return Number(value.slice(1));
}

function withMarkedNumbers(text: string): string {
  const parts: string[] = [];
  let copied = 0;
  let depth = 0;
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      continue;
    }
    if (isNumberStart(code)) {
      const end = endOfNumber(text, at);
      parts.push(text.slice(copied, at), `"\\u0000${text.slice(at, end)}"`);
      at = end;
      copied = end;
      continue;
    }
    if (code === 0x5b || code === 0x7b) depth++;
    else if (code === 0x5d || code === 0x7d) depth--;
    if (depth > COMPARE_LIMITS.answerDepth) throw new Error("lists and objects are nested too deeply");
    at++;
  }
  parts.push(text.slice(copied));
  return parts.join("");
}

/** A digit or a minus. */
function isNumberStart(code: number): boolean {
  return code === 0x2d || (code >= 0x30 && code <= 0x39);
}

function endOfNumber(text: string, start: number): number {
  let at = start;
  while (at < text.length && "+-.0123456789eE".includes(text.charAt(at))) at++;
  return at;
}
