import { RLP } from "@ethereumjs/rlp";
import { expect, it } from "vitest";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { bigintToBytes } from "../../src/primitives/quantity.ts";
import { encodeRlpList, encodeRlpString, readRlpList } from "../../src/primitives/rlp.ts";
import { describeWithVectors, readVectorJson } from "../vectors.ts";

/** A string, a number, "#" and a large number, or a list of such. */
type Input = string | number | readonly Input[];

type RlpTests = Readonly<Record<string, { readonly in: Input; readonly out: string }>>;

function encode(input: Input): Uint8Array {
  if (typeof input === "number") return encodeRlpString(bigintToBytes(BigInt(input)));
  if (typeof input !== "string") return encodeRlpList(input.map(encode));
  if (input.startsWith("#")) return encodeRlpString(bigintToBytes(BigInt(input.slice(1))));
  return encodeRlpString(Uint8Array.from(Buffer.from(input, "utf8")));
}

/** Reads every level; throws where any of them is not canonical. */
function readDeep(bytes: Uint8Array): void {
  for (const { isList, start, until } of readRlpList(bytes)) {
    if (isList) readDeep(bytes.subarray(start, until));
  }
}

/** Any item stands as the one member of a list, so the list reader judges strings too. */
function readAny(bytes: Uint8Array): void {
  const first = readRlpList(encodeRlpList([bytes]));
  if (first.length !== 1) throw new RangeError("more than one item");
  readDeep(encodeRlpList([bytes]));
}

describeWithVectors("public RLP tests", () => {
  const sound = Object.entries(readVectorJson<RlpTests>("rlp-tests", "rlptest.json"));
  const invalid = Object.entries(readVectorJson<RlpTests>("rlp-tests", "invalidRLPTest.json"));
  const random = Object.entries(readVectorJson<RlpTests>("rlp-tests", "RandomRLPTests", "example.json"));

  it.each(sound)("are written as expected and can be read: %s", (_, test) => {
    expect(toHex(encode(test.in))).toBe(test.out);
    expect(() => readAny(hexToBytes(test.out))).not.toThrow();
  });

  it.each(invalid)(
    "are refused where they break the rules, by our reader and by the library: %s",
    (_, test) => {
      const bytes = hexToBytes(test.out);
      expect(() => readAny(bytes)).toThrow(RangeError);
      // The library reads nothing as the empty string, which is no list, so whoever expects a list refuses it.
      if (bytes.length === 0) expect(RLP.decode(bytes)).toHaveLength(0);
      else expect(() => RLP.decode(bytes)).toThrow();
    },
  );

  it.each(random)("are read when valid: %s", (_, test) => {
    expect(test.in).toBe("VALID");
    expect(() => readAny(hexToBytes(test.out))).not.toThrow();
  });
});
