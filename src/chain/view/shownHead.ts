import { asHash, type Hash } from "../../primitives/hash.ts";

/**
 * The newest head that this process has shown to anybody, in memory that its threads share. The main thread writes it when
 * the head moves, before it notifies anyone.
 *
 *   sequence i32, odd while the hash is being written | hash of the block, 32 bytes
 */
export interface ShownHead {
  /** Memory that is handed to other threads. */
  readonly memory: SharedArrayBuffer;
  /** Changes with each move of the head, even one back to an earlier block. */
  readonly sequence: number;
  /** Reads the shown head; undefined while the main thread is writing it, and before the first head. */
  read(): { readonly sequence: number; readonly hash: Hash } | undefined;
  /** Only the main thread calls it. */
  show(hash: Hash): void;
}

const HASH_OFFSET = 4;
const BYTES = HASH_OFFSET + 32;

/** The shown head in that memory, or in new memory. */
export function openShownHead(memory: SharedArrayBuffer = new SharedArrayBuffer(BYTES)): ShownHead {
  const counter = new Int32Array(memory, 0, 1);
  const hash = new Uint8Array(memory, HASH_OFFSET, 32);
  const load = (): number => Atomics.load(counter, 0);
  return {
    memory,
    get sequence() {
      return load();
    },
    read() {
      const before = load();
      const copy = asHash(Uint8Array.from(hash));
      return before === 0 || before % 2 !== 0 || load() !== before
        ? undefined
        : { sequence: before, hash: copy };
    },
    show(newest) {
      Atomics.add(counter, 0, 1);
      hash.set(newest);
      Atomics.add(counter, 0, 1);
    },
  };
}
