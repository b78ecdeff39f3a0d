import { createHash } from "node:crypto";
import {
  type EVMBLSInterface,
  type EVMBN254Interface,
  getActivePrecompiles,
  NobleBLS,
  NobleBN254,
} from "@ethereumjs/evm";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { bn254 as nobleBn254 } from "@noble/curves/bn254.js";
import { describe, expect, it } from "vitest";
import { FORK_NAMES, type ForkName } from "../../src/chainspec/forks.ts";
import { openSession } from "../../src/execution/blockSession.ts";
import type { MessageResult } from "../../src/execution/evm.ts";
import { libraryCommon } from "../../src/execution/libraryCommon.ts";
import { precompileKeys } from "../../src/execution/precompiles/addresses.ts";
import { bls12 } from "../../src/execution/precompiles/bls12.ts";
import { bn254 } from "../../src/execution/precompiles/bn254.ts";
import { loadMcl } from "../../src/execution/precompiles/mcl.ts";
import { checkPairings } from "../../src/execution/precompiles/pairing.ts";
import { NEVER_YIELD } from "../../src/execution/yieldPolicy.ts";
import { asAddress } from "../../src/primitives/address.ts";
import { bytesOfKey } from "../../src/primitives/byteKey.ts";
import { concatBytes, toDigits, toHex } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import { account } from "../builders/testAccounts.ts";
import { generator, type Random } from "../storage/random.ts";
import { casesOf, IS_THOROUGH } from "../thorough.ts";
import { anOverlay, theRules } from "./context.ts";

async function callPrecompile(number: number, data: Uint8Array, fork: ForkName): Promise<MessageResult> {
  const overlay = anOverlay();
  overlay.beginTransaction();
  const session = openSession({ ...theRules(fork), overlay, yieldPolicy: NEVER_YIELD });
  return session.evm.run({
    caller: account(0).address,
    to: asAddress(bigintToFixedBytes(BigInt(number), 20)),
    value: 0n,
    data,
    gasLimit: 10_000_000n,
    gasPrice: 0n,
    blobVersionedHashes: [],
  });
}

describe("the addresses of precompiled contracts", () => {
  it.each(FORK_NAMES)("are those of the library in %s", (fork) => {
    const library = getActivePrecompiles(
      libraryCommon({ chainId: 1n, contractSizeLimitBytes: 24_576 }, fork),
    );
    const ours = [...precompileKeys(fork)].map((key) => toDigits(bytesOfKey(key)));
    expect(ours.sort()).toEqual([...library.keys()].sort());
  });
});

const SEED = 20_241_121;

