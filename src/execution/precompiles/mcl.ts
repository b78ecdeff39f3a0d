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

async function loadCopy(curve: "BN_SNARK1" | "BLS12_381"): Promise<Mcl> {
  const require = createRequire(import.meta.url);
  const mcl = require("mcl-wasm") as Mcl;
  const folder = dirname(require.resolve("mcl-wasm"));
  for (const path of Object.keys(require.cache)) if (path.startsWith(folder)) delete require.cache[path];
  await mcl.init(mcl[curve]);
  return mcl;
}
