import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asHash } from "../../src/primitives/hash.ts";
import { bigintToBytes } from "../../src/primitives/quantity.ts";
import {
  decodeAccount,
  decodeSlotValue,
  encodeAccountLeaf,
  encodeSlotValue,
} from "../../src/state/accountLeaf.ts";
import { ByteArena } from "../../src/state/byteArena.ts";
import { decodeFlatAccount, encodeFlatAccount } from "../../src/state/flatAccount.ts";
import { readScalar, scalarLength, writeScalar } from "../../src/state/scalar.ts";
import { EMPTY_ACCOUNT } from "../../src/types/account.ts";
import { encodeAccount } from "../builders/encodeAccount.ts";

const hash = () => fc.uint8Array({ minLength: 32, maxLength: 32 }).map(asHash);
/** All lengths are equally likely. */
const scalar = () => fc.nat(256).chain((bits) => fc.bigInt(0n, (1n << BigInt(bits)) - 1n));
const account = () =>
  fc.record({ nonce: scalar(), balance: scalar(), storageRoot: hash(), codeHash: hash() });

describe("account encodings", () => {
  it("encode the trie's leaf exactly as the general encoder does, and decode it", () => {
    fc.assert(
      fc.property(account(), (value) => {
        const leaf = encodeAccountLeaf(value, new ByteArena());
        expect(Buffer.compare(leaf, encodeAccount(value))).toBe(0);
        expect(decodeAccount(leaf)).toEqual(value);
      }),
    );
  });

  it("round-trip a flat account with its storage", () => {
    const storage = fc.record({ trieId: fc.integer({ min: 1, max: 2 ** 47 }), version: fc.nat(2 ** 31 - 1) });
    fc.assert(
      fc.property(account(), storage, fc.nat(9), (value, pointer, start) => {
        const flat = { account: value, storage: pointer };
        const bytes = Uint8Array.of(...new Uint8Array(start), ...encodeFlatAccount(flat));
        expect(decodeFlatAccount(bytes, start)).toEqual(flat);
      }),
    );
    expect(
      decodeFlatAccount(encodeFlatAccount({ account: EMPTY_ACCOUNT, storage: { trieId: 0, version: 0 } }))
        .account,
    ).toEqual(EMPTY_ACCOUNT);
  });

  it("write scalars without leading zeros", () => {
    fc.assert(
      fc.property(scalar(), (value) => {
        const length = scalarLength(value);
        const bytes = new Uint8Array(length + 2);
        expect(writeScalar(bytes, 1, value, length)).toBe(length + 1);
        expect(bytes.slice(1, length + 1)).toEqual(bigintToBytes(value));
        expect([bytes[0], bytes[length + 1]]).toEqual([0, 0]);
        expect(readScalar(bytes, 1, length)).toBe(value);
      }),
    );
  });

  it("round-trip a slot's value", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 32 }), (value) => {
        expect(decodeSlotValue(encodeSlotValue(value))).toEqual(value);
      }),
    );
  });
});
