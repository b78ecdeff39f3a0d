import { type Address, asAddress } from "../../primitives/address.ts";
import { packBytes, recordsOf } from "../../primitives/packedBytes.ts";
import { bigintToBytes, bytesToBigint } from "../../primitives/quantity.ts";

/** An account as a dump of a state has it. */
export interface DumpedAccount {
  readonly address: Address;
  readonly nonce: bigint;
  readonly balanceWei: bigint;
  readonly code: Uint8Array;
  /** Slots and their values in turn, 32 bytes each. */
  readonly slots: Uint8Array;
}

/** Bytes of a slot with its value in `DumpedAccount.slots`. */
export const SLOT_ENTRY_BYTES = 64;

/** Accounts on their way between threads. */
export type PackedAccounts = Uint8Array<ArrayBuffer>;

export function packAccounts(accounts: readonly DumpedAccount[]): PackedAccounts {
  return packBytes(
    accounts.flatMap(({ address, nonce, balanceWei, code, slots }) => [
      address,
      bigintToBytes(nonce),
      bigintToBytes(balanceWei),
      code,
      slots,
    ]),
  );
}

/** The accounts in their order. Their bytes are copies, since an overlay and its caches keep some of them. */
export function* unpackAccounts(packed: PackedAccounts): Generator<DumpedAccount, void> {
  for (const record of recordsOf(packed, ["address", "nonce", "balance", "code", "slots"])) {
    yield {
      address: asAddress(record.address.slice()),
      nonce: bytesToBigint(record.nonce),
      balanceWei: bytesToBigint(record.balance),
      code: record.code.slice(),
      slots: record.slots,
    };
  }
}
