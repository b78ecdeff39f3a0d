/**
 * Cuts a stream of bytes into JSON texts, one after the other, with or without white space between them, as go-ethereum's and
 * web3.py's clients send them and read them. A list or an object ends with its last bracket, wherever the pieces of the
 * stream end. Anything else is no request: it ends with its line, or with the piece that it came in, and is passed on for the caller
 * to refuse.
 *
 * A text is not checked here, only its brackets and strings are counted. What it holds until its end is bounded.
 */
export class JsonTexts {
  private readonly limitBytes: number;
  /** What came last, and where to read on in it. */
  private piece: Buffer = NOTHING;
  private at = 0;
  /** The beginning of the text, from earlier pieces, with room for more. */
  private held: Buffer = NOTHING;
  private heldBytes = 0;
  private depth = 0;
  private isInString = false;
  private isEscaped = false;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  /** Whether a text has begun and not ended. */
  get isPartial(): boolean {
    return this.depth > 0;
  }

  /** Adds what was received. Texts of the piece before must have been taken. */
  add(piece: Buffer): void {
    this.piece = piece;
    this.at = 0;
  }

  /** The next text; undefined when more has to come; TOO_LONG when it has more bytes than the limit, after which there is no next one. */
  next(): string | undefined | typeof TOO_LONG {
    if (this.depth === 0 && !this.skipSpace()) return undefined;
    const start = this.at;
    if (this.depth === 0 && !isOpening(this.piece[start])) return this.line();
    const isWhole = this.readToEnd();
    const bytes = this.at - start;
    if (this.heldBytes + bytes > this.limitBytes) return TOO_LONG;
    if (!isWhole) {
      this.hold(start);
      this.add(NOTHING);
      return undefined;
    }
    if (this.heldBytes === 0) return this.piece.toString("utf8", start, this.at);
    this.hold(start);
    const text = this.held.toString("utf8", 0, this.heldBytes);
    this.held = NOTHING;
    this.heldBytes = 0;
    return text;
  }

  /** False when nothing but white space is left. */
  private skipSpace(): boolean {
    const { piece } = this;
    while (this.at < piece.length && isSpace(piece[this.at])) this.at++;
    if (this.at < piece.length) return true;
    this.add(NOTHING);
    return false;
  }

  private line(): string {
    const start = this.at;
    const end = this.piece.indexOf(LINE_FEED, start);
    this.at = end < 0 ? this.piece.length : end;
    return this.piece.toString("utf8", start, this.at);
  }

  /** Reads on to the end of the text, or of the piece; whether it was that of the text. */
  private readToEnd(): boolean {
    const { piece } = this;
    while (this.at < piece.length) {
      if (this.isInString) {
        this.readString();
        continue;
      }
      const code = piece[this.at++];
      if (code === QUOTE) this.isInString = true;
      else if (isOpening(code)) this.depth++;
      else if ((code === CLOSING_BRACE || code === CLOSING_BRACKET) && --this.depth === 0) return true;
    }
    return false;
  }

  /** Reads on to the end of the string, or of the piece. Most bytes are in strings, and to search for a quote is fast. */
  private readString(): void {
    const { piece, at } = this;
    const quote = piece.indexOf(QUOTE, at);
    const end = quote < 0 ? piece.length : quote;
    let escapes = end;
    while (escapes > at && piece[escapes - 1] === BACKSLASH) escapes--;
    const isOdd = (end - escapes) % 2 === 1;
    // A backslash at the end of the piece before belongs to them where only backslashes lie between.
    const isEscaped = escapes === at && this.isEscaped ? !isOdd : isOdd;
    this.isEscaped = quote < 0 && isEscaped;
    this.isInString = quote < 0 || isEscaped;
    this.at = quote < 0 ? end : quote + 1;
  }

  /** Keeps the bytes from `start` to here, by copying them: a piece may be a single byte, and each piece costs more than that. */
  private hold(start: number): void {
    const { piece, at, heldBytes, limitBytes } = this;
    const bytes = heldBytes + at - start;
    if (bytes > this.held.length) {
      const room = Buffer.allocUnsafeSlow(Math.min(limitBytes, Math.max(LEAST_ROOM, 2 * bytes)));
      this.held.copy(room, 0, 0, heldBytes);
      this.held = room;
    }
    piece.copy(this.held, heldBytes, start, at);
    this.heldBytes = bytes;
  }
}

/** A text has more bytes than it may have; where the next one begins cannot be known. */
export const TOO_LONG = Symbol("too long");

function isOpening(code: number | undefined): boolean {
  return code === OPENING_BRACE || code === OPENING_BRACKET;
}

function isSpace(code: number | undefined): boolean {
  return code === 0x20 || code === LINE_FEED || code === 0x0d || code === 0x09;
}

const NOTHING = Buffer.alloc(0);
const LEAST_ROOM = 1024;
const LINE_FEED = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