/** Runs sliced work to its end. */
function runToEnd<T>(work: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** The result of an implementation for an input, to compare it with another's. */
function resultOf(compute: () => Uint8Array): string {
  try {
    return toHex(compute());
  } catch {
    return "refused";
  }
}

function randomScalar(random: Random): bigint {
  const kinds = [() => 0n, () => 1n, () => BigInt(random.below(1000)), () => BigInt(toHex(random.bytes(32)))];
  return kinds[random.below(kinds.length)]?.() ?? 0n;
}

/** Encodes a point, sometimes corrupted: a bit flipped, the modulus added, or all zeros. */
function encodePoint(
  random: Random,
  coordinates: readonly bigint[],
  modulus: bigint,
  bytes: number,
): Uint8Array {
  const changed = [...coordinates];
  const at = random.below(changed.length);
  const kind = random.below(6);
  if (kind === 0) changed[at] = (changed[at] ?? 0n) ^ (1n << BigInt(random.below(250)));
  if (kind === 1) changed[at] = (changed[at] ?? 0n) + modulus;
  if (kind === 2) return new Uint8Array(coordinates.length * bytes);
  return concatBytes(...changed.map((value) => bigintToFixedBytes(BigInt.asUintN(8 * bytes, value), bytes)));
}

describe("the curve of 0x06 to 0x08", () => {
  const { G1, G2 } = { G1: nobleBn254.G1.Point, G2: nobleBn254.G2.Point };
  const modulus = nobleBn254.fields.Fp.ORDER;
  const order = nobleBn254.fields.Fr.ORDER;

  function point(random: Random): Uint8Array {
    const { x, y } = G1.BASE.multiply((randomScalar(random) % (order - 1n)) + 1n).toAffine();
    return encodePoint(random, [x, y], modulus, 32);
  }

  function point2(random: Random): Uint8Array {
    const { x, y } = G2.BASE.multiply((randomScalar(random) % (order - 1n)) + 1n).toAffine();
    return encodePoint(random, [x.c1, x.c0, y.c1, y.c0], modulus, 32);
  }

  it(`agrees with another implementation on valid and invalid points (seed ${SEED})`, async () => {
    const curve = bn254(await loadMcl("BN_SNARK1"));
    const ours: EVMBN254Interface = {
      ...curve.library,
      pairing: (input) => runToEnd(checkPairings(input, curve.pairing)),
    };
    const theirs: EVMBN254Interface = new NobleBN254();
    const random = generator(SEED);
    const kinds = new Map<string, number>();
    for (let run = 0; run < casesOf(25); run++) {
      const sum = concatBytes(point(random), point(random));
      const product = concatBytes(point(random), bigintToFixedBytes(randomScalar(random), 32));
      const pairs = concatBytes(point(random), point2(random));
      for (const [name, input] of Object.entries({ add: sum, mul: product, pairing: pairs })) {
        const operation = name as keyof EVMBN254Interface;
        const expected = resultOf(() => theirs[operation](input));
        expect([name, toHex(input), resultOf(() => ours[operation](input))]).toEqual([
          name,
          toHex(input),
          expected,
        ]);
        const kind = `${name} ${expected === "refused" ? expected : "computed"}`;
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      }
    }
    if (IS_THOROUGH) expect(kinds.size).toBe(6);
  });

  it("finds that the product e(P, Q) e(-P, Q) is one", async () => {
    const P = G1.BASE.multiply(5n);
    const Q = G2.BASE.multiply(7n).toAffine();
    const second = [Q.x.c1, Q.x.c0, Q.y.c1, Q.y.c0];
    const input = [P, P.negate()].flatMap((each) => {
      const { x, y } = each.toAffine();
      return [x, y, ...second].map((value) => bigintToFixedBytes(value, 32));
    });
    const result = await callPrecompile(0x08, concatBytes(...input), "istanbul");
    expect([result.outcome.kind, result.gasUsed, toHex(result.output)]).toEqual([
      "succeeded",
      45_000n + 2n * 34_000n,
      toHex(bigintToFixedBytes(1n, 32)),
    ]);
  });

  it("refuses a point of the twist outside the group", async () => {
    const { Fp2 } = nobleBn254.fields;
    const b = Fp2.mul(Fp2.fromBigTuple([3n, 0n]), Fp2.inv(Fp2.fromBigTuple([9n, 1n])));
    // Almost every point of the twist is outside the group, because its cofactor is as large as the group.
    let x = Fp2.fromBigTuple([1n, 0n]);
    let y = undefined as ReturnType<typeof Fp2.sqrt> | undefined;
    for (; y === undefined; x = Fp2.add(x, Fp2.ONE)) {
      try {
        y = Fp2.sqrt(Fp2.add(Fp2.mul(Fp2.sqr(x), x), b));
        break;
      } catch {
        y = undefined;
      }
    }
    if (y === undefined) throw new Error("half of all x have a y");
    const G = G1.BASE.toAffine();
    const input = [G.x, G.y, x.c1, x.c0, y.c1, y.c0].map((value) => bigintToFixedBytes(value, 32));
    const result = await callPrecompile(0x08, concatBytes(...input), "istanbul");
    expect(result.outcome).toEqual({ kind: "halted", reason: "PRECOMPILE_ERROR" });
  });
});

describe("the curve of 0x0b to 0x11", () => {
  const { G1, G2 } = { G1: bls12_381.G1.Point, G2: bls12_381.G2.Point };
  const { Fp, Fr } = bls12_381.fields;

  function point(random: Random): Uint8Array {
    const { x, y } = G1.BASE.multiply((randomScalar(random) % (Fr.ORDER - 1n)) + 1n).toAffine();
    return encodePoint(random, [x, y], Fp.ORDER, 64);
  }

  function point2(random: Random): Uint8Array {
    const { x, y } = G2.BASE.multiply((randomScalar(random) % (Fr.ORDER - 1n)) + 1n).toAffine();
    return encodePoint(random, [x.c0, x.c1, y.c0, y.c1], Fp.ORDER, 64);
  }

  it(`has the same results in WebAssembly as in JavaScript (seed ${SEED})`, async () => {
    const curve = bls12(await loadMcl("BLS12_381"));
    const { library } = curve;
    const ours: EVMBLSInterface = {
      addG1: (input) => library.addG1(input),
      addG2: (input) => library.addG2(input),
      mapFPtoG1: (input) => library.mapFPtoG1(input),
      mapFP2toG2: (input) => library.mapFP2toG2(input),
      msmG1: (input) => runToEnd(curve.multiplySum(input)),
      msmG2: (input) => runToEnd(curve.multiplySum2(input)),
      pairingCheck: (input) => runToEnd(checkPairings(input, curve.pairing)),
    };
    const theirs: EVMBLSInterface = new NobleBLS();
    theirs.init?.();
    const random = generator(SEED);
    const scalar = (): Uint8Array => bigintToFixedBytes(randomScalar(random), 32);
    const field = (): Uint8Array => bigintToFixedBytes(BigInt(toHex(random.bytes(47))) % Fp.ORDER, 64);
    for (let run = 0; run < 8; run++) {
      const inputs: [keyof EVMBLSInterface, Uint8Array][] = [
        ["addG1", concatBytes(point(random), point(random))],
        ["addG2", concatBytes(point2(random), point2(random))],
        ["msmG1", concatBytes(point(random), scalar(), point(random), scalar())],
        ["msmG2", concatBytes(point2(random), scalar(), point2(random), scalar())],
        ["pairingCheck", concatBytes(point(random), point2(random))],
        ["mapFPtoG1", field()],
        ["mapFP2toG2", concatBytes(field(), field())],
      ];
      for (const [name, input] of inputs) {
        const compute = (curve: EVMBLSInterface) => () =>
          (curve[name] as (input: Uint8Array) => Uint8Array)(input);
        expect([name, toHex(input), resultOf(compute(ours))]).toEqual([
          name,
          toHex(input),
          resultOf(compute(theirs)),
        ]);
      }
    }
  });
});

describe("BLAKE2F (0x09)", () => {
  /** RFC 7693 §3.2, word by word: slow but simple. */
  function compress(
    rounds: number,
    h: bigint[],
    m: bigint[],
    t: readonly bigint[],
    isLast: boolean,
  ): bigint[] {
    const v = [...h, ...IV];
    v[12] = (v[12] ?? 0n) ^ (t[0] ?? 0n);
    v[13] = (v[13] ?? 0n) ^ (t[1] ?? 0n);
    if (isLast) v[14] = (v[14] ?? 0n) ^ MASK;
    const mix = (a: number, b: number, c: number, d: number, x: bigint, y: bigint): void => {
      const word = (at: number): bigint => v[at] ?? 0n;
      const rotate = (value: bigint, bits: bigint): bigint =>
        ((value >> bits) | (value << (64n - bits))) & MASK;
      v[a] = (word(a) + word(b) + x) & MASK;
      v[d] = rotate(word(d) ^ word(a), 32n);
      v[c] = (word(c) + word(d)) & MASK;
      v[b] = rotate(word(b) ^ word(c), 24n);
      v[a] = (word(a) + word(b) + y) & MASK;
      v[d] = rotate(word(d) ^ word(a), 16n);
      v[c] = (word(c) + word(d)) & MASK;
      v[b] = rotate(word(b) ^ word(c), 63n);
    };
    for (let round = 0; round < rounds; round++) {
      const order = [...(SIGMA[round % 10] ?? "")].map((digit) => m[Number.parseInt(digit, 16)] ?? 0n);
      for (let k = 0; k < 8; k++) {
        const [a, b, c, d] = [...(QUARTETS[k] ?? "")].map((digit) => Number.parseInt(digit, 16));
        mix(a ?? 0, b ?? 0, c ?? 0, d ?? 0, order[2 * k] ?? 0n, order[2 * k + 1] ?? 0n);
      }
    }
    return h.map((word, at) => word ^ (v[at] ?? 0n) ^ (v[at + 8] ?? 0n));
  }

  const MASK = 2n ** 64n - 1n;
  const QUARTETS = "048c 159d 26ae 37bf 05af 16bc 278d 349e".split(" ");
  const SIGMA = [
    "0123456789abcdef",
    "ea489fd61c02b753",
    "b8c052fdae367194",
    "7931dcbe265a40f8",
    "905724afe1bc683d",
    "2c6a0b834d75fe19",
    "c51fed4a0763928b",
    "db7ec13950f4862a",
    "6fe9b308c2d714a5",
    "a2847615fb9e3cd0",
  ];
  const IV = [
    0x6a09e667f3bcc908n,
    0xbb67ae8584caa73bn,
    0x3c6ef372fe94f82bn,
    0xa54ff53a5f1d36f1n,
    0x510e527fade682d1n,
    0x9b05688c2b3e6c1fn,
    0x1f83d9abfb41bd6bn,
    0x5be0cd19137e2179n,
  ];

  function words(bytes: Uint8Array): bigint[] {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    return Array.from({ length: bytes.length / 8 }, (_, at) => view.getBigUint64(8 * at, true));
  }

  function bytesOf(items: readonly bigint[]): Uint8Array {
    return concatBytes(...items.map((word) => bigintToFixedBytes(word, 8).reverse()));
  }

  it(`follows the RFC for any number of rounds (seed ${SEED})`, async () => {
    const random = generator(SEED);
    for (let run = 0; run < 60; run++) {
      const rounds = run < 30 ? run : random.below(300);
      const [h, m, t] = [random.bytes(64), random.bytes(128), random.bytes(16)];
      const isLast = random.below(2) === 1;
      const input = concatBytes(
        bigintToFixedBytes(BigInt(rounds), 4),
        h,
        m,
        t,
        Uint8Array.of(isLast ? 1 : 0),
      );
      const result = await callPrecompile(0x09, input, "istanbul");
      const expected = toHex(bytesOf(compress(rounds, words(h), words(m), words(t), isLast)));
      expect([rounds, result.gasUsed, toHex(result.output)]).toEqual([rounds, BigInt(rounds), expected]);
    }
  });

  it("computes the BLAKE2b hash of a short message in twelve rounds", async () => {
    const message = Uint8Array.from(Buffer.from("the quick brown fox"));
    const block = new Uint8Array(128);
    block.set(message);
    const start = IV.map((word, at) => (at === 0 ? word ^ 0x01010040n : word));
    const length = bytesOf([BigInt(message.length), 0n]);
    const input = concatBytes(Uint8Array.of(0, 0, 0, 12), bytesOf(start), block, length, Uint8Array.of(1));
    const { output } = await callPrecompile(0x09, input, "istanbul");
    expect(toHex(output)).toBe(`0x${createHash("blake2b512").update(message).digest("hex")}`);
  });
});

describe("point evaluation (0x0a)", () => {
  it("checks that points are in the group, even after points outside of it were added", async () => {
    // x = 4 is on the curve but outside the group. Times the group's order, its pairings are one.
    const x = 4n;
    const y =
      0x0a989badd40d6212b33cffc3f3763e9bc760f988c9926b26da9dd85e928483446346b8ed00e1de5d5ea93e354abe706cn;
    const outside = bls12_381.G1.Point.fromAffine({ x, y });
    const { x: foreignX, y: foreignY } = outside
      .multiplyUnsafe(bls12_381.fields.Fr.ORDER - 1n)
      .add(outside)
      .toAffine();
    const foreign = bigintToFixedBytes(foreignX, 48);
    foreign[0] = (foreign[0] ?? 0) | 0x80 | (2n * foreignY > bls12_381.fields.Fp.ORDER ? 0x20 : 0);
    const claim = (commitment: Uint8Array): Uint8Array => {
      const hash = Uint8Array.from(createHash("sha256").update(commitment).digest());
      hash[0] = 1;
      // The zero polynomial has value 0 at 0.
      return concatBytes(hash, new Uint8Array(64), commitment, INFINITY);
    };
    const kindOf = async (commitment: Uint8Array): Promise<string> =>
      (await callPrecompile(0x0a, claim(commitment), "prague")).outcome.kind;
    expect(await kindOf(INFINITY)).toBe("succeeded");
    const point = concatBytes(bigintToFixedBytes(x, 64), bigintToFixedBytes(y, 64));
    const sum = await callPrecompile(0x0b, concatBytes(point, point), "prague");
    expect(sum.outcome.kind).toBe("succeeded");
    expect(await kindOf(foreign)).toBe("halted");
  });
});

/** The compressed point at infinity. */
const INFINITY = concatBytes(Uint8Array.of(0xc0), new Uint8Array(47));
