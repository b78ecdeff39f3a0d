/*
 * EVM words: 256 bits, as bigint on the stack and as 32 big-endian bytes in memory and storage. Converting 64 bits at a
 * time takes a third of the time of a conversion through hexadecimal text.
 */

/** The 32 bytes of `view` from `at` on. */
export function readWord(view: DataView, at: number): bigint {
  const low = view.getBigUint64(at + 24);
  if (
    view.getUint32(at) === 0 &&
    view.getUint32(at + 4) === 0 &&
    view.getUint32(at + 8) === 0 &&
    view.getUint32(at + 12) === 0 &&
    view.getUint32(at + 16) === 0 &&
    view.getUint32(at + 20) === 0
  )
    return low;
  return (
    (view.getBigUint64(at) << 192n) |
    (view.getBigUint64(at + 8) << 128n) |
    (view.getBigUint64(at + 16) << 64n) |
    low
  );
}

export function writeWord(view: DataView, at: number, word: bigint): void {
  if (word <= LOW_64_BITS) {
    view.setBigUint64(at, 0n);
    view.setBigUint64(at + 8, 0n);
    view.setBigUint64(at + 16, 0n);
    view.setBigUint64(at + 24, word);
    return;
  }
  view.setBigUint64(at, BigInt.asUintN(64, word >> 192n));
  view.setBigUint64(at + 8, BigInt.asUintN(64, word >> 128n));
  view.setBigUint64(at + 16, BigInt.asUintN(64, word >> 64n));
  view.setBigUint64(at + 24, BigInt.asUintN(64, word));
}

/** A word as 32 new bytes. Copied, because a view of a small array moves it off the heap, at twice the cost. */
export function bytesOfWord(word: bigint): Uint8Array {
  writeWord(scratchView, 0, word);
  return new Uint8Array(scratch);
}

/** A word as storage encodes it: without leading zeros; zero is empty. */
export function trimmedBytesOfWord(word: bigint): Uint8Array {
  writeWord(scratchView, 0, word);
  let start = 0;
  while (start < 32 && scratch[start] === 0) start++;
  return scratch.slice(start);
}

/** Big-endian bytes, at most 32, as a word. */
export function wordOfBytes(bytes: Uint8Array): bigint {
  scratch.fill(0);
  scratch.set(bytes, 32 - bytes.length);
  return readWord(scratchView, 0);
}

const LOW_64_BITS = 2n ** 64n - 1n;
const scratch = new Uint8Array(32);
const scratchView = new DataView(scratch.buffer);
