import { PLAIN_CORE, STEPPING_CORE } from "./coreModules.ts";

/** The functions of the core; pointers are positions in its memory. src/evm/core says what each does. */
export interface Core {
  readonly memory: CoreMemory;
  run(frame: number, work: number): number;
  charge(frame: number, amount: number): number;
  hasMoreThan(frame: number, amount: number): number;
  giveGas(frame: number, callee: number, asked: number, keeps64th: number, stipend: number): number;
  returnGas(frame: number, callee: number): void;
  keccak(to: number, from: number, size: number): void;
  beginKeccak(): void;
  absorb(from: number, size: number): void;
  endKeccak(to: number, from: number, size: number): void;
  prepare(frame: number, raw: number, from: number): void;
  findTargets(raw: number, targets: number, from: number, until: number): number;
}

interface CoreMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** The core as it is, or one that returns after each instruction. */
export type CoreKind = "plain" | "stepping";

/** A new instance with a memory of its own. The module is compiled once per thread, which takes some milliseconds. */
export function instantiateCore(kind: CoreKind): Core {
  let module = modules.get(kind);
  if (module === undefined) {
    const text = kind === "plain" ? PLAIN_CORE : STEPPING_CORE;
    module = new WebAssembly.Module(Uint8Array.from(Buffer.from(text, "base64")));
    modules.set(kind, module);
  }
  return new WebAssembly.Instance(module).exports as Core;
}

const modules = new Map<CoreKind, object>();

/** The part of the runtime's WebAssembly that is used here; its types otherwise come with the DOM's. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
};
