import type { Common } from "@ethereumjs/common";
import { type CustomPrecompile, getActivePrecompiles, MCLBLS, type PrecompileFunc } from "@ethereumjs/evm";
import { BLAKE2F } from "./blake2f.ts";
import { bn254 } from "./bn254.ts";
import { loadMcl } from "./mcl.ts";
import { POINT_EVALUATION } from "./pointEvaluation.ts";

/**
 * The precompiled contracts that are not the library's own, or not in the library's way: its JavaScript takes 20 ms for
 * a multiplication that costs 6,000 gas, and blocks must be executed within a second. Prices and checks of input stay
 * the library's where only the curve is another.
 */
export function ownPrecompiles(common: Common): CustomPrecompile[] {
  const library = getActivePrecompiles(common);
  const own: CustomPrecompile[] = [];
  for (const [key, original] of library) {
    const ours = replacementOf(Number.parseInt(key, 16), original);
    if (ours !== undefined) own.push({ address: `0x${key}`, function: ours });
  }
  return own;
}

function replacementOf(number: number, original: PrecompileFunc): PrecompileFunc | undefined {
  if (number >= 0x06 && number <= 0x08) return withCurve(original, "_bn254", loadBn254);
  if (number === 0x09) return BLAKE2F;
  if (number === 0x0a) return POINT_EVALUATION;
  if (number >= 0x0b && number <= 0x11) return withCurve(original, "_bls", loadBls);
  return undefined;
}

/** The library's contract, with a curve that is loaded when it is first asked for. */
function withCurve(
  original: PrecompileFunc,
  member: "_bn254" | "_bls",
  load: () => Promise<object>,
): PrecompileFunc {
  return async (input) => {
    const machine = Object.create(input._EVM, { [member]: { value: await load() } });
    return original({ ...input, _EVM: machine });
  };
}

async function loadBn254(): Promise<object> {
  bnCurve ??= bn254(await loadMcl("BN_SNARK1"));
  return bnCurve;
}

async function loadBls(): Promise<object> {
  if (blsCurve === undefined) {
    const made = new MCLBLS(await loadMcl("BLS12_381"));
    made.init?.();
    blsCurve = made;
  }
  return blsCurve;
}

let bnCurve: object | undefined;
let blsCurve: object | undefined;
