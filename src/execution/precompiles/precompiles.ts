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
import { paced, paceOf, runToEnd } from "./slices.ts";

/**
 * The precompiled contracts that are not the library's own, or not in the library's way: its JavaScript takes 20 ms for
 * a multiplication that costs 6,000 gas, and what takes longer than some milliseconds has to be done in slices. Prices and
 * checks of input stay the library's where only the curve is another.
 */
export function ownPrecompiles(common: Common): CustomPrecompile[] {
  const library = getActivePrecompiles(common);
  const own: CustomPrecompile[] = [];
  for (const [key, original] of library) {
    const ours = replacementOf(Number.parseInt(key, 16), original, common);
    if (ours !== undefined) own.push({ address: `0x${key}`, function: ours });
  }
  return own;
}

function replacementOf(number: number, original: PrecompileFunc, common: Common): PrecompileFunc | undefined {
  switch (number) {
    case 0x02:
      return paced(SHA256);
    case 0x03:
      return RIPEMD160 && paced(RIPEMD160);
    case 0x04:
      return paced(IDENTITY);
    case 0x05:
      return paced(modexp(common.isActivatedEIP(2565) ? eip2565Price : eip198Price));
    case 0x06:
    case 0x07:
      return BN254.with((curve) => onCurve(original, { _bn254: curve.library }));
    case 0x08:
      return BN254.with((curve) => inParts(original, (input) => checkPairings(input, curve.pairing)));
    case 0x09:
      return paced(BLAKE2F);
    case 0x0a:
      return POINT_EVALUATION;
    case 0x0c:
      return BLS12.with((curve) => inParts(original, curve.multiplySum));
    case 0x0e:
      return BLS12.with((curve) => inParts(original, curve.multiplySum2));
    case 0x0f:
      return BLS12.with((curve) => inParts(original, (input) => checkPairings(input, curve.pairing)));
    default:
      return number >= 0x0b && number <= 0x11
        ? BLS12.with((curve) => onCurve(original, { _bls: curve.library }))
        : undefined;
  }
}

/** A curve that is loaded when it is first asked for. */
class LazyCurve<T> {
  private readonly load: () => Promise<T>;
  private loaded: T | undefined;

  constructor(load: () => Promise<T>) {
    this.load = load;
  }

  /** Loads it before anybody asks. */
  async prepare(): Promise<void> {
    this.loaded ??= await this.load();
  }

  /** The contract that `make` makes of the curve; answers at once when the curve is there. */
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
 * Loads the curves of a fork's precompiled contracts, which takes the thread some 50 ms each: whoever has time for it does
 * so before a block needs them. Others have their turn before each.
 */
export async function loadCurves(fork: ForkName): Promise<void> {
  for (const [since, load] of CURVES) {
    if (!isAtLeast(fork, since)) continue;
    await new Promise<void>((resolve) => setImmediate(resolve));
    await load();
  }
}

const CURVES: readonly (readonly [ForkName, () => Promise<void>])[] = [
  ["byzantium", () => BN254.prepare()],
  ["cancun", prepareKzg],
  ["prague", () => BLS12.prepare()],
];

/** What the library's contracts take of the machine that calls them. */
type CurveOfMachine = { readonly _bn254: object } | { readonly _bls: object };

/** The library's contract, with a curve of ours. */
function onCurve(original: PrecompileFunc, curve: CurveOfMachine): PrecompileFunc {
  const machine = curve as unknown as PrecompileInput["_EVM"];
  return (input) => original({ ...input, _EVM: machine });
}

/** The library's contract for checks and price, and ours for what is computed. */
function inParts(
  original: PrecompileFunc,
  compute: (input: Uint8Array) => Generator<undefined, Uint8Array>,
): PrecompileFunc {
  const leave = (): Uint8Array => TO_BE_COMPUTED;
  const asked = { pairing: leave, msmG1: leave, msmG2: leave, pairingCheck: leave };
  const check = onCurve(original, { _bn254: asked, _bls: asked });
  return (input) => {
    const finish = (checked: ExecResult): ExecResult | Promise<ExecResult> =>
      checked.returnValue === TO_BE_COMPUTED
        ? runToEnd(computed(checked, input, compute), paceOf(input))
        : checked;
    const checked = check(input);
    return checked instanceof Promise ? checked.then(finish) : finish(checked);
  };
}

/** In the place of a word. */
const TO_BE_COMPUTED = new Uint8Array(32);

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
