/**
 * A JSON text of ASCII characters that may become long, and part of another one. Finished chunks are kept as bytes outside
 * of the JavaScript heap: strings joined from many small ones take several times their length there, and a worker thread
 * that runs out of heap crashes the whole process.
 */
export class ChunkedText {
  private readonly chunks: Buffer[] = [];
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
    return this.chunks.push(Buffer.alloc(0)) - 1;
  }

  /** Writes at a mark, once. */
  insert(mark: number, text: string): void {
    this.chunks[mark] = Buffer.from(text, "latin1");
  }

  /** Returns the whole text in a buffer of its own and empties this one. */
  takeBytes(): Uint8Array<ArrayBuffer> {
    this.close();
    const bytes = new Uint8Array(this.chunks.reduce((sum, chunk) => sum + chunk.length, 0));
    let at = 0;
    for (const chunk of this.chunks.splice(0)) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    return bytes;
  }

  private close(): void {
    if (this.open !== "") this.chunks.push(Buffer.from(this.open, "latin1"));
    this.open = "";
  }
}

const CHUNK_LENGTH = 64 * 1024;
