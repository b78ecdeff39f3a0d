import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import {
  type Decoder,
  decodeAddress,
  decodeBoolean,
  decodeData,
  decodeGas,
  decodeHash,
  decodeIndex,
  decodeJavaLong,
  decodeNumber,
  decodeStoragePosition,
  decodeTopic,
  decodeWei,
} from "../../../src/rpc/parameters/parameters.ts";

const HASH = "a05e794446242ee42ff7a894d2271ca2c21e772bb7dd574caecba5cd0795b29c";
const ADDRESS = "f48FB18F622d4073F1ea61F18B2dca47fD4E35A1";

/** Values that no decoder of text accepts. */
const INVALID = ["zz", "0xzz", "not-a-value", "0x 1", " ", null, undefined, {}, [], true];

function refusesAll(decode: Decoder<unknown>, values: readonly unknown[]): void {
  expect(values.filter((value) => decode(value) !== undefined)).toEqual([]);
}

function show(bytes: Uint8Array | undefined): string | undefined {
  return bytes && toHex(bytes);
}

describe("an address", () => {
  it("may lack its prefix, its checksum and its leading digits", () => {
    const full = `0x${ADDRESS.toLowerCase()}`;
    for (const text of [`0x${ADDRESS}`, ADDRESS, ADDRESS.toUpperCase(), full])
      expect(show(decodeAddress(text))).toBe(full);
    expect(show(decodeAddress("0x123"))).toBe(`0x${"123".padStart(40, "0")}`);
    expect(show(decodeAddress("0x"))).toBe(`0x${"0".repeat(40)}`);
  });

  it("has at most 20 bytes of hex in a string", () => {
    refusesAll(decodeAddress, [...INVALID, `0x${ADDRESS}00`, 18, `0x0${ADDRESS}`]);
  });
});

describe("a hash", () => {
  it("has exactly 32 bytes, with or without prefix", () => {
    for (const text of [HASH, `0x${HASH}`, HASH.toUpperCase()])
      expect(show(decodeHash(text))).toBe(`0x${HASH}`);
    refusesAll(decodeHash, [...INVALID, "0x1234", `0x${HASH}00`, HASH.slice(1), `0x${HASH.slice(2)}zz`, 5]);
  });
});

describe("a boolean", () => {
  it("may be text or an integer", () => {
    expect([true, "true", " TRUE", 1, -3].map(decodeBoolean)).toEqual([true, true, true, true, true]);
    expect([false, "false", "False", 0].map(decodeBoolean)).toEqual([false, false, false, false]);
    refusesAll(decodeBoolean, ["maybe", "0", "", 0.5, null, undefined, {}, []]);
  });
});

describe("an index", () => {
  it("is an integer of 31 bits or its text in any of four notations", () => {
    expect([0, 7, "0x0", "0", "0x1f", "0X1F", "#1f", "017", "31", "+5"].map(decodeIndex)).toEqual([
      0, 7, 0, 0, 31, 31, 31, 15, 31, 5,
    ]);
    expect(decodeIndex("0x7fffffff")).toBe(2 ** 31 - 1);
    refusesAll(decodeIndex, [
      ...INVALID,
      -1,
      "-1",
      "-0x1",
      1.5,
      2 ** 31,
      "0x80000000",
      "1e3",
      "08",
      "0x",
      "",
      "0x-1",
    ]);
  });
});

describe("a Java long", () => {
  it("keeps its sign and its 64 bits", () => {
    expect(decodeJavaLong("-0x1")).toBe(-1n);
    expect(decodeJavaLong("0x7fffffffffffffff")).toBe(2n ** 63n - 1n);
    expect(decodeJavaLong("-9223372036854775808")).toBe(-(2n ** 63n));
    refusesAll(decodeJavaLong, [
      ...INVALID,
      3,
      "0x8000000000000000",
      "-9223372036854775809",
      "--1",
      "1f",
      "0b1",
    ]);
  });

  it("reads back every number in its range, in each notation", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), (number) => {
        const notations = [
          `${number}`,
          `0x${number.toString(16)}`,
          `0x00${number.toString(16)}`,
          `0${number.toString(8)}`,
        ];
        expect(notations.map(decodeJavaLong)).toEqual(notations.map(() => number));
        expect(decodeJavaLong(`-${number}`)).toBe(-number);
      }),
    );
  });
});

describe("a storage position", () => {
  it("is hex with or without prefix, at most 32 bytes including zeros", () => {
    expect(
      ["3", "0x3", "0a", "10", "0x"].map((text) => BigInt(show(decodeStoragePosition(text)) ?? "0x0")),
    ).toEqual([3n, 3n, 10n, 16n, 0n]);
    expect(show(decodeStoragePosition(HASH))).toBe(`0x${HASH}`);
    refusesAll(decodeStoragePosition, [...INVALID, 3, `0x${"00".repeat(33)}`, `0x00${HASH}`]);
  });
});

describe("wei and gas of a call object", () => {
  it("reads wei as hex from text and as a decimal from a JSON integer", () => {
    expect(["10", "0x10", "0xA", 10, 0, "0x"].map(decodeWei)).toEqual([16n, 16n, 10n, 10n, 0n, 0n]);
    expect(decodeWei(`0x${"f".repeat(64)}`)).toBe(2n ** 256n - 1n);
    refusesAll(decodeWei, [...INVALID, -1, 0.5, "-0x1", `0x${"0".repeat(65)}`, "xyz"]);
  });

  it("reads even a JSON integer as hex gas, up to eight bytes, and clamps it to 63 bits", () => {
    expect(["0x5208", "5208", 21000, "0x0"].map(decodeGas)).toEqual([0x5208n, 0x5208n, 0x21000n, 0n]);
    expect(decodeGas("0xffffffffffffffff")).toBe(2n ** 63n - 1n);
    refusesAll(decodeGas, [...INVALID, "0xffffffffffffffffff", "0x00000000000000005208", -1, 1.5]);
  });
});

describe("bytes and topics", () => {
  it("requires whole bytes in data", () => {
    expect(["0x", "", "0x1234", "1234"].map((text) => show(decodeData(text)))).toEqual([
      "0x",
      "0x",
      "0x1234",
      "0x1234",
    ]);
    refusesAll(decodeData, [...INVALID, "0x123", 12]);
  });

  it("accepts a topic of any length", () => {
    expect(["0x12", "1", `0x${HASH}${HASH}`].map((text) => show(decodeTopic(text)))).toEqual([
      "0x12",
      "0x01",
      `0x${HASH}${HASH}`,
    ]);
    refusesAll(decodeTopic, [...INVALID, 5]);
  });

  it("reads percentiles from numbers and text", () => {
    expect([50, 0.5, "50", "12.5", -1].map(decodeNumber)).toEqual([50, 0.5, 50, 12.5, -1]);
    refusesAll(decodeNumber, ["", "x", null, undefined, {}, [], true]);
  });
});

describe("every decoder", () => {
  it("never throws, whatever JSON it gets", () => {
    const decoders: readonly Decoder<unknown>[] = [
      decodeAddress,
      decodeBoolean,
      decodeData,
      decodeGas,
      decodeHash,
      decodeIndex,
      decodeJavaLong,
      decodeNumber,
      decodeStoragePosition,
      decodeTopic,
      decodeWei,
    ];
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const decode of decoders) decode(value);
      }),
    );
  });
});
