import { atOnce, StepMeter, type Steps } from "./steps.ts";

/*
 * Byte strings on their way between threads as one piece of memory, since an object for each would cost both threads more
 * than everything else that they do with it.
 *
 *   length u32 | bytes          once for each
 */
const LENGTH_BYTES = 4;
/** Bytes that are copied in the time that a string takes besides its bytes. */
const STRING_COST_BYTES = 512;

export function packBytes(strings: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return atOnce(packBytesInSteps(strings));
}

/** Like packBytes, in steps of a few hundred microseconds: megabytes of them take tens of milliseconds. */
export function* packBytesInSteps(strings: readonly Uint8Array[]): Steps<Uint8Array<ArrayBuffer>> {
  const packed = new Uint8Array(strings.reduce((sum, { length }) => sum + LENGTH_BYTES + length, 0));
  const view = new DataView(packed.buffer);
  const meter = new StepMeter();
  let at = 0;
  for (const bytes of strings) {
    if (meter.isFull(STRING_COST_BYTES + bytes.length)) yield;
    view.setUint32(at, bytes.length);
    packed.set(bytes, at + LENGTH_BYTES);
    at += LENGTH_BYTES + bytes.length;
  }
  return packed;
}

/** The strings in their order. Each has memory of its own, since some are kept and others dropped. */
export function* unpackBytes(packed: Uint8Array<ArrayBuffer>): Generator<Uint8Array, void> {
  for (const bytes of viewsOf(packed)) yield bytes.slice();
}

/** Records of so many strings each, by the names of these, as views. */
export function* recordsOf<Name extends string>(
  packed: Uint8Array<ArrayBuffer>,
  names: readonly Name[],
): Generator<Readonly<Record<Name, Uint8Array>>, void> {
  let strings: [Name, Uint8Array][] = [];
  for (const bytes of viewsOf(packed)) {
    strings.push([names[strings.length] as Name, bytes]);
    if (strings.length < names.length) continue;
    // Each name has its string, hence the cast.
    yield Object.fromEntries(strings) as Record<Name, Uint8Array>;
    strings = [];
  }
}

/** The strings in their order, as views. */
export function* viewsOf(packed: Uint8Array<ArrayBuffer>): Generator<Uint8Array, void> {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length);
  for (let at = 0; at < packed.length; ) {
    const from = at + LENGTH_BYTES;
    at = from + view.getUint32(at);
    yield packed.subarray(from, at);
  }
}
