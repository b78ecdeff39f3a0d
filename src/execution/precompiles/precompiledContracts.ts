import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type ForkName, isAtLeast } from "../../chainspec/forks.ts";
import { expectDefined } from "../../primitives/assert.ts";
import { precompileCount } from "./addresses.ts";
import { BLAKE2F } from "./blake2f.ts";
import { bls12 } from "./bls12.ts";
import { type Bn254, bn254 } from "./bn254.ts";
import { always, type PrecompiledContract, type RunPrecompile } from "./contract.ts";
import { ECRECOVER } from "./ecrecover.ts";
import { IDENTITY, prepareHashes, RIPEMD160, SHA256 } from "./hashes.ts";
import { prepareKzg } from "./kzg.ts";
import { loadMcl } from "./mcl.ts";
import { eip198Price, eip2565Price, modexp } from "./modexp.ts";
import { POINT_EVALUATION } from "./pointEvaluation.ts";

/** The precompiled contract with a number, 1 being the first, under a fork's rules; undefined if it has none. */
export function precompiledContract(number: number, fork: ForkName): PrecompiledContract | undefined {
  return contractsOf(fork)[number];
}

function contractsOf(fork: ForkName): readonly (PrecompiledContract | undefined)[] {
  let contracts = byFork.get(fork);
  if (contracts === undefined) {
    const numbers = Array.from({ length: precompileCount(fork) + 1 }, (_, number) => number);
    contracts = numbers.map((number) => (number === 0 ? undefined : contractOf(number, fork)));
    byFork.set(fork, contracts);
  }
  return contracts;
}

const byFork = new Map<ForkName, readonly (PrecompiledContract | undefined)[]>();

function contractOf(number: number, fork: ForkName): PrecompiledContract {
  const simple = SIMPLE[number];
  if (simple !== undefined) return always(simple);
  if (number === 0x02) return { prepare: prepareHashes, run: SHA256 };
  if (number === 0x03) return { prepare: prepareHashes, run: RIPEMD160 };
  if (number === 0x05) return always(isAtLeast(fork, "berlin") ? MODEXP_EIP2565 : MODEXP_EIP198);
  if (number <= 0x08) return onBn254(bn254Contract(number, fork));
  if (number === 0x0a) return { prepare: preparePointEvaluation, run: POINT_EVALUATION };
  return onBls12(number);
}

const SIMPLE: Readonly<Record<number, RunPrecompile>> = {
  1: ECRECOVER,
  4: IDENTITY,
  9: BLAKE2F,
};
const MODEXP_EIP198 = modexp(eip198Price);
const MODEXP_EIP2565 = modexp(eip2565Price);

/** The contracts of bn254, which cost less from Istanbul on (EIP-1108). */
function bn254Contract(number: number, fork: ForkName): (curve: Bn254) => RunPrecompile {
  const isCheap = isAtLeast(fork, "istanbul");
  if (number === 0x06) return (curve) => (call) => curve.add(call, isCheap ? 150n : 500n);
  if (number === 0x07) return (curve) => (call) => curve.multiply(call, isCheap ? 6000n : 40_000n);
  const [gas, gasPerPair] = isCheap ? [45_000n, 34_000n] : [100_000n, 80_000n];
  return (curve) => (call) => curve.pair(call, gas, gasPerPair);
}

/** It hashes a commitment. */
function preparePointEvaluation(): Promise<void> | undefined {
  const hashes = prepareHashes();
  return hashes === undefined ? prepareKzg() : hashes.then(() => prepareKzg());
}

/** A curve that is loaded on first use. */
class LazyCurve<T> {
  private readonly load: () => Promise<T>;
  private loaded: T | undefined;

  constructor(load: () => Promise<T>) {
    this.load = load;
  }

  readonly prepare = (): Promise<void> | undefined =>
    this.loaded !== undefined
      ? undefined
      : this.load().then((curve) => {
          this.loaded ??= curve;
        });

  get curve(): T {
    return expectDefined(this.loaded, "the curve of a precompiled contract");
  }
}

const BN254 = new LazyCurve(async () => bn254(await loadMcl("BN_SNARK1")));
const BLS12 = new LazyCurve(async () => bls12(await loadMcl("BLS12_381")));

function onBn254(make: (curve: Bn254) => RunPrecompile): PrecompiledContract {
  let run: RunPrecompile | undefined;
  return {
    prepare: BN254.prepare,
    run(call) {
      run ??= make(BN254.curve);
      return run(call);
    },
  };
}

function onBls12(number: number): PrecompiledContract {
  return {
    prepare: BLS12.prepare,
    run: (call) => expectDefined(BLS12.curve.get(number), "a contract of BLS12-381")(call),
  };
}

/**
 * Loads the curves of a fork's precompiled contracts ahead of time, because each blocks the thread for about 50 ms.
 * Yields before each.
 */
export async function loadCurves(fork: ForkName): Promise<void> {
  for (const [since, prepare] of CURVES) {
    if (!isAtLeast(fork, since)) continue;
    await yieldToEventLoop();
    await prepare();
  }
}

const CURVES: readonly (readonly [ForkName, () => Promise<void> | undefined])[] = [
  ["byzantium", BN254.prepare],
  ["cancun", preparePointEvaluation],
  ["prague", BLS12.prepare],
];
