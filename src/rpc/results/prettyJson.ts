import { StringDecoder } from "node:string_decoder";
import { type JsonPiece, slicesOf } from "../../primitives/jsonPieces.ts";
import { BACKSLASH, QUOTE } from "./jsonText.ts";

/**
 * The same JSON laid out for people as the incumbent does with --json-pretty-print-enabled: members on lines of their
 * own, lists on one. It works on the text, which has no spaces of its own, so that no digit of a number is lost.
 */
export function prettyJson(json: string): string {
  return new JsonLayout().next(json);
}

/** As prettyJson, of a text in pieces. A slice takes some milliseconds, of an answer a thousand levels deep some fifty. */
export function* prettySlices(pieces: Iterable<JsonPiece>): Generator<string, void> {
  const layout = new JsonLayout();
  // A slice of bytes may end within a character.
  const decoder = new StringDecoder("utf8");
  for (const slice of slicesOf(pieces, SLICE_LENGTH))
    yield layout.next(typeof slice === "string" ? slice : decoder.write(slice));
}

const SLICE_LENGTH = 64 * 1024;

/** Lays out a text that comes in parts, which may end anywhere. */
class JsonLayout {
  private readonly containers: Bracket[] = [];
  private indent = "\n";
  /** A bracket that the next sign may close again. */
  private opened: Bracket | undefined;
  private isInString = false;
  private isEscaped = false;

  next(json: string): string {
    let laid = "";
    for (let at = 0; at < json.length; ) {
      const start = at;
      if (this.isInString) {
        at = this.endOfString(json, at);
        laid += json.slice(start, at);
        continue;
      }
      const first = json[at] ?? "";
      if (SIGNS.has(first)) {
        at++;
        laid += this.sign(first);
        continue;
      }
      this.isInString = first === '"';
      at = this.isInString ? this.endOfString(json, at + 1) : endOfWord(json, at);
      laid += this.begun() + json.slice(start, at);
    }
    return laid;
  }

  private sign(sign: string): string {
    if (this.opened !== undefined && (sign === "}" || sign === "]")) {
      const empty = `${this.opened} ${sign}`;
      this.opened = undefined;
      return empty;
    }
    switch (sign) {
      case "{":
      case "[": {
        const before = this.begun();
        this.opened = sign;
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

  /** The bracket before something that is in it, if it is not written yet. */
  private begun(): string {
    const { opened } = this;
    if (opened === undefined) return "";
    this.opened = undefined;
    this.containers.push(opened);
    if (opened === "[") return "[ ";
    this.indent += "  ";
    return `{${this.indent}`;
  }

  /** Position after the closing quote, or the end of what there is. */
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

const SIGNS: ReadonlySet<string> = new Set("{}[],:");
const NEXT_SIGN = /[{}[\],:]/g;

function endOfWord(json: string, start: number): number {
  NEXT_SIGN.lastIndex = start;
  return NEXT_SIGN.exec(json)?.index ?? json.length;
}
