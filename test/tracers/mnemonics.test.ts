import { expect, it } from "vitest";
import { mnemonicOf } from "../../src/tracers/mnemonics.ts";

const LATEST = { isKnown: () => true };
const SHANGHAI_FIRST = 0x5f;
const LONDON = { isKnown: (instruction: number) => instruction !== SHANGHAI_FIRST };

it("instructions have Besu's names", () => {
  const named = [0x00, 0x20, 0x5e, 0x5f, 0x60, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa4, 0xf5, 0xfa, 0xfd, 0xff];
  expect(named.map((instruction) => mnemonicOf(instruction, LATEST))).toEqual(
    "STOP KECCAK256 MCOPY PUSH0 PUSH1 PUSH32 DUP1 DUP16 SWAP1 SWAP16 LOG4 CREATE2 STATICCALL REVERT SELFDESTRUCT".split(
      " ",
    ),
  );
});

it("0x44 has the name of what it returns in the fork", () => {
  expect([mnemonicOf(0x44, LONDON), mnemonicOf(0x44, LATEST)]).toEqual(["DIFFICULTY", "PREVRANDAO"]);
});

it("a byte that is no instruction in the fork, or in any, is INVALID", () => {
  expect(mnemonicOf(SHANGHAI_FIRST, LONDON)).toBe("INVALID");
  for (const nothing of [0x0c, 0x1e, 0x21, 0xa5, 0xfb]) expect(mnemonicOf(nothing, LATEST)).toBe("INVALID");
});
