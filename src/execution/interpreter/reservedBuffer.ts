import type { YieldPolicy } from "../yieldPolicy.ts";
import { eachSlice } from "./slices.ts";

/**
 * Bytes at the beginning of address space that is reserved once, whose end moves: nothing is copied when there are to be
 * more, and the system takes back what is cut off, at once and not when garbage is collected. For that the thread waits
 * 20 to 40 ms where it is hundreds of megabytes.
 */
export interface ReservedBuffer extends ArrayBuffer {
  resize(bytes: number): void;
}

export function reserveBuffer(limitBytes: number): ReservedBuffer {
  return new Resizable(0, { maxByteLength: limitBytes });
}

/** What a view belongs to, if it was reserved. */
export function reservedBufferOf({ buffer }: Uint8Array): ReservedBuffer | undefined {
  return (buffer as { readonly resizable?: boolean }).resizable === true
    ? (buffer as ReservedBuffer)
    : undefined;
}

/** Gives the system all of it back: views of it are empty from then on. Throws OutOfTime when the pace says so. */
export async function releaseInSlices(buffer: ReservedBuffer, yieldPolicy: YieldPolicy): Promise<void> {
  const { byteLength } = buffer;
  await eachSlice(byteLength, yieldPolicy, (_, until) => buffer.resize(byteLength - until));
}

/** The runtime has these; the compiler knows them with the library of a later year, which has more than the runtime. */
const Resizable = ArrayBuffer as unknown as new (
  bytes: number,
  options: { readonly maxByteLength: number },
) => ReservedBuffer;
