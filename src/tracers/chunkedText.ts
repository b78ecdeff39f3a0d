import { joinBytes } from "../primitives/hex.ts";

/**
 * A JSON text of ASCII characters that may become long, and part of another one. Finished chunks are kept as bytes outside
 * of the JavaScript heap: strings joined from many small ones take several times their length there, and a worker thread
 * that runs out of heap crashes the whole process.
 */
export class ChunkedText {
  /** Finished chunks; those of at least CHUNK_LENGTH have a buffer of their own. */
  private readonly chunks: Uint8Array<ArrayBuffer>[] = [];
  private open = "";

  add(text: string): void {
    this.open += text;
    if (this.open.length >= CHUNK_LENGTH) this.close();
  }

  /** Appends another text, which must not be used afterwards; a long one is not copied. */
  take(other: ChunkedText): void {
    if (other.chunks.length > 0) {
      this.close();
      for (const chunk of other.chunks) this.chunks.push(chunk);
    }
    this.add(other.open);
  }

  get isEmpty(): boolean {
    return this.open === "" && this.chunks.length === 0;
  }

  /** Marks a position for `insert`. */
  mark(): number {
    this.close();
    return this.chunks.push(NOTHING) - 1;
  }

  /** Writes at a mark, once. */
  insert(mark: number, text: string): void {
    this.chunks[mark] = bytesOf(text);
  }

  /**
   * Returns the whole text and empties this one. Each piece has a buffer of its own, which can be handed to another thread:
   * joining a long text would hold it in memory twice. Only short pieces are joined with their neighbours.
   */
  takePieces(): readonly Uint8Array<ArrayBuffer>[] {
    this.close();
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    let short: Uint8Array<ArrayBuffer>[] = [];
    let shortLength = 0;
    const joinShort = (): void => {
      if (shortLength > 0) pieces.push(joinBytes(short));
      short = [];
      shortLength = 0;
    };
    for (const chunk of this.chunks.splice(0)) {
      if (chunk.length >= CHUNK_LENGTH) {
        joinShort();
        pieces.push(chunk);
        continue;
      }
      short.push(chunk);
      shortLength += chunk.length;
      if (shortLength >= CHUNK_LENGTH) joinShort();
    }
    joinShort();
    return pieces;
  }

  private close(): void {
    if (this.open !== "") this.chunks.push(bytesOf(this.open));
    this.open = "";
  }
}

const CHUNK_LENGTH = 64 * 1024;
const NOTHING = new Uint8Array(0);

/** A long text in a buffer of its own: what Buffer.from makes cannot be handed over, or shares its buffer with others. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  if (text.length < CHUNK_LENGTH) return Buffer.from(text, "latin1");
  const bytes = Buffer.from(new ArrayBuffer(text.length));
  bytes.write(text, "latin1");
  return bytes;
}
