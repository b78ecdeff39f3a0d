import { EMPTY_BYTES } from "../primitives/hex.ts";
import { bigintAt } from "../primitives/quantity.ts";
import { readRlpSpan } from "../primitives/rlp.ts";

/** One object for all empty lists. */
export const NO_ENTRIES: readonly never[] = [];

/**
 * Reads a list's fields strictly, one after another: an object for each field would cost more than reading it. All methods
 * throw RangeError for a field that is missing or does not fit.
 */
export class FieldReader {
  /** Position of the first field. */
  readonly from: number;
  private readonly bytes: Uint8Array;
  private readonly until: number;
  private next: number;
  /** Span of the last field read. */
  private readonly span = { isList: false, start: 0, from: 0, until: 0 };
  private read = 0;

  /** Reads the list that begins at `listAt` and must end with `bytes`. */
  constructor(bytes: Uint8Array, listAt: number) {
    const list = readRlpSpan(bytes, listAt, bytes.length);
    if (!list.isList) throw new RangeError("not a list");
    if (list.until !== bytes.length) throw new RangeError("bytes after the list");
    this.bytes = bytes;
    this.from = list.from;
    this.next = list.from;
    this.until = list.until;
  }

  /** Position of the next field. */
  get position(): number {
    return this.next;
  }

  get isAtEnd(): boolean {
    return this.next === this.until;
  }

  /** Goes on at a position that an earlier reader of the same list had. */
  goTo(position: number): void {
    this.next = position;
  }

  skip(count: number): void {
    for (let left = count; left > 0; left--) this.advance();
  }

  scalar(maxBytes = 32): bigint {
    const { isList, from, until } = this.advance();
    if (isList) throw this.wrong("must be bytes");
    if (until - from > maxBytes) throw this.wrong(`is longer than ${maxBytes} bytes`);
    if (from < until && this.bytes[from] === 0) throw this.wrong("has leading zeros");
    return bigintAt(this.bytes, from, until);
  }

  /**
   * Skips a scalar of at least 1 and below `limit` without converting it; returns whether it is below `threshold`. Both are
   * numbers of 32 bytes.
   */
  passScalarBelow(limit: Uint8Array, threshold: Uint8Array): boolean {
    const { isList, from, until } = this.advance();
    const length = until - from;
    if (isList || length === 0 || length > 32 || this.bytes[from] === 0 || !this.isBelow(limit, from, length))
      throw this.wrong("does not lie between 1 and the order of the curve");
    return this.isBelow(threshold, from, length);
  }

  /** The field's bytes, as a view. */
  string(): Uint8Array {
    const { isList, from, until } = this.advance();
    if (isList) throw this.wrong("must be bytes");
    return from === until ? EMPTY_BYTES : this.bytes.subarray(from, until);
  }

  /**
   * The members of a field that is a list, decoded one by one: untrusted peers send it, so decoding stops at the first wrong
   * member.
   */
  listOf<T>(readMember: (members: FieldReader) => T): readonly T[] {
    const { isList, start, from, until } = this.advance();
    if (!isList) throw this.wrong("must be a list");
    if (from === until) return NO_ENTRIES;
    const members = new FieldReader(this.bytes.subarray(start, until), 0);
    const entries: T[] = [];
    while (!members.isAtEnd) entries.push(readMember(members));
    return entries;
  }

  /** A field that is a list of fields; `readFields` reads all of them. */
  group<T>(readFields: (fields: FieldReader) => T): T {
    const { isList, start, until } = this.advance();
    if (!isList) throw this.wrong("must be a list");
    const fields = new FieldReader(this.bytes.subarray(start, until), 0);
    const value = readFields(fields);
    fields.end();
    return value;
  }

  /** Copies a scalar of at most 32 bytes to the end of into[at..at + 32), which must hold zeros. */
  copyScalar(into: Uint8Array, at: number): void {
    const { from, until } = this.advance();
    into.set(this.bytes.subarray(from, until), at + 32 - (until - from));
  }

  /** Throws RangeError if there are more fields. */
  end(): void {
    if (!this.isAtEnd) throw new RangeError(`there are more than ${this.read} fields`);
  }

  private isBelow(limit: Uint8Array, from: number, length: number): boolean {
    if (length < limit.length) return true;
    for (let at = 0; at < length; at++) {
      const difference = (this.bytes[from + at] as number) - (limit[at] as number);
      if (difference !== 0) return difference < 0;
    }
    return false;
  }

  private advance(): ReturnType<typeof readRlpSpan> {
    if (this.isAtEnd) throw new RangeError(`there are only ${this.read} fields`);
    const span = readRlpSpan(this.bytes, this.next, this.until, this.span);
    this.next = span.until;
    this.read++;
    return span;
  }

  private wrong(what: string): RangeError {
    return new RangeError(`field ${this.read - 1} ${what}`);
  }
}
