import { createRequire } from "node:module";
import { dirname } from "node:path";

/** Pairing-friendly curves in WebAssembly: some thirty times as fast as in JavaScript. */
export type Mcl = typeof import("mcl-wasm");

/**
 * The package set up for one curve, loaded on first use: few chains ever need it. It keeps its curve in a variable of
 * its module, so that each curve gets a copy of the module.
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

/** As loadMcl, a copy of its own. */
export async function loadCopy(curve: "BN_SNARK1" | "BLS12_381"): Promise<Mcl> {
  const require = createRequire(import.meta.url);
  const mcl = require("mcl-wasm") as Mcl;
  const folder = dirname(require.resolve("mcl-wasm"));
  for (const path of Object.keys(require.cache)) if (path.startsWith(folder)) delete require.cache[path];
  await decodingAtOnce(() => mcl.init(mcl[curve]));
  return mcl;
}

/**
 * The package makes 436 KB of WebAssembly of text by a function that is called for each byte: 40 of the 50 ms for which
 * loading it held the thread. While `begin` runs, up to where it waits for something, all of a text is taken at once.
 */
function decodingAtOnce<T>(begin: () => T): T {
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
