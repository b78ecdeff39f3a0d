import type { Address } from "../primitives/address.ts";
import { EMPTY_CODE_HASH } from "../primitives/hash.ts";
import { equalBytes } from "../primitives/hex.ts";
import { bigintToBytes, bytesToBigint, larger } from "../primitives/quantity.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import type { Steps } from "../primitives/steps.ts";
import { type DumpedAccount, SLOT_ENTRY_BYTES } from "../state/dump/dumpedAccount.ts";
import type { Overlay } from "../state/overlay.ts";
import { EMPTY_ACCOUNT } from "../types/account.ts";

/** A change of the state that no transaction makes. */
export type Alteration =
  | { readonly kind: "balance"; readonly address: Address; readonly balanceWei: bigint }
  | { readonly kind: "nonce"; readonly address: Address; readonly nonce: bigint }
  | { readonly kind: "code"; readonly address: Address; readonly code: Uint8Array }
  /** The slot has 32 bytes; a value of zero clears it. */
  | {
      readonly kind: "storage";
      readonly address: Address;
      readonly slot: Uint8Array;
      readonly value: bigint;
    }
  /** All of an account as a dump has it: the higher one of two nonces counts, and slots that it does not name stay. */
  | { readonly kind: "account"; readonly account: DumpedAccount };

/**
 * Makes the changes in order, and yields after each. An account that is empty afterwards does not exist (EIP-161), except that one whose last slots were
 * cleared by the same changes stays until the next one.
 */
export function* alterInSteps(overlay: Overlay, alterations: Iterable<Alteration>): Steps<void> {
  for (const alteration of alterations) {
    if (alteration.kind === "account") {
      yield* putDumped(overlay, alteration.account);
      continue;
    }
    const { address } = alteration;
    const account = overlay.account(address) ?? EMPTY_ACCOUNT;
    switch (alteration.kind) {
      case "balance":
        overlay.putAccount(address, { ...account, balance: alteration.balanceWei });
        break;
      case "nonce":
        overlay.putAccount(address, { ...account, nonce: alteration.nonce });
        break;
      case "code":
        overlay.putCode(address, alteration.code);
        break;
      case "storage":
        overlay.putAccount(address, account);
        overlay.putStorage(address, alteration.slot, bigintToBytes(alteration.value));
        break;
    }
    removeIfEmpty(overlay, address);
    yield;
  }
}

function* putDumped(overlay: Overlay, dumped: DumpedAccount): Steps<void> {
  const { address, nonce, balanceWei, code, slots } = dumped;
  const account = overlay.account(address) ?? EMPTY_ACCOUNT;
  overlay.putAccount(address, { ...account, balance: balanceWei, nonce: larger(account.nonce, nonce) });
  overlay.putCode(address, code);
  yield;
  for (let at = 0; at < slots.length; at += SLOT_ENTRY_BYTES) {
    const value = bytesToBigint(slots.subarray(at + 32, at + SLOT_ENTRY_BYTES));
    overlay.putStorage(address, slots.slice(at, at + 32), bigintToBytes(value));
    yield;
  }
  removeIfEmpty(overlay, address);
}

/** Storage alone keeps an account, which contracts could not make: callers set the slots of code that comes later. */
function removeIfEmpty(overlay: Overlay, address: Address): void {
  const account = overlay.account(address);
  if (account === undefined || account.nonce !== 0n || account.balance !== 0n) return;
  if (!equalBytes(account.codeHash, EMPTY_CODE_HASH) || overlay.hasStorage(address)) return;
  overlay.putAccount(address, undefined);
}

/** Bounds of a header's gas limit. */
const LOWEST_GAS_LIMIT = 5000n;
const HIGHEST_GAS_LIMIT = 2n ** 63n - 1n;

/** Whether a block may have this gas limit. */
export function checkGasLimit(gasLimit: bigint): Result<void, "gasLimitOutOfBounds"> {
  if (gasLimit >= LOWEST_GAS_LIMIT && gasLimit <= HIGHEST_GAS_LIMIT) return ok(undefined);
  const message = `the gas limit of a block is from ${LOWEST_GAS_LIMIT} to ${HIGHEST_GAS_LIMIT}`;
  return fail("caller", "gasLimitOutOfBounds", message);
}
