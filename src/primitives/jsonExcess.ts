import { endOfString, QUOTE } from "./jsonText.ts";

interface JsonLimits {
  /** Lists and objects that lie in one another. */
  readonly depth: number;
  /** Lists, objects and their members. */
  readonly parts: number;
  /** Whether members count that follow another one, by the comma, besides those with a name. */
  readonly countsItems: boolean;
}

/** The limit that a JSON text exceeds first, found without parsing it. Meaningless for a text that is no JSON. */
export function jsonExcess(text: string, limits: JsonLimits): "depth" | "parts" | undefined {
  let depth = 0;
  let parts = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) depth--;
    else if (code === COLON || (code === COMMA && limits.countsItems)) parts++;
    else if (code === OPENING_BRACKET || code === OPENING_BRACE) {
      depth++;
      parts++;
    }
    if (depth > limits.depth) return "depth";
    if (parts > limits.parts) return "parts";
  }
  return undefined;
}

const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
