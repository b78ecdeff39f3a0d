import { TypedDataEncoder } from "ethers";
import fc from "fast-check";
import { hashTypedData as viemHash } from "viem";
import { describe, expect, it } from "vitest";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { encodeSignature, sign } from "../../../src/primitives/secp256k1.ts";
import { hashPersonalMessage } from "../../../src/rpc/signing/personalMessage.ts";
import { hashTypedData, readTypedData, UnusableTypedData } from "../../../src/rpc/signing/typedData.ts";

/** The example of EIP-712, with the values that its page gives. */
const MAIL = {
  types: {
    EIP712Domain: [
      { name: "name", type: "string" },
      { name: "version", type: "string" },
      { name: "chainId", type: "uint256" },
      { name: "verifyingContract", type: "address" },
    ],
    Person: [
      { name: "name", type: "string" },
      { name: "wallet", type: "address" },
    ],
    Mail: [
      { name: "from", type: "Person" },
      { name: "to", type: "Person" },
      { name: "contents", type: "string" },
    ],
  },
  primaryType: "Mail",
  domain: {
    name: "Ether Mail",
    version: "1",
    chainId: 1,
    verifyingContract: "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC",
  },
  message: {
    from: { name: "Cow", wallet: "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826" },
    to: { name: "Bob", wallet: "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB" },
    contents: "Hello, Bob!",
  },
};

const hashOf = (data: unknown): string => toHex(hashTypedData(readTypedData(data)));

describe("typed data", () => {
  it("has the hash and the signature of the EIP's example", () => {
    const hash = hashTypedData(readTypedData(MAIL));
    expect(toHex(hash)).toBe("0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2");
    expect(toHex(encodeSignature(sign(hash, keccak256(Buffer.from("cow")))))).toBe(
      "0x4355c47d63924e8a72e509b65029052eb6c299d53a04e167c5775fd466751c9d07299936d304c153f6443dfa05f40ff007d72911b6f72307f996231605b9156201",
    );
  });

  it("may come as JSON text, and without the type of its domain", () => {
    const { EIP712Domain: _, ...types } = MAIL.types;
    expect(hashOf(JSON.stringify({ ...MAIL, types }))).toBe(hashOf(MAIL));
  });

  it("counts a structure that is absent as zeros, so that a structure may contain itself", () => {
    const types = {
      EIP712Domain: [],
      Node: [
        { name: "value", type: "int8" },
        { name: "next", type: "Node" },
      ],
    };
    const short = { types, primaryType: "Node", domain: {}, message: { value: -1 } };
    const long = { ...short, message: { value: -1, next: { value: 2, next: null } } };
    expect(hashOf(short)).not.toBe(hashOf(long));
    const typeHash = keccak256(Buffer.from("Node(int8 value,Node next)"));
    const struct = keccak256(Buffer.concat([typeHash, new Uint8Array(32).fill(255), new Uint8Array(32)]));
    const domain = keccak256(keccak256(Buffer.from("EIP712Domain()")));
    expect(hashOf(short)).toBe(toHex(keccak256(Buffer.concat([Uint8Array.of(0x19, 1), domain, struct]))));
  });

  it("has the hash that viem and ethers give, whatever types it has", () => {
    fc.assert(
      fc.property(structure, ({ members, message }) => {
        const types = { Whole: members, Part: PART };
        const domain = { name: "x", chainId: 7 };
        const whole = { types, primaryType: "Whole", domain, message };
        expect(hashOf(whole)).toBe(TypedDataEncoder.hash(domain, types, message));
        expect(hashOf(whole)).toBe(viemHash(whole as never));
      }),
      { numRuns: 200 },
    );
  });

  const mail = MAIL.message;
  it.each([
    ["no object", 5, "typed data is an object"],
    ["text that is no JSON", "{", "typed data is an object"],
    ["no types", { ...MAIL, types: undefined }, "an object of types"],
    ["no message", { ...MAIL, message: undefined }, "an object as its domain"],
    ["no primary type", { ...MAIL, primaryType: 1 }, "has a primaryType"],
    ["an unknown primary type", { ...MAIL, primaryType: "Letter" }, "not defined"],
    ["a member without type", { ...MAIL, types: { Mail: [{ name: "x" }] } }, "each member"],
    ["a structure that is none", { ...MAIL, message: { ...mail, to: "Bob" } }, "not an object"],
    ["a number for text", { ...MAIL, message: { ...mail, contents: 5 } }, "does not fit its type"],
    ["too many types", { ...MAIL, types: manyTypes(51) }, "more than 50 types"],
    ["too many members", { ...MAIL, types: { Mail: manyMembers(1001) } }, "more than 1000 members"],
    ["too many values", listOf("bool[]", new Array(20_001).fill(true)), "more than 20000 values"],
    ["values nested too deep", listOf(`bool${"[]".repeat(40)}`, nested(40)), "nested more than 32 deep"],
    ["a list of another length", listOf("bool[2]", [true]), "list of its length"],
    ["an integer too large", listOf("uint8", 256), "does not fit its type"],
    ["an integer too small", listOf("int8", -129), "does not fit its type"],
    ["an integer of no width", listOf("uint7", 1), "does not fit its type"],
    ["bytes of another size", listOf("bytes4", "0x00"), "does not fit its type"],
    ["an unknown type", listOf("Nothing", 1), "does not fit its type"],
  ])("is refused with %s", (_what, data, message) => {
    expect(() => hashOf(data)).toThrow(UnusableTypedData);
    expect(() => hashOf(data)).toThrow(message);
  });
});

