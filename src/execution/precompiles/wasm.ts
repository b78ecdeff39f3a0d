/**
 * A small assembler of WebAssembly's binary format: a precompiled contract's inner loop is written out by it, byte by byte,
 * so that neither a file of unreadable bytes nor a compiler is needed.
 */
export type Code = readonly number[];

export const I32 = 0x7f;
export const I64 = 0x7e;
export const END = 0x0b;

/** What every module begins with: its mark and version 1. */
export const PREAMBLE: Code = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

export function getLocal(local: number): Code {
  return [0x20, local];
}

export function setLocal(local: number): Code {
  return [0x21, local];
}

export function loadI64(offset: number): Code {
  return [0x29, 3, ...leb(offset)];
}

export function i32Const(value: number): Code {
  return [0x41, ...signedLeb(BigInt(value))];
}

export function i64Const(value: bigint): Code {
  return [0x42, ...signedLeb(value)];
}

/** Of the export section: what `index` of a kind (0 a function, 2 a memory) is called outside. */
export function exported(name: string, kind: number, index: number): Code {
  return [...sized([...Buffer.from(name)]), kind, index];
}

export function section(id: number, content: Code): Code {
  return [id, ...sized(content)];
}

/** With its length before it. */
export function sized(content: Code): Code {
  return [...leb(content.length), ...content];
}

/** With their number before them. */
export function vector(items: readonly Code[]): Code {
  return [...leb(items.length), ...items.flat()];
}

/** LEB128 without a sign, as lengths, indexes and offsets are written. */
export function leb(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)];
}

/** LEB128 with a sign, as constants are written. */
export function signedLeb(value: bigint): Code {
  const low = Number(value & 0x7fn);
  return value >= -64n && value < 64n ? [low] : [low | 0x80, ...signedLeb(value >> 7n)];
}

/** As much of the runtime's WebAssembly as is used here; its types come with a browser's otherwise. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
};

/** What a module that needs nothing from outside exports. */
export function instantiate(module: Code): object {
  return new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(module))).exports;
}
