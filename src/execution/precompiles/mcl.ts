import { createRequire } from "node:module";
import { dirname } from "node:path";

/** Pairing-friendly curves in WebAssembly: about thirty times as fast as in JavaScript. */
export type Mcl = typeof import("mcl-wasm");

/**
 * The package set up for one curve, loaded on first use: few chains ever need it. The package keeps its curve in a
 * module variable, so each curve gets its own copy of the module.
 */
export function loadMcl(curve: "BN_SNARK1" | "BLS12_381"): Promise<Mcl> {
  let loading = copies.get(curve);
  if (loading === undefined) {
    loading = loadCopy(curve);
    copies.set(curve, loading);
  }
  return loading;
}

const copies = new Map<string, Promise<Mcl>>();

/** As loadMcl, but always a new copy. */
export async function loadCopy(curve: "BN_SNARK1" | "BLS12_381"): Promise<Mcl> {
  const require = createRequire(import.meta.url);
  const mcl = require("mcl-wasm") as Mcl;
  const folder = dirname(require.resolve("mcl-wasm"));
  for (const path of Object.keys(require.cache)) if (path.startsWith(folder)) delete require.cache[path];
  await withFastDecoding(() => mcl.init(mcl[curve]));
  return mcl;
}

/**
 * The package decodes 436 KB of WebAssembly from text with a function call per byte: 40 of the 50 ms for which loading
 * blocks the thread. Patches that call while the synchronous part of `begin` runs, so that a text is decoded in one go.
 */
function withFastDecoding<T>(begin: () => T): T {
  const { from } = Uint8Array;
  const fromText = (source: unknown, ...rest: unknown[]): Uint8Array =>
    typeof source === "string" && source.length > LONG_TEXT
      ? Buffer.from(source, "latin1")
      : Reflect.apply(from, Uint8Array, [source, ...rest]);
  Object.assign(Uint8Array, { from: fromText });
  try {
    return begin();
  } finally {
    Object.assign(Uint8Array, { from });
  }
}

const LONG_TEXT = 100_000;
