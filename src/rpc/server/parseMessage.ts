import { endOfString, QUOTE } from "../results/jsonText.ts";

/**
 * Nesting depth of lists and objects, as in Besu's parser. Without limits a body of five megabytes of brackets blocks the
 * thread, and with it all other callers, for seconds.
 */
const DEPTH_LIMIT = 1000;
/**
 * Lists, objects and members of objects in one message: about forty times the largest batch. An object of twice as many
 * members takes half a second to parse.
 */
const PARTS_LIMIT = 200_000;

/** The value of a message above PARTS_LIMIT. */
export const TOO_MANY_PARTS = Symbol("too many parts");

/** Parses a message; undefined when it is invalid JSON or too deep, TOO_MANY_PARTS when it is above PARTS_LIMIT. */
export function parseMessage(text: string): unknown {
  const excess = hasManyParts(text) ? excessOf(text) : undefined;
  if (excess !== undefined) return excess === "parts" ? TOO_MANY_PARTS : undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Fast in the usual case of few parts, however long the strings are. */
function hasManyParts(text: string): boolean {
  if (text.length <= DEPTH_LIMIT) return false;
  let count = 0;
  for (const mark of ["[", "{", ":"]) {
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) {
      if (++count > DEPTH_LIMIT) return true;
    }
  }
  return false;
}

/** The limit that is exceeded first. Meaningless for invalid JSON. */
function excessOf(text: string): "depth" | "parts" | undefined {
  let depth = 0;
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index) - 1;
    else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) depth--;
    else if (code === COLON) count++;
    else if (code === OPENING_BRACKET || code === OPENING_BRACE) {
      depth++;
      count++;
    }
    if (depth > DEPTH_LIMIT) return "depth";
    if (count > PARTS_LIMIT) return "parts";
  }
  return undefined;
}

const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
