import { createHash } from "node:crypto";
import {
  type EVMBLSInterface,
  type EVMBN254Interface,
  getActivePrecompiles,
  NobleBLS,
  NobleBN254,
  type PrecompileInput,
} from "@ethereumjs/evm";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { bn254 as nobleBn254 } from "@noble/curves/bn254.js";
import { describe, expect, it } from "vitest";
import { FORK_NAMES, type ForkName } from "../../src/chainspec/forks.ts";
import { BlockSession } from "../../src/execution/blockSession.ts";
import type { MessageResult } from "../../src/execution/evm.ts";
import { precompileKeys } from "../../src/execution/precompiles/addresses.ts";
import { precompiledContract } from "../../src/execution/precompiles/precompiledContracts.ts";
import { NEVER_YIELD } from "../../src/execution/yieldPolicy.ts";
import { asAddress } from "../../src/primitives/address.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { bytesOfKey } from "../../src/primitives/byteKey.ts";
import { concatBytes, toDigits, toHex } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import { SECP256K1_ORDER, sign } from "../../src/primitives/secp256k1.ts";
import { atOnce } from "../../src/primitives/steps.ts";
import { libraryCommon } from "../builders/libraryCommon.ts";
import { account } from "../builders/testAccounts.ts";
import { generator, type Random } from "../storage/random.ts";
import { casesOf, IS_THOROUGH } from "../thorough.ts";
import { anOverlay, theRules } from "./context.ts";

async function callPrecompile(number: number, data: Uint8Array, fork: ForkName): Promise<MessageResult> {
  const overlay = anOverlay();
  overlay.beginTransaction();
  const session = new BlockSession({ ...theRules(fork), overlay, yieldPolicy: NEVER_YIELD });
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
    const library = getActivePrecompiles(libraryCommon(fork));
    const ours = [...precompileKeys(fork)].map((key) => toDigits(bytesOfKey(key)));
    expect(ours.sort()).toEqual([...library.keys()].sort());
  });
});

const SEED = 20_241_121;

