import { authorityOf, delegationTarget } from "../execution/delegation.ts";
import { hasNoCode, isEmpty } from "../execution/emptyAccounts.ts";
import type { Callee, ExecutionObserver, Step } from "../execution/observer.ts";
import { type Address, addressOfWord } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";
import { equalBytes, toHex, toWordHex } from "../primitives/hex.ts";
import { bigintToFixedBytes, toQuantity } from "../primitives/quantity.ts";
import { type Account, EMPTY_ACCOUNT } from "../types/account.ts";
import type { TracedTransaction, TransactionTrace } from "./tracer.ts";
import { type Member, objectOf, sortedObjectOf, type TraceText } from "./traceText.ts";
import type { WatchedOverlay } from "./watchedOverlay.ts";

export interface PrestateConfig {
  /** Shows changed values before and after, instead of all touched accounts and slots. */
  readonly diffMode: boolean;
  readonly disableCode: boolean;
  readonly disableStorage: boolean;
  /** Whether accounts that were empty before are shown, too; has no effect with diffMode. */
  readonly includeEmpty: boolean;
}

/**
 * go-ethereum's prestateTracer: the accounts and slots that a transaction touched, as they were before, so that it can be
 * executed elsewhere; or, with diffMode, only what it changed.
 */
export function prestateTracer(
  config: PrestateConfig,
  transaction: Pick<TracedTransaction, "state" | "beneficiary" | "authorizationList">,
  text: TraceText,
): TransactionTrace {
  const { state } = transaction;
  const touched = new TouchedState(transaction, config.disableStorage);
  const codeOf = (account: Account): string =>
    config.disableCode ? "0x" : toHex(state.code(account.codeHash));
  const view = { state, codeOf };
  return {
    observer: touched,
    finish() {
      text.add(config.diffMode ? diffJson(touched, view) : prestateJson(touched, view, config));
    },
  };
}

/** The state before and after the transaction, and the code of an account as shown, "0x" for none. */
interface View {
  readonly state: WatchedOverlay;
  codeOf(account: Account): string;
}

class TouchedState implements ExecutionObserver {
  readonly accounts = new Map<string, TouchedAccount>();
  readonly destroyed = new Set<string>();
  private readonly transaction: Pick<TracedTransaction, "state" | "beneficiary" | "authorizationList">;
  private readonly omitsSlots: boolean;

  constructor(
    transaction: Pick<TracedTransaction, "state" | "beneficiary" | "authorizationList">,
    omitsSlots: boolean,
  ) {
    this.transaction = transaction;
    this.omitsSlots = omitsSlots;
  }

  entered({ from, to, depth }: Callee): void {
    this.touch(from);
    this.touch(to);
    if (depth === 0) this.touchInitial(to);
  }

  /** Touches what a transaction touches before its first instruction; like go-ethereum, not its own new delegations. */
  private touchInitial(to: Address): void {
    const { state, beneficiary, authorizationList } = this.transaction;
    this.touch(beneficiary);
    this.touchTargetOf(state.accountBefore(to));
    for (const authorization of authorizationList) {
      const authority = authorityOf(authorization);
      if (authority !== undefined) this.touch(authority);
    }
  }

  /** Touches the account to which the code is delegated (EIP-7702). */
  private touchTargetOf(account: Account | undefined): void {
    const target = account && delegationTarget(this.transaction.state.code(account.codeHash));
    if (target !== undefined) this.touch(target);
  }

  begun({ instruction, state }: Step): void {
    const { stack, address: own } = state;
    if (stack.length === 0) return;
    switch (instruction) {
      case 0x54: // SLOAD
      case 0x55: {
        // SSTORE
        if (this.omitsSlots) return;
        const slot = bigintToFixedBytes(stack.at(0), 32);
        this.touch(own).slots.set(toKey(slot), slot);
        return;
      }
      case 0xff: // SELFDESTRUCT
        this.destroyed.add(toKey(own));
        this.touch(addressOfWord(stack.at(0)));
        return;
      case 0x31: // BALANCE
      case 0x3b: // EXTCODESIZE
      case 0x3c: // EXTCODECOPY
      case 0x3f: // EXTCODEHASH
        this.touch(addressOfWord(stack.at(0)));
        return;
      case 0xf1: // CALL
      case 0xf2: // CALLCODE
      case 0xf4: // DELEGATECALL
      case 0xfa: // STATICCALL
        if (stack.length >= 5) {
          const { address } = this.touch(addressOfWord(stack.at(1)));
          this.touchTargetOf(this.transaction.state.account(address));
        }
        return;
    }
  }

