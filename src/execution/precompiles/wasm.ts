/**
 * A small assembler for WebAssembly's binary format: builds the inner loops of precompiled contracts without a binary
 * file or a compiler.
 */
export type Code = readonly number[];

export const I32 = 0x7f;
export const I64 = 0x7e;
export const END = 0x0b;

/** The header of every module: magic number and version 1. */
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

/** An entry of the export section: the name of item `index` of a kind (0 function, 2 memory). */
export function exported(name: string, kind: number, index: number): Code {
  return [...sized([...Buffer.from(name)]), kind, index];
}

export function section(id: number, content: Code): Code {
  return [id, ...sized(content)];
}

/** Content prefixed with its length. */
export function sized(content: Code): Code {
  return [...leb(content.length), ...content];
}

/** Items prefixed with their number. */
export function vector(items: readonly Code[]): Code {
  return [...leb(items.length), ...items.flat()];
}

/** Unsigned LEB128, for lengths, indexes and offsets. */
export function leb(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)];
}

/** Signed LEB128, for constants. */
export function signedLeb(value: bigint): Code {
  const low = Number(value & 0x7fn);
  return value >= -64n && value < 64n ? [low] : [low | 0x80, ...signedLeb(value >> 7n)];
}

/** The part of the runtime's WebAssembly that is used here; its types otherwise come with the DOM's. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
};

/** Instantiates a module without imports and returns its exports. */
export function instantiate(module: Code): object {
  return new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(module))).exports;
}
