export interface BatchOperation {
  readonly key: Uint8Array;
  /** The value; absent for a delete. */
  readonly value?: Uint8Array;
}

/**
 * Puts and deletes collected for one atomic write; a later operation on a key wins. Keeps keys and values without a copy:
 * the caller must not change them afterwards.
 */
export class Batch {
  private readonly collected: BatchOperation[] = [];
  private bytes = 0;

  put(key: Uint8Array, value: Uint8Array): void {
    this.collected.push({ key, value });
    this.bytes += key.length + value.length;
  }

  delete(key: Uint8Array): void {
    this.collected.push({ key });
    this.bytes += key.length;
  }

  get operations(): readonly BatchOperation[] {
    return this.collected;
  }

  /** Sum of key and value lengths in bytes. */
  get byteLength(): number {
    return this.bytes;
  }
}
