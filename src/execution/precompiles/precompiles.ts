import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Common } from "@ethereumjs/common";
import {
  type CustomPrecompile,
  EVMError,
  type ExecResult,
  getActivePrecompiles,
  type PrecompileFunc,
  type PrecompileInput,
} from "@ethereumjs/evm";
import { type ForkName, isAtLeast } from "../../chainspec/forks.ts";
import { type Curves, evmOfCurves } from "../interpreter/libraryInternals.ts";
import { BLAKE2F } from "./blake2f.ts";
import { type Bls12, bls12 } from "./bls12.ts";
import { type Bn254, bn254 } from "./bn254.ts";
import { failed } from "./failure.ts";
import { IDENTITY, RIPEMD160, SHA256 } from "./hashes.ts";
import { prepareKzg } from "./kzg.ts";
import { loadMcl } from "./mcl.ts";
import { eip198Price, eip2565Price, modexp } from "./modexp.ts";
import { checkPairings } from "./pairing.ts";
import { POINT_EVALUATION } from "./pointEvaluation.ts";
import { runToEnd, yielding, yieldPolicyOf } from "./yieldingPrecompile.ts";

/**
 * Our replacements for the library's precompiled contracts: its JavaScript takes 20 ms for a multiplication that costs
 * 6,000 gas, and work of more than some milliseconds has to run in slices. Where only the curve is ours, prices and
 * input checks stay the library's.
 */
export function ownPrecompiles(common: Common): CustomPrecompile[] {
  const library = getActivePrecompiles(common);
  const own: CustomPrecompile[] = [];
  for (const [key, original] of library) {
    const replacement = replacementOf(Number.parseInt(key, 16), original, common);
    if (replacement !== undefined) own.push({ address: `0x${key}`, function: replacement });
  }
  return own;
}

function replacementOf(number: number, original: PrecompileFunc, common: Common): PrecompileFunc | undefined {
  switch (number) {
    case 0x02:
      return yielding(SHA256);
    case 0x03:
      return RIPEMD160 && yielding(RIPEMD160);
    case 0x04:
      return yielding(IDENTITY);
    case 0x05:
      return yielding(modexp(common.isActivatedEIP(2565) ? eip2565Price : eip198Price));
    case 0x06:
    case 0x07:
      return BN254.with((curve) => withCurve(original, { bn254: curve.library }));
    case 0x08:
      return BN254.with((curve) => inSlices(original, (input) => checkPairings(input, curve.pairing)));
    case 0x09:
      return yielding(BLAKE2F);
    case 0x0a:
      return POINT_EVALUATION;
    case 0x0c:
      return BLS12.with((curve) => inSlices(original, curve.multiplySum));
    case 0x0e:
      return BLS12.with((curve) => inSlices(original, curve.multiplySum2));
    case 0x0f:
      return BLS12.with((curve) => inSlices(original, (input) => checkPairings(input, curve.pairing)));
    default:
      return number >= 0x0b && number <= 0x11
        ? BLS12.with((curve) => withCurve(original, { bls: curve.library }))
        : undefined;
  }
}

/** A curve that is loaded on first use. */
class LazyCurve<T> {
  private readonly load: () => Promise<T>;
  private loaded: T | undefined;

  constructor(load: () => Promise<T>) {
    this.load = load;
  }

  /** Loads the curve ahead of time. */
  async prepare(): Promise<void> {
    this.loaded ??= await this.load();
  }

  /** The contract that `make` creates from the curve; synchronous once the curve is loaded. */
  with(make: (curve: T) => PrecompileFunc): PrecompileFunc {
    let contract: PrecompileFunc | undefined;
    const ready = (curve: T): PrecompileFunc => {
      contract ??= make(curve);
      return contract;
    };
    return (input) => {
      if (this.loaded !== undefined) return ready(this.loaded)(input);
      return this.load().then((curve) => {
        this.loaded = curve;
        return ready(curve)(input);
      });
    };
  }
}

const BN254 = new LazyCurve<Bn254>(async () => bn254(await loadMcl("BN_SNARK1")));
const BLS12 = new LazyCurve<Bls12>(async () => bls12(await loadMcl("BLS12_381")));

/**
 * Loads the curves of a fork's precompiled contracts ahead of time, because each blocks the thread for about 50 ms.
 * Yields before each.
 */
export async function loadCurves(fork: ForkName): Promise<void> {
  for (const [since, load] of CURVES) {
    if (!isAtLeast(fork, since)) continue;
    await yieldToEventLoop();
    await load();
  }
}

const CURVES: readonly (readonly [ForkName, () => Promise<void>])[] = [
  ["byzantium", () => BN254.prepare()],
  ["cancun", prepareKzg],
  ["prague", () => BLS12.prepare()],
];

/** The library's contract with one of our curves. */
function withCurve(original: PrecompileFunc, curve: Curves): PrecompileFunc {
  const evm = evmOfCurves(curve);
  return (input) => original({ ...input, _EVM: evm });
}

/** The library's contract for checks and price, and ours for the computation, in slices. */
function inSlices(
  original: PrecompileFunc,
  compute: (input: Uint8Array) => Generator<undefined, Uint8Array>,
): PrecompileFunc {
  const skip = (): Uint8Array => PLACEHOLDER;
  const skipping = { pairing: skip, msmG1: skip, msmG2: skip, pairingCheck: skip };
  const check = withCurve(original, { bn254: skipping, bls: skipping });
  return (input) => {
    const finish = (checked: ExecResult): ExecResult | Promise<ExecResult> =>
      checked.returnValue === PLACEHOLDER
        ? runToEnd(computed(checked, input, compute), yieldPolicyOf(input))
        : checked;
    const checked = check(input);
    return checked instanceof Promise ? checked.then(finish) : finish(checked);
  };
}

/** Returned in place of the result until it is computed. */
const PLACEHOLDER = new Uint8Array(32);

function* computed(
  checked: ExecResult,
  { data, gasLimit }: PrecompileInput,
  compute: (input: Uint8Array) => Generator<undefined, Uint8Array>,
): Generator<undefined, ExecResult> {
  try {
    return { ...checked, returnValue: yield* compute(data) };
  } catch (error) {
    return failed(gasLimit, error instanceof EVMError ? error.error : EVMError.errorMessages.REVERT);
  }
}
