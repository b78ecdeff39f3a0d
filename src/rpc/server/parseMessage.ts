import { jsonExcess } from "../../primitives/jsonExcess.ts";

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

const LIMITS = { depth: DEPTH_LIMIT, parts: PARTS_LIMIT, countsItems: false };

/** The value of a message above PARTS_LIMIT. */
export const TOO_MANY_PARTS = Symbol("too many parts");

/** Parses a message; undefined when it is invalid JSON or too deep, TOO_MANY_PARTS when it is above PARTS_LIMIT. */
export function parseMessage(text: string): unknown {
  const excess = hasManyParts(text) ? jsonExcess(text, LIMITS) : undefined;
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
