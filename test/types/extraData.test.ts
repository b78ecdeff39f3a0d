import { expect, it } from "vitest";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { encodeSignature } from "../../src/primitives/secp256k1.ts";
import {
  decodeExtraData,
  encodeExtraData,
  encodeWithoutSeals,
  encodeWithoutSealsAndRound,
} from "../../src/types/extraData.ts";
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

  it.each(valid)("is read and written in its three forms: $name", (vector) => {
    const extra = decodeExtraData(hexToBytes(vector.extraData));
    if (!extra.ok) throw new Error(extra.rejection.message);
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
    expect(outcome.ok ? "read" : outcome.rejection.code).toBe("malformedExtraData");
  });
});
