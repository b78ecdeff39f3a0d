import { expect, it } from "vitest";
import { withdrawalOf } from "../../src/types/withdrawal.ts";

it("a withdrawal is read from its RLP items, and those that are missing are empty or zero", () => {
  const address = new Uint8Array(20).fill(0xaa);
  expect(withdrawalOf([Uint8Array.of(1), Uint8Array.of(2), address, Uint8Array.of(3, 0)])).toEqual({
    index: 1n,
    validatorIndex: 2n,
    address,
    amountGwei: 768n,
  });
  const nothing = { index: 0n, validatorIndex: 0n, address: new Uint8Array(), amountGwei: 0n };
  expect(withdrawalOf(new Uint8Array())).toEqual(nothing);
  expect(withdrawalOf([[Uint8Array.of(1)]])).toEqual(nothing);
});
