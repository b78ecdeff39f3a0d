import { asHash, createRunningKeccak, type Hash, keccak256 } from "../../primitives/hash.ts";
import { type YieldPolicy, yieldIfDue } from "../yieldPolicy.ts";

/** Applies `act` to `size` bytes slice by slice. Throws OutOfTime as YieldPolicy does. */
export async function eachSlice(
  size: number,
  yieldPolicy: YieldPolicy,
  act: (at: number, until: number) => void,
): Promise<void> {
  for (let at = 0; at < size; at += LONG_BYTES) {
    act(at, Math.min(at + LONG_BYTES, size));
    await yieldIfDue(yieldPolicy);
  }
}

/** A copy of the bytes. */
export async function copyInSlices(bytes: Uint8Array, yieldPolicy: YieldPolicy): Promise<Uint8Array> {
  const copy = new Uint8Array(bytes.length);
  await eachSlice(bytes.length, yieldPolicy, (at, until) => copy.set(bytes.subarray(at, until), at));
  return copy;
}

/** Hashing this much takes three milliseconds, touching it for the first time one or two. */
export const LONG_BYTES = 1024 * 1024;

/** Keccak-256, in one go up to LONG_BYTES. Throws OutOfTime as YieldPolicy does. */
export async function hashInSlices(bytes: Uint8Array, yieldPolicy: YieldPolicy): Promise<Hash> {
  if (bytes.length <= LONG_BYTES) return keccak256(bytes);
  const keccak = createRunningKeccak();
  await eachSlice(bytes.length, yieldPolicy, (at, until) => keccak.update(bytes.subarray(at, until)));
  return asHash(keccak.digest());
}