  performed(): void {}

  resumed(): void {}

  left(): void {}

  private touch(address: Address): TouchedAccount {
    const key = toKey(address);
    let account = this.accounts.get(key);
    if (account === undefined) {
      account = { address, slots: new Map() };
      this.accounts.set(key, account);
    }
    return account;
  }
}

interface TouchedAccount {
  readonly address: Address;
  readonly slots: Map<string, Uint8Array>;
}

function prestateJson(
  { accounts }: TouchedState,
  view: View,
  { includeEmpty }: Pick<PrestateConfig, "includeEmpty">,
): string {
  const { state } = view;
  const before: Member[] = [];
  for (const { address, slots } of accounts.values()) {
    const account = state.accountBefore(address);
    if (isAbsentOrEmpty(account) && !includeEmpty) continue;
    const storage = [...slots.values()].map(
      (slot): Slot => [toHex(slot), toWordHex(state.storageBefore(address, slot))],
    );
    before.push([toHex(address), accountJson(account ?? EMPTY_ACCOUNT, storage, view)]);
  }
  return sortedObjectOf(before);
}

/** Shows a deleted account only under `pre`. From Cancun on most accounts that self-destruct are not deleted. */
function diffJson({ accounts, destroyed }: TouchedState, view: View): string {
  const { state } = view;
  const before: Member[] = [];
  const after: Member[] = [];
  for (const [key, { address, slots }] of accounts) {
    const old = state.accountBefore(address);
    const oldSlots = [...slots.values()].map(
      (slot) => [slot, toWordHex(state.storageBefore(address, slot))] as const,
    );
    const isNew = isAbsentOrEmpty(old);
    const show = (storage: readonly (readonly [Uint8Array, string])[]): void => {
      const members = storage.map(([slot, value]): Slot => [toHex(slot), value]);
      if (!isNew) before.push([toHex(address), accountJson(old ?? EMPTY_ACCOUNT, members, view)]);
    };
    if (destroyed.has(key) && state.account(address) === undefined) {
      show(oldSlots);
      continue;
    }
    const newSlots = oldSlots.map(([slot, value]) => ({
      slot,
      value,
      now: toWordHex(state.storage(address, slot)),
    }));
    const changed = newSlots.filter(({ value, now }) => value !== now);
    const gained = changed
      .filter(({ now }) => now !== ZERO_WORD)
      .map(({ slot, now }): Slot => [toHex(slot), now]);
    const difference = differenceJson(
      old ?? EMPTY_ACCOUNT,
      state.account(address) ?? EMPTY_ACCOUNT,
      gained,
      view,
    );
    if (difference === "{}" && changed.length === 0) continue;
    after.push([toHex(address), difference]);
    show(changed.filter(({ value }) => value !== ZERO_WORD).map(({ slot, value }) => [slot, value]));
  }
  return `{"post":${sortedObjectOf(after)},"pre":${sortedObjectOf(before)}}`;
}

function accountJson(account: Account, storage: readonly Slot[], view: View): string {
  const code = view.codeOf(account);
  return objectOf([
    `"balance":"${toQuantity(account.balance)}"`,
    code !== "0x" && `"code":"${code}"`,
    !hasNoCode(account) && `"codeHash":"${toHex(account.codeHash)}"`,
    account.nonce > 0n && `"nonce":${account.nonce}`,
    storageMember(storage),
  ]);
}

function differenceJson(old: Account, now: Account, storage: readonly Slot[], view: View): string {
  const code = view.codeOf(now);
  const hasOtherCode = !equalBytes(now.codeHash, old.codeHash);
  return objectOf([
    now.balance !== old.balance && `"balance":"${toQuantity(now.balance)}"`,
    code !== view.codeOf(old) && `"code":"${code}"`,
    hasOtherCode && `"codeHash":"${toHex(now.codeHash)}"`,
    now.nonce !== old.nonce && now.nonce > 0n && `"nonce":${now.nonce}`,
    storageMember(storage),
  ]);
}

/** The member for slots, omitted when there are none. */
function storageMember(slots: readonly Slot[]): string | false {
  if (slots.length === 0) return false;
  return `"storage":${sortedObjectOf(slots.map(([slot, value]) => [slot, `"${value}"`]))}`;
}

/** Whether an account is absent or empty, so that `pre` does not show it. */
function isAbsentOrEmpty(account: Account | undefined): boolean {
  return account === undefined || isEmpty(account);
}

type Slot = readonly [slot: string, value: string];

const ZERO_WORD = `0x${"0".repeat(64)}`;
