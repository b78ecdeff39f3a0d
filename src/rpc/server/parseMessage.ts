import { endOfString, QUOTE } from "../results/jsonText.ts";

/**
 * Lists and objects that may lie in each other, as with the incumbent's parser. Without limits the five megabytes of a
 * body hold the main thread for seconds when they are nothing but brackets, and blocks with it.
 */
const DEPTH_LIMIT = 1000;
/**
 * Lists, objects and members of objects in one message: some forty of the largest batches. An object of twice as many
 * members takes half a second to read.
 */
const PARTS_LIMIT = 200_000;

/** Stands for a message with too much in it. */
export const TOO_MUCH = Symbol("too much");

/** What a client sent, as a value; undefined when it is no JSON, or too deep, and TOO_MUCH when it has too much in it. */
export function parseMessage(text: string): unknown {
  const excess = hasManyParts(text) ? excessOf(text) : undefined;
  if (excess !== undefined) return excess === "parts" ? TOO_MUCH : undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Quick where there are few, however long the strings are: the usual case. */
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

/** Which limit is passed first. Says nothing of text that is no JSON. */
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