/** The output of a contract with as much gas as it needs, or "refused"; without the EVM around it. */
async function outputOf(number: number, data: Uint8Array): Promise<string> {
  const contract = expectDefined(precompiledContract(number, "prague"), "a precompiled contract");
  await contract.prepare();
  const work = contract.run({ data, gasLimit: 10n ** 9n, memoryBudget: undefined });
  const { output, failure } = "next" in work ? atOnce(work) : work;
  expect(failure).not.toBe("outOfGas");
  return failure === undefined ? toHex(output) : "refused";
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

  /** Two points, sometimes equal or opposite. */
  function points(random: Random): Uint8Array {
    const first = point(random);
    const kind = random.below(6);
    if (kind > 1) return concatBytes(first, point(random));
    const y = BigInt(toHex(first.subarray(32)));
    const other = kind === 0 || y === 0n || y >= modulus ? y : modulus - y;
    return concatBytes(first, first.subarray(0, 32), bigintToFixedBytes(other, 32));
  }

  it(`agrees with another implementation on valid and invalid points (seed ${SEED})`, async () => {
    const theirs: EVMBN254Interface = new NobleBN254();
    const random = generator(SEED);
    const kinds = new Map<string, number>();
    for (let run = 0; run < casesOf(60); run++) {
      const inputs: [keyof EVMBN254Interface, number, Uint8Array][] = [
        ["add", 0x06, points(random)],
        ["mul", 0x07, concatBytes(point(random), bigintToFixedBytes(randomScalar(random), 32))],
        ["pairing", 0x08, concatBytes(point(random), point2(random), point(random), point2(random))],
      ];
      for (const [operation, number, input] of inputs) {
        const expected = resultOf(() => theirs[operation](input));
        const ours = await outputOf(number, input);
        expect([operation, toHex(input), ours]).toEqual([operation, toHex(input), expected]);
        const kind = `${operation} ${expected === "refused" ? expected : "computed"}`;
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

  /** A point of the twist: almost all are outside of the group, because its cofactor is as large as the group. */
  function anyPoint2(from: bigint): Point2 {
    const { Fp2 } = nobleBn254.fields;
    const b = Fp2.mul(Fp2.fromBigTuple([3n, 0n]), Fp2.inv(Fp2.fromBigTuple([9n, 1n])));
    for (let x = Fp2.fromBigTuple([from, 0n]); ; x = Fp2.add(x, Fp2.ONE)) {
      try {
        return G2.fromAffine({ x, y: Fp2.sqrt(Fp2.add(Fp2.mul(Fp2.sqr(x), x), b)) });
      } catch {
        // Half of all x have a y.
      }
    }
  }

  /** By additions alone, because the package multiplies only points of the group, and by less than its order. */
  function times2(factor: bigint, summand: Point2): Point2 {
    let sum = G2.ZERO;
    for (const bit of factor.toString(2)) {
      sum = sum.double();
      if (bit === "1") sum = sum.add(summand);
    }
    return sum;
  }

  async function pairWith(second: Point2): Promise<string> {
    const { x, y } = second.toAffine();
    const first = G1.BASE.toAffine();
    const numbers = [first.x, first.y, x.c1, x.c0, y.c1, y.c0];
    return outputOf(0x08, concatBytes(...numbers.map((value) => bigintToFixedBytes(value, 32))));
  }

  it("refuses points of the twist outside the group, of any order", async () => {
    // The cofactor of the twist, 2p - n, and its prime factors.
    const cofactor = 2n * modulus - order;
    const primes = [
      10_069n,
      5_864_401n,
      1_875_725_156_269n,
      197_620_364_512_881_247_228_717_050_342_013_327_560_683_201_906_968_909n,
    ];
    expect(primes.reduce((product, prime) => product * prime, 1n)).toBe(cofactor);
    const inside = G2.BASE.multiply(123_456_789n);
    expect(await pairWith(inside)).toBe(toHex(bigintToFixedBytes(0n, 32)));
    const any = anyPoint2(1n);
    expect(await pairWith(any)).toBe("refused");
    expect(await pairWith(times2(order, any))).toBe("refused");
    expect(await pairWith(times2(cofactor, any))).toBe(toHex(bigintToFixedBytes(0n, 32)));
    for (const prime of primes) {
      const ofOrder = times2((cofactor / prime) * order, any);
      expect(times2(prime, ofOrder).is0()).toBe(true);
      expect([prime, await pairWith(ofOrder)]).toEqual([prime, "refused"]);
      expect([prime, await pairWith(ofOrder.add(inside))]).toEqual([prime, "refused"]);
      expect([prime, await pairWith(times2(cofactor / prime, any))]).toEqual([prime, "refused"]);
    }
    const result = await callPrecompile(0x08, new Uint8Array(191), "istanbul");
    expect(result.outcome).toEqual({ kind: "halted", reason: "PRECOMPILE_ERROR" });
  });
});

type Point2 = InstanceType<typeof nobleBn254.G2.Point>;

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

  function field(random: Random): Uint8Array {
    return bigintToFixedBytes(BigInt(toHex(random.bytes(47))) % Fp.ORDER, 64);
  }

  /** Points of the curve outside of the group, for additions, which take them. */
  function foreignPoint(random: Random): Uint8Array {
    for (;;) {
      const x = BigInt(toHex(random.bytes(47)));
      try {
        const y = Fp.sqrt(Fp.add(Fp.mul(Fp.sqr(x), x), 4n));
        return concatBytes(bigintToFixedBytes(x, 64), bigintToFixedBytes(y, 64));
      } catch {
        // Half of all x have a y.
      }
    }
  }

  it(`has the same results in WebAssembly as in JavaScript (seed ${SEED})`, async () => {
    const theirs: EVMBLSInterface = new NobleBLS();
    theirs.init?.();
    const random = generator(SEED);
    const scalar = (): Uint8Array => bigintToFixedBytes(randomScalar(random), 32);
    const terms = (makePoint: () => Uint8Array): Uint8Array =>
      concatBytes(...Array.from({ length: 1 + random.below(3) }, () => concatBytes(makePoint(), scalar())));
    const kinds = new Set<string>();
    for (let run = 0; run < casesOf(24); run++) {
      const [first, second] = [point(random), point2(random)];
      const foreign = foreignPoint(random);
      const isAgain = random.below(3) === 0;
      const inputs: [keyof EVMBLSInterface, number, Uint8Array][] = [
        ["addG1", 0x0b, concatBytes(first, isAgain ? first : point(random))],
        ["addG1", 0x0b, concatBytes(foreign, isAgain ? foreign : foreignPoint(random))],
        ["addG2", 0x0d, concatBytes(second, isAgain ? second : point2(random))],
        ["msmG1", 0x0c, terms(() => (random.below(12) === 0 ? foreignPoint(random) : point(random)))],
        ["msmG2", 0x0e, terms(() => point2(random))],
        ["pairingCheck", 0x0f, concatBytes(first, second, point(random), point2(random))],
        ["mapFPtoG1", 0x10, field(random)],
        ["mapFP2toG2", 0x11, concatBytes(field(random), field(random))],
      ];
      for (const [name, number, input] of inputs) {
        const expected = resultOf(() => (theirs[name] as (input: Uint8Array) => Uint8Array)(input));
        expect([name, toHex(input), await outputOf(number, input)]).toEqual([name, toHex(input), expected]);
        kinds.add(`${name} ${expected === "refused" ? expected : "computed"}`);
      }
    }
    // Mappings refuse nothing here.
    if (IS_THOROUGH) expect(kinds.size).toBe(12);
  });

  it("refuses points outside of the groups, except to add them, and numbers with other bytes before them", async () => {
    const random = generator(SEED);
    const inside = ({ x, y }: { x: bigint; y: bigint }): Uint8Array =>
      concatBytes(bigintToFixedBytes(x, 64), bigintToFixedBytes(y, 64));
    const first = inside(G1.BASE.toAffine());
    const { x, y } = G2.BASE.toAffine();
    const second = concatBytes(...[x.c0, x.c1, y.c0, y.c1].map((value) => bigintToFixedBytes(value, 64)));
    const outside = foreignPoint(random);
    const { Fp2 } = bls12_381.fields;
    let foreignX = Fp2.fromBigTuple([1n, 0n]);
    let foreignY: typeof foreignX | undefined;
    while (foreignY === undefined) {
      foreignX = Fp2.add(foreignX, Fp2.ONE);
      try {
        foreignY = Fp2.sqrt(Fp2.add(Fp2.mul(Fp2.sqr(foreignX), foreignX), Fp2.fromBigTuple([4n, 4n])));
      } catch {
        // Half of all x have a y.
      }
    }
    const outside2 = concatBytes(
      ...[foreignX.c0, foreignX.c1, foreignY.c0, foreignY.c1].map((value) => bigintToFixedBytes(value, 64)),
    );
    const [one, zero] = [bigintToFixedBytes(1n, 32), toHex(bigintToFixedBytes(0n, 32))];
    expect(await outputOf(0x0f, concatBytes(first, second))).toBe(zero);
    expect(await outputOf(0x0f, concatBytes(outside, second))).toBe("refused");
    expect(await outputOf(0x0f, concatBytes(first, outside2))).toBe("refused");
    expect(await outputOf(0x0c, concatBytes(outside, one))).toBe("refused");
    expect(await outputOf(0x0e, concatBytes(outside2, one))).toBe("refused");
    expect(await outputOf(0x0b, concatBytes(outside, first))).not.toBe("refused");
    expect(await outputOf(0x0d, concatBytes(outside2, second))).not.toBe("refused");
    for (const [number, input] of [
      [0x0b, concatBytes(first, first)],
      [0x0d, concatBytes(second, second)],
      [0x10, field(random)],
      [0x11, concatBytes(field(random), field(random))],
    ] as const) {
      expect(await outputOf(number, input)).not.toBe("refused");
      for (let at = 0; at < input.length; at += 64) {
        const changed = Uint8Array.from(input);
        changed[at + 15] = 1;
        expect([number, at, await outputOf(number, changed)]).toEqual([number, at, "refused"]);
      }
    }
  });

  it("finds the product of no pairs, or of pairs with points at infinity alone, to be one", async () => {
    expect(await outputOf(0x0f, new Uint8Array(3 * 384))).toBe(toHex(bigintToFixedBytes(1n, 32)));
    expect(await outputOf(0x08, new Uint8Array(0))).toBe(toHex(bigintToFixedBytes(1n, 32)));
    expect(await outputOf(0x08, new Uint8Array(9 * 192))).toBe(toHex(bigintToFixedBytes(1n, 32)));
  });

  it("adds up terms and pairs of several slices, and passes over points at infinity", async () => {
    const theirs: EVMBLSInterface = new NobleBLS();
    theirs.init?.();
    const bytes1 = (factor: bigint): Uint8Array => {
      const { x, y } = G1.BASE.multiply(factor).toAffine();
      return concatBytes(...[x, y].map((value) => bigintToFixedBytes(value, 64)));
    };
    const bytes2 = (factor: bigint): Uint8Array => {
      const { x, y } = G2.BASE.multiply(factor).toAffine();
      return concatBytes(...[x.c0, x.c1, y.c0, y.c1].map((value) => bigintToFixedBytes(value, 64)));
    };
    const many = (count: number, term: (factor: bigint) => Uint8Array): Uint8Array =>
      concatBytes(...Array.from({ length: count }, (_, index) => term(BigInt(index + 1))));
    const term1 = (factor: bigint): Uint8Array =>
      concatBytes(factor % 5n === 0n ? new Uint8Array(128) : bytes1(factor), bigintToFixedBytes(factor, 32));
    const term2 = (factor: bigint): Uint8Array =>
      concatBytes(factor % 5n === 0n ? new Uint8Array(256) : bytes2(factor), bigintToFixedBytes(factor, 32));
    const [sum1, sum2] = [many(70, term1), many(35, term2)];
    expect(await outputOf(0x0c, sum1)).toBe(toHex(theirs.msmG1(sum1)));
    expect(await outputOf(0x0e, sum2)).toBe(toHex(theirs.msmG2(sum2)));
    // e(2P, Q) ... e(2P, Q) e(-36P, Q) with eighteen pairs, nine of which are skipped.
    const opposite = concatBytes(bytes1(Fr.ORDER - 18n), bytes2(1n));
    const pairs = many(18, (factor) =>
      concatBytes(factor % 2n === 0n ? new Uint8Array(128) : bytes1(2n), bytes2(1n)),
    );
    expect(await outputOf(0x0f, concatBytes(pairs, opposite))).toBe(toHex(bigintToFixedBytes(1n, 32)));
    expect(await outputOf(0x0f, concatBytes(opposite, pairs, opposite))).toBe(
      toHex(bigintToFixedBytes(0n, 32)),
    );
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

describe("ECRECOVER (0x01)", () => {
  it(`recovers what the library does, from signatures and from what is none (seed ${SEED})`, async () => {
    const common = libraryCommon("prague");
    const library = getActivePrecompiles(common).get("1".padStart(40, "0"));
    const random = generator(SEED);
    const word = (value: bigint): Uint8Array => bigintToFixedBytes(value, 32);
    let recovered = 0;
    for (let run = 0; run < casesOf(400); run++) {
      const digest = random.bytes(32);
      const { r, s, yParity } = sign(digest, random.bytes(32));
      const border = [0n, 1n, SECP256K1_ORDER - 1n, SECP256K1_ORDER, SECP256K1_ORDER + 1n, 2n ** 256n - 1n];
      const [oddR, oddS] = [border[random.below(20)] ?? r, border[random.below(20)] ?? s];
      const v = [27n, 28n, 0n, 1n, 2n ** 64n + 27n][random.below(8)] ?? 27n + BigInt(yParity);
      const whole = concatBytes(digest, word(v), word(oddR), word(oddS), random.bytes(random.below(3)));
      const data = random.below(10) === 0 ? whole.subarray(0, random.below(129)) : whole;
      const call = { data, gasLimit: 3000n, common } as unknown as PrecompileInput;
      const expected = expectDefined(await library?.(call), "the library's result");
      expect([toHex(data), await outputOf(0x01, data)]).toEqual([toHex(data), toHex(expected.returnValue)]);
      if (expected.returnValue.length > 0) recovered++;
    }
    expect(recovered).toBeGreaterThan(10);
  });
});

describe("point evaluation (0x0a)", () => {
  it("knows constant polynomials by a proof at infinity, and that a proof which only balances them is none", async () => {
    const { BASE } = bls12_381.G1.Point;
    const [y, z, factor] = [123_456n, 789n, 55n];
    const claim = (commitment: typeof BASE, proof: typeof BASE): Uint8Array => {
      const bytes = commitment.toBytes(true);
      const hash = Uint8Array.from(createHash("sha256").update(bytes).digest());
      hash[0] = 1;
      return concatBytes(
        hash,
        bigintToFixedBytes(z, 32),
        bigintToFixedBytes(y, 32),
        bytes,
        proof.toBytes(true),
      );
    };
    const { ZERO } = bls12_381.G1.Point;
    expect(await outputOf(0x0a, claim(BASE.multiply(y), ZERO))).not.toBe("refused");
    expect(await outputOf(0x0a, claim(BASE.multiply(y + 1n), ZERO))).toBe("refused");
    const balanced = BASE.multiply(y - z * factor);
    expect(await outputOf(0x0a, claim(balanced, BASE.multiply(factor)))).toBe("refused");
  });

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
    const claim = (commitment: Uint8Array, proof: Uint8Array): Uint8Array => {
      const hash = Uint8Array.from(createHash("sha256").update(commitment).digest());
      hash[0] = 1;
      // The zero polynomial has value 0 at 0.
      return concatBytes(hash, new Uint8Array(64), commitment, proof);
    };
    expect(await outputOf(0x0a, claim(INFINITY, INFINITY))).not.toBe("refused");
    const point = concatBytes(bigintToFixedBytes(x, 64), bigintToFixedBytes(y, 64));
    expect(await outputOf(0x0b, concatBytes(point, point))).not.toBe("refused");
    expect(await outputOf(0x0a, claim(foreign, INFINITY))).toBe("refused");
    // Without a check of their order, the product of both pairings would be one.
    expect(await outputOf(0x0a, claim(foreign, foreign))).toBe("refused");
  });
});

/** The compressed point at infinity. */
const INFINITY = concatBytes(Uint8Array.of(0xc0), new Uint8Array(47));
