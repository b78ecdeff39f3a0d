import { Account as LibraryAccount } from "@ethereumjs/util";
import fc from "fast-check";
import { expect, it } from "vitest";
import { asHash } from "../../src/primitives/hash.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { EMPTY_ACCOUNT } from "../../src/types/account.ts";
import { encodeAccount } from "../builders/encodeAccount.ts";

it("encodes an account as the leaf of the state trie that the library writes", () => {
  const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(asHash);
  const nonce = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  const balance = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
  fc.assert(
    fc.property(fc.record({ nonce, balance, storageRoot: hash, codeHash: hash }), (account) => {
      const { storageRoot, codeHash } = account;
      const expected = new LibraryAccount(account.nonce, account.balance, storageRoot, codeHash).serialize();
      expect(toHex(encodeAccount(account))).toBe(toHex(expected));
    }),
  );
  expect(toHex(encodeAccount(EMPTY_ACCOUNT))).toBe(toHex(new LibraryAccount().serialize()));
});
