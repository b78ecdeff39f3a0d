import { describe, expect, it } from "vitest";
import { FORK_NAMES, type ForkName, newestFork } from "../../src/chainspec/forks.ts";
import { loadPrecompiles } from "../../src/execution/blockSession.ts";
import { precompileCount } from "../../src/execution/precompiles/addresses.ts";
import { isKzgProofValid, prepareKzg } from "../../src/execution/precompiles/kzg.ts";
import { loadCopy } from "../../src/execution/precompiles/mcl.ts";
import { precompiledContract } from "../../src/execution/precompiles/precompiledContracts.ts";

/** The numbers of the contracts that are asynchronous, because something has to be loaded first. */
function asynchronousContracts(fork: ForkName): readonly number[] {
  const numbers = Array.from({ length: precompileCount(fork) }, (_, index) => index + 1);
  return numbers.filter((number) => precompiledContract(number, fork)?.prepare() !== undefined);
}

async function isAsynchronous(work: unknown): Promise<boolean> {
  let hasEnded = false;
  void Promise.resolve(work).then(() => {
    hasEnded = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  return !hasEnded;
}

async function proofOfZero(): Promise<boolean> {
  await prepareKzg();
  const infinity = new Uint8Array(48);
  infinity[0] = 0xc0;
  return isKzgProofValid({
    commitment: infinity,
    proof: infinity,
    z: new Uint8Array(32),
    y: new Uint8Array(32),
  });
}

describe("precompiled contracts", () => {
  // In this order, because a loaded curve stays loaded.
  it.each(["byzantium", "berlin", "prague"] as const)(
    "of %s are synchronous once they are loaded",
    async (fork) => {
      await loadPrecompiles(fork);
      expect(asynchronousContracts(fork)).toEqual([]);
    },
  );

  it("are decoded in one go, and Uint8Array.from is restored", async () => {
    const { from } = Uint8Array;
    let calls = 0;
    const counted = (source: unknown, map: (value: unknown) => number): Uint8Array =>
      Reflect.apply(from, Uint8Array, [
        source,
        (value: unknown) => {
          calls++;
          return map(value);
        },
      ]);
    Object.assign(Uint8Array, { from: counted });
    try {
      await loadCopy("BN_SNARK1");
      expect(Uint8Array.from).toBe(counted);
    } finally {
      Object.assign(Uint8Array, { from });
    }
    expect(calls).toBeLessThan(10_000);
  });

  it("do not load anything for the proof of a blob once they are loaded", async () => {
    await loadPrecompiles("cancun");
    expect(await isAsynchronous(proofOfZero())).toBe(false);
  });
});

describe("the newest fork", () => {
  it("is found in any schedule, whether it is active or not", () => {
    const activations = FORK_NAMES.map((fork, at) => ({ fork, at: { time: BigInt(at) } }));
    expect(newestFork({ activations })).toBe(FORK_NAMES.at(-1));
    expect(newestFork({ activations: activations.slice(0, 3) })).toBe(FORK_NAMES[2]);
  });
});
