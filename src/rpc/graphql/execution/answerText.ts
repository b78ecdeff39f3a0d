import type { JsonPiece } from "../../../primitives/jsonPieces.ts";

/**
 * The text of `data` as Besu formats it: each member of an object on its own line, a list on one line. It can be cut off at an
 * earlier place, where a null stands for what follows. All but its end is kept as bytes, which are outside the thread's heap.
 */
export class AnswerText {
  private readonly full: Buffer[] = [];
  /** The last piece, which still grows. */
  private piece = "";
  private fullLength = 0;
  /** The line feed and the blanks before a member at the current depth. */
  private indent = "\n  ";
  private before: Before = "nothing";

  /** Bytes, and characters of the last piece. */
  get length(): number {
    return this.fullLength + this.piece.length;
  }

  /** The text in pieces; nothing is to be written after that. */
  pieces(): readonly JsonPiece[] {
    return [...this.full, this.piece];
  }

  beginObject(): void {
    this.beginValue();
    this.append("{");
    this.indent += "  ";
    this.before = "opening";
  }

  endObject(): void {
    this.indent = this.indent.slice(0, -2);
    this.append(this.before === "opening" ? " }" : `${this.indent}}`);
    this.before = "value";
  }

  /** The name of a member as `nameOf` makes it, whose value follows. */
  name(name: string): void {
    this.append((this.before === "value" ? `,${this.indent}` : this.indent) + name);
    this.before = "name";
  }

  /** A member: its name as `nameOf` makes it, and its value as JSON. */
  member(name: string, json: string): void {
    this.append((this.before === "value" ? `,${this.indent}` : this.indent) + name + json);
    this.before = "value";
  }

  beginList(): void {
    this.beginValue();
    this.append("[");
    this.before = "opening";
  }

  endList(): void {
    this.append(" ]");
    this.before = "value";
  }

  /** A value as JSON. */
  value(json: string): void {
    this.beginValue();
    this.append(json);
    this.before = "value";
  }

  mark(): Mark {
    return { pieces: this.full.length, length: this.piece.length, indent: this.indent, before: this.before };
  }

  /** Cuts the text off at a mark. */
  returnTo({ pieces, length, indent, before }: Mark): void {
    // A character has three bytes at most.
    const piece = this.full[pieces]?.toString("utf8", 0, 3 * length) ?? this.piece;
    for (const dropped of this.full.splice(pieces)) this.fullLength -= dropped.length;
    this.piece = piece.slice(0, length);
    this.indent = indent;
    this.before = before;
  }

  private beginValue(): void {
    if (this.before === "value") this.append(", ");
    else if (this.before === "opening") this.append(" ");
  }

  private append(text: string): void {
    this.piece += text;
    if (this.piece.length < PIECE_LENGTH) return;
    const bytes = Buffer.from(this.piece, "utf8");
    this.full.push(bytes);
    this.fullLength += bytes.length;
    this.piece = "";
  }
}

/** The name of a member up to its value. */
export function nameOf(key: string): string {
  return `"${key}" : `;
}

/** What stands before the next value or name. */
type Before = "nothing" | "opening" | "name" | "value";

export interface Mark {
  readonly pieces: number;
  readonly length: number;
  readonly indent: string;
  readonly before: Before;
}

const PIECE_LENGTH = 64 * 1024;
