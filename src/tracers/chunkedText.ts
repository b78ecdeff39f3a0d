/**
 * A JSON text of ASCII characters that may become long, and part of another. What is not being written is kept as bytes
 * outside of the JavaScript heap: strings that are joined from many small ones take several times their length there, and
 * a worker thread that has no heap left takes the whole process with it.
 */
export class ChunkedText {
  private readonly chunks: Buffer[] = [];
  private open = "";

  add(text: string): void {
    this.open += text;
    if (this.open.length >= CHUNK_LENGTH) this.close();
  }

  /** Adds all of another, which must not be used any more; a long one is not copied. */
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

  /** A place where something is to be written later. */
  mark(): number {
    this.close();
    return this.chunks.push(Buffer.alloc(0)) - 1;
  }

  /** Writes at a mark, once. */
  insert(mark: number, text: string): void {
    this.chunks[mark] = Buffer.from(text, "latin1");
  }

  /** All of it, in memory of its own; it is empty then. */
  takeBytes(): Uint8Array<ArrayBuffer> {
    this.close();
    const whole = new Uint8Array(this.chunks.reduce((sum, chunk) => sum + chunk.length, 0));
    let at = 0;
    for (const chunk of this.chunks.splice(0)) {
      whole.set(chunk, at);
      at += chunk.length;
    }
    return whole;
  }

  private close(): void {
    if (this.open !== "") this.chunks.push(Buffer.from(this.open, "latin1"));
    this.open = "";
  }
}

const CHUNK_LENGTH = 64 * 1024;
