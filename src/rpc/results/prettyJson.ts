import { StringDecoder } from "node:string_decoder";
import { type JsonPiece, slicesOf } from "../../primitives/jsonPieces.ts";
import { BACKSLASH, QUOTE } from "../../primitives/jsonText.ts";

/**
 * Formats JSON as Besu does with --json-pretty-print-enabled: each member on its own line, a list on one line. Works on
 * compact JSON text rather than values, so that no digit of a number is lost.
 */
export function prettyJson(json: string): string {
  return new JsonFormatter().next(json);
}

/** Like `prettyJson`, for a text in pieces. A slice takes some milliseconds, at a thousand levels of nesting some fifty. */
export function* prettySlices(pieces: Iterable<JsonPiece>): Generator<string, void> {
  const formatter = new JsonFormatter();
  // A slice of bytes may end in the middle of a character.
  const decoder = new StringDecoder("utf8");
  for (const slice of slicesOf(pieces, SLICE_LENGTH))
    yield formatter.next(typeof slice === "string" ? slice : decoder.write(slice));
}

const SLICE_LENGTH = 64 * 1024;

/** Formats a text that arrives in parts, which may end anywhere. */
class JsonFormatter {
  private readonly containers: Bracket[] = [];
  private indent = "\n";
  /** An opening bracket not written yet, because the next token may close an empty container. */
  private opened: Bracket | undefined;
  private isInString = false;
  private isEscaped = false;

  next(json: string): string {
    let formatted = "";
    for (let at = 0; at < json.length; ) {
      const start = at;
      if (this.isInString) {
        at = this.endOfString(json, at);
        formatted += json.slice(start, at);
        continue;
      }
      const first = json[at] ?? "";
      if (PUNCTUATORS.has(first)) {
        at++;
        formatted += this.punctuator(first);
        continue;
      }
      this.isInString = first === '"';
      at = this.isInString ? this.endOfString(json, at + 1) : endOfLiteral(json, at);
      formatted += this.openBracket() + json.slice(start, at);
    }
    return formatted;
  }

  private punctuator(character: string): string {
    if (this.opened !== undefined && (character === "}" || character === "]")) {
      const empty = `${this.opened} ${character}`;
      this.opened = undefined;
      return empty;
    }
    switch (character) {
      case "{":
      case "[": {
        const before = this.openBracket();
        this.opened = character;
        return before;
      }
      case "}":
        this.containers.pop();
        this.indent = this.indent.slice(0, -2);
        return `${this.indent}}`;
      case "]":
        this.containers.pop();
        return " ]";
      case ",":
        return this.containers.at(-1) === "{" ? `,${this.indent}` : ", ";
      default:
        return " : ";
    }
  }

  /** The opening bracket before the first item in it, if it is not written yet. */
  private openBracket(): string {
    const { opened } = this;
    if (opened === undefined) return "";
    this.opened = undefined;
    this.containers.push(opened);
    if (opened === "[") return "[ ";
    this.indent += "  ";
    return `{${this.indent}`;
  }

  /** Position after the closing quote, or the end of the part. */
  private endOfString(json: string, start: number): number {
    for (let at = start; at < json.length; at++) {
      const code = json.charCodeAt(at);
      if (this.isEscaped) this.isEscaped = false;
      else if (code === BACKSLASH) this.isEscaped = true;
      else if (code === QUOTE) {
        this.isInString = false;
        return at + 1;
      }
    }
    return json.length;
  }
}

type Bracket = "{" | "[";

const PUNCTUATORS: ReadonlySet<string> = new Set("{}[],:");
const NEXT_PUNCTUATOR = /[{}[\],:]/g;

function endOfLiteral(json: string, start: number): number {
  NEXT_PUNCTUATOR.lastIndex = start;
  return NEXT_PUNCTUATOR.exec(json)?.index ?? json.length;
}
