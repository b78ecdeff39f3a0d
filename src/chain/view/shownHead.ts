import { asHash, type Hash } from "../../primitives/hash.ts";
import type { ChainReader } from "../chainReader.ts";

const HASH_OFFSET = 4;
const BYTES = HASH_OFFSET + 32;

/**
 * The newest head that this process has shown to anybody, in memory that its threads share. The main thread writes it when
 * the head moves, before it notifies anyone.
 *
 *   sequence i32, odd while the hash is being written | hash of the block, 32 bytes
 */
export class ShownHead {
  /** Memory that is handed to other threads. */
  readonly memory: SharedArrayBuffer;
  private readonly counter: Int32Array;
  private readonly hash: Uint8Array;

  /** The shown head in that memory, or in new memory. */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(BYTES)) {
    this.memory = memory;
    this.counter = new Int32Array(memory, 0, 1);
    this.hash = new Uint8Array(memory, HASH_OFFSET, 32);
  }

  /** Changes with each move of the head, even one back to an earlier block. */
  get sequence(): number {
    return Atomics.load(this.counter, 0);
  }

  /** Reads the shown head; undefined while the main thread is writing it, and before the first head. */
  read(): { readonly sequence: number; readonly hash: Hash } | undefined {
    const before = this.sequence;
    const copy = asHash(Uint8Array.from(this.hash));
    return before === 0 || before % 2 !== 0 || this.sequence !== before
      ? undefined
      : { sequence: before, hash: copy };
  }

  /** Shows the head of the chain, and from now on each new one. Only the main thread calls it. */
  follow(chain: Pick<ChainReader, "head" | "onHeadChanged">): void {
    this.show(chain.head.hash);
    chain.onHeadChanged("shownHead", ({ head }) => this.show(head.hash));
  }

  /** Only the main thread calls it. */
  show(newest: Hash): void {
    Atomics.add(this.counter, 0, 1);
    this.hash.set(newest);
    Atomics.add(this.counter, 0, 1);
  }
}
