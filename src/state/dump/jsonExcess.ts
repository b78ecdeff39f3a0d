interface JsonLimits {
  /** Lists, objects and their members, counted by the marks that begin or separate them. */
  readonly textParts: number;
  /** Lists and objects that lie in one another. */
  readonly textDepth: number;
}

/**
 * What of a JSON text is beyond its limits, found before it is parsed: 32 MiB of opening brackets alone, which gzip makes of 32 KiB,
 * take more than a gigabyte of memory. Meaningless for a text that is no JSON.
 */
export function excessOf(text: Uint8Array, { textParts, textDepth }: JsonLimits): string | undefined {
  let depth = 0;
  let parts = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case OPENING_BRACKET:
      case OPENING_BRACE:
        depth++;
        parts++;
        break;
      case CLOSING_BRACKET:
      case CLOSING_BRACE:
        depth--;
        break;
      case COLON:
      case COMMA:
        parts++;
        break;
    }
    if (depth > textDepth) return `lists and objects more than ${textDepth} deep`;
    if (parts > textParts) return `more than ${textParts} parts`;
  }
  return undefined;
}

/** Position of the quote that ends the string which begins at `start`. */
function endOfString(text: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1;
  return at;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
