import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asAddress } from "../../src/primitives/address.ts";
import { concatBytes, hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { encodeSignature, SECP256K1_ORDER } from "../../src/primitives/secp256k1.ts";
import {
  decodeExtraData,
  type ExtraData,
  encodeExtraData,
  encodeWithoutSeals,
  encodeWithoutSealsAndRound,
  vanityFromBytes,
} from "../../src/types/extraData.ts";
import { casesOf } from "../thorough.ts";
import { describeWithVectors, readVectorJson } from "../vectors.ts";

interface Vectors {
  readonly valid: readonly {
    readonly name: string;
    readonly extraData: string;
    readonly decoded: {
      readonly vanity: string;
      readonly validators: readonly string[];
      readonly vote: { readonly recipient: string; readonly type: "ADD" | "DROP" } | null;
      readonly round: number;
      readonly seals: readonly string[];
    };
    readonly withoutSeals: string;
    readonly withoutSealsAndRound: string;
  }[];
  readonly invalid: readonly { readonly name: string; readonly extraData: string }[];
}

describeWithVectors("extra data", () => {
  const { valid, invalid } = readVectorJson<Vectors>("ibft2", "extra-data.json");

  it.each(valid)("is decoded, and encoded in its three forms: $name", (vector) => {
    const extra = decodeExtraData(hexToBytes(vector.extraData));
    if (!extra.ok) throw new Error(extra.error.message);
    const { vanity, validators, vote, round, seals } = extra.value;
    expect({
      vanity: toHex(vanity),
      validators: validators.map(toHex),
      vote: vote === undefined ? null : { recipient: toHex(vote.recipient), type: vote.kind.toUpperCase() },
      round,
      seals: seals.map((seal) => toHex(encodeSignature(seal))),
    }).toEqual(vector.decoded);
    expect(toHex(encodeExtraData(extra.value))).toBe(vector.extraData);
    expect(toHex(encodeWithoutSeals(extra.value))).toBe(vector.withoutSeals);
    expect(toHex(encodeWithoutSealsAndRound(extra.value))).toBe(vector.withoutSealsAndRound);
  });

  it.each(invalid)("is refused: $name", ({ extraData }) => {
    const outcome = decodeExtraData(hexToBytes(extraData));
    expect(outcome.ok ? "read" : outcome.error.code).toBe("malformedExtraData");
  });
});

const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(asAddress);
const scalar = fc.bigInt({ min: 1n, max: SECP256K1_ORDER - 1n });
const withoutVote = fc.record({
  vanity: fc.uint8Array({ maxLength: 40 }),
  validators: fc.array(address, { maxLength: 6 }),
  round: fc.nat({ max: 0xffff_ffff }),
  seals: fc.array(fc.record({ r: scalar, s: scalar, yParity: fc.constantFrom(0 as const, 1 as const) }), {
    maxLength: 5,
  }),
});
const vote = fc.record({ recipient: address, kind: fc.constantFrom("add" as const, "drop" as const) });
const anyExtra: fc.Arbitrary<ExtraData> = fc.oneof(
  withoutVote,
  fc.tuple(withoutVote, vote).map(([extra, cast]) => ({ ...extra, vote: cast })),
);

describe("extra data with any contents", () => {
  it("is decoded from its own encoding", () => {
    fc.assert(
      fc.property(anyExtra, (extra) => {
        expect(decodeExtraData(encodeExtraData(extra))).toEqual({ ok: true, value: extra });
      }),
    );
  });

  it("is refused or decoded exactly when a byte is changed, and never throws", () => {
    fc.assert(
      fc.property(anyExtra, fc.nat(), fc.nat({ max: 255 }), (extra, at, byte) => {
        const mutated = encodeExtraData(extra);
        mutated[at % mutated.length] = byte;
        const outcome = decodeExtraData(mutated);
        if (outcome.ok) expect(toHex(encodeExtraData(outcome.value))).toBe(toHex(mutated));
      }),
      { numRuns: casesOf(500) },
    );
  });

  it("is refused with trailing bytes, and with a seal that is not a signature", () => {
    const extra: ExtraData = { vanity: new Uint8Array(32), validators: [], round: 1, seals: [] };
    expect(decodeExtraData(encodeExtraData(extra)).ok).toBe(true);
    expect(decodeExtraData(concatBytes(encodeExtraData(extra), Uint8Array.of(0))).ok).toBe(false);
    for (const [r, s] of [
      [0n, 1n],
      [1n, 0n],
      [SECP256K1_ORDER, 1n],
      [1n, SECP256K1_ORDER],
    ] as const) {
      expect(decodeExtraData(encodeExtraData({ ...extra, seals: [{ r, s, yParity: 0 }] })).ok).toBe(false);
    }
  });
});

describe("vanityFromBytes", () => {
  it("pads on the left and cuts what is too long", () => {
    expect(toHex(vanityFromBytes(Uint8Array.of(1, 2)))).toBe(`0x${"00".repeat(30)}0102`);
    expect(vanityFromBytes(new Uint8Array(40).fill(7))).toEqual(new Uint8Array(32).fill(7));
  });
});