describe("a personal message", () => {
  it("has the hash of EIP-191", () => {
    expect(toHex(hashPersonalMessage(Buffer.from("Hello World")))).toBe(
      "0xa1de988600a42c4b4ab089b619297c17d53cffae5d5120d82d8a92d0bb3b78f2",
    );
  });
});

const PART = [
  { name: "first", type: "bytes" },
  { name: "second", type: "uint16" },
];

const hex = (bytes: Uint8Array): string => toHex(bytes);
const part = fc.record({ first: fc.uint8Array().map(hex), second: fc.nat(65_535) });
const VALUES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  string: fc.string(),
  bytes: fc.uint8Array().map(hex),
  bytes5: fc.uint8Array({ minLength: 5, maxLength: 5 }).map(hex),
  bytes32: fc.uint8Array({ minLength: 32, maxLength: 32 }).map(hex),
  bool: fc.boolean(),
  address: fc.uint8Array({ minLength: 20, maxLength: 20 }).map(hex),
  uint256: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String),
  int256: fc.bigInt({ min: -(2n ** 255n), max: 2n ** 255n - 1n }).map(String),
  int24: fc.integer({ min: -(2 ** 23), max: 2 ** 23 - 1 }),
  Part: part,
  "Part[]": fc.array(part, { maxLength: 3 }),
  "uint8[3]": fc.array(fc.nat(255), { minLength: 3, maxLength: 3 }),
  "string[][]": fc.array(fc.array(fc.string(), { maxLength: 2 }), { maxLength: 2 }),
};

/** A structure of some members, always with a Part, so that no type is unused. */
const structure = fc.subarray(Object.keys(VALUES), { minLength: 1 }).chain((chosen) => {
  const types = [...new Set(["Part", ...chosen])];
  const members = types.map((type, index) => ({ name: `m${index}`, type }));
  const values = Object.fromEntries(members.map(({ name, type }) => [name, VALUES[type] ?? fc.constant(0)]));
  return fc.record(values).map((message) => ({ members, message }));
});

function listOf(type: string, value: unknown): unknown {
  return { types: { Mail: [{ name: "x", type }] }, primaryType: "Mail", domain: {}, message: { x: value } };
}

function nested(depth: number): unknown {
  return depth === 0 ? true : [nested(depth - 1)];
}

function manyTypes(count: number): unknown {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`T${index}`, []]));
}

function manyMembers(count: number): unknown {
  return Array.from({ length: count }, (_, index) => ({ name: `m${index}`, type: "bool" }));
}
