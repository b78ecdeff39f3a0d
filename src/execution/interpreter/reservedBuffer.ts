import type { YieldPolicy } from "../yieldPolicy.ts";
import { eachSlice } from "./slices.ts";

/**
 * A resizable buffer in address space that is reserved once: growing copies nothing, and shrinking returns memory to
 * the system immediately instead of at garbage collection. Releasing hundreds of megabytes at once blocks the thread
 * for 20 to 40 ms.
 */
export interface ReservedBuffer extends ArrayBuffer {
  resize(bytes: number): void;
}

export function reserveBuffer(limitBytes: number): ReservedBuffer {
  return new Resizable(0, { maxByteLength: limitBytes });
}

/** The reserved buffer behind a view, if it has one. */
export function reservedBufferOf({ buffer }: Uint8Array): ReservedBuffer | undefined {
  return (buffer as { readonly resizable?: boolean }).resizable === true
    ? (buffer as ReservedBuffer)
    : undefined;
}

/** Returns all memory to the system: views of it become empty. Throws OutOfTime as YieldPolicy does. */
export async function releaseInSlices(buffer: ReservedBuffer, yieldPolicy: YieldPolicy): Promise<void> {
  const { byteLength } = buffer;
  await eachSlice(byteLength, yieldPolicy, (_, until) => buffer.resize(byteLength - until));
}

/** Resizable buffers exist at run time, but only in a later `lib` of the compiler, which has more than the runtime. */
const Resizable = ArrayBuffer as unknown as new (
  bytes: number,
  options: { readonly maxByteLength: number },
) => ReservedBuffer;
