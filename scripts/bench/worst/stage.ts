import { type Address, asAddress } from "../../../src/primitives/address.ts";
import { concatBytes } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import { JournaledOverlay, type Overlay } from "../../../src/state/overlay.ts";
import { EMPTY_ACCOUNT } from "../../../src/types/account.ts";
import { account } from "../../../test/builders/testAccounts.ts";
import { EMPTY_STATE } from "../../../test/execution/context.ts";
import type { Random } from "../../../test/storage/random.ts";
import { code, OP, push } from "./assembly.ts";

export const SENDER = account(0).address;
/** Address of the code of each case. */
export const TARGET = 0xca5en;
/** Number of contracts of the largest size, with different code, at consecutive addresses. */
export const MANY = 256;
export const MANY_AT = 0xc0de0000000000n;
const CODE_BYTES = 24_576;

const KILOBYTES_32 = push(32_768);

/** Called contracts: name, address, code. */
export const CALLEES: readonly (readonly [string, bigint, Uint8Array])[] = [
  ["STOP", code(OP.STOP)],
  ["24 KB of JUMPDEST", code(new Uint8Array(CODE_BYTES - 1).fill(OP.JUMPDEST), OP.STOP)],
  ["RETURN of 32 KB", code(KILOBYTES_32, OP.PUSH0, OP.RETURN)],
  ["REVERT of 32 KB", code(KILOBYTES_32, OP.PUSH0, OP.REVERT)],
  ["INVALID", code(OP.INVALID)],
  ["SELFDESTRUCT to a fresh account", code(OP.GAS, OP.SELFDESTRUCT)],
  ["LOG0", code(OP.PUSH0, OP.PUSH0, OP.LOG0)],
  ["itself, all the way down", code(...zeros(5), OP.ADDRESS, OP.GAS, OP.CALL)],
].map(([name, bytes], index) => [name as string, 0xca11_00n + BigInt(index), bytes as Uint8Array]);

export function zeros(count: number): readonly number[] {
  return new Array<number>(count).fill(OP.PUSH0);
}

export function addressOf(number: bigint): Address {
  return asAddress(bigintToFixedBytes(number, 20));
}

export function buildWorld(random: Random): Overlay {
  const world = new JournaledOverlay(EMPTY_STATE);
  world.putAccount(SENDER, { ...EMPTY_ACCOUNT, balance: 10n ** 24n });
  const put = (at: bigint, bytes: Uint8Array): void => {
    world.putAccount(addressOf(at), { ...EMPTY_ACCOUNT, nonce: 1n, balance: 10n ** 18n });
    world.putCode(addressOf(at), bytes);
  };
  for (const [, at, bytes] of CALLEES) put(at, bytes);
  for (let index = 0; index < MANY; index++) {
    // Stops at once; the rest is the worst case of jump analysis: consecutive long pushes.
    const seeded = concatBytes(random.bytes(8), new Uint8Array(CODE_BYTES - 9).fill(0x7f));
    put(MANY_AT + BigInt(index), code(OP.STOP, seeded));
  }
  return world;
}
