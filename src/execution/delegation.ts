import { type Address, asAddress } from "../primitives/address.ts";
import { keccak256 } from "../primitives/hash.ts";
import { concatBytes, EMPTY_BYTES } from "../primitives/hex.ts";
import { bigintToBytes } from "../primitives/quantity.ts";
import { encodeRlp } from "../primitives/rlp.ts";
import { recoverAddress, SECP256K1_ORDER } from "../primitives/secp256k1.ts";
import type { Overlay } from "../state/overlay.ts";
import { EMPTY_ACCOUNT } from "../types/account.ts";
import type { Authorization } from "../types/transaction.ts";
import type { AccessJournal } from "./accessJournal.ts";
import { codeOf } from "./accountCode.ts";
import { AUTHORIZATION_GAS } from "./intrinsicGas.ts";
import { EffectsBeyondLimit, type YieldPolicy } from "./yieldPolicy.ts";

/** True for code that only delegates to the code of another account (EIP-7702). */
export function isDelegation(code: Uint8Array): boolean {
  return (
    code.length === DELEGATION_BYTES &&
    code[0] === PREFIX[0] &&
    code[1] === PREFIX[1] &&
    code[2] === PREFIX[2]
  );
}

/** Length of code that delegates. */
export const DELEGATION_BYTES = 23;

/** The account that `code` delegates to; undefined for any other code. */
export function delegationTarget(code: Uint8Array): Address | undefined {
  return isDelegation(code) ? asAddress(code.slice(PREFIX.length)) : undefined;
}

/** Recovers the signer of an authorization, whether or not it applies here; undefined if the signature is invalid. */
export function authorityOf({ chainId, address, nonce, yParity, r, s }: Authorization): Address | undefined {
  if (yParity > 1n || s > SECP256K1_ORDER / 2n) return undefined;
  const items = encodeRlp([bigintToBytes(chainId), address, bigintToBytes(nonce)]);
  return recoverAddress(keccak256(concatBytes(MAGIC, items)), { r, s, yParity: yParity === 1n ? 1 : 0 });
}

/** The session in which authorizations take effect. */
interface DelegationContext {
  readonly config: { readonly chainId: bigint };
  readonly overlay: Overlay;
  readonly accesses: AccessJournal;
  readonly yieldPolicy: YieldPolicy;
}

/** What authorizations did before the message of their transaction. */
export interface AppliedAuthorizations {
  /** Gas to refund: an authorization is charged as for a new account, and some existed before. */
  readonly refund: bigint;
  /** Number of accounts that they changed. */
  readonly changes: number;
}

export const NO_AUTHORIZATIONS: AppliedAuthorizations = { refund: 0n, changes: 0 };

/**
 * Sets the code of each account that authorized it. Skips authorizations that do not apply (EIP-7702). Recovering a signer
 * takes 50 µs and a transaction may hold more than a thousand authorizations, so it yields in between, or throws OutOfTime.
 */
export async function applyAuthorizations(
  { config: { chainId }, overlay, accesses, yieldPolicy }: DelegationContext,
  authorizations: readonly Authorization[],
): Promise<AppliedAuthorizations> {
  const changesBefore = overlay.changeCount;
  let refund = 0n;
  let changes = 0;
  for (const authorization of authorizations) {
    if (yieldPolicy.isDue()) await yieldPolicy.yield();
    const authority = fits(authorization, chainId) ? authorityOf(authorization) : undefined;
    if (authority === undefined) continue;
    accesses.warm(authority);
    const account = overlay.account(authority);
    const code = codeOf(overlay, authority);
    if (code.length > 0 && !isDelegation(code)) continue;
    if ((account?.nonce ?? 0n) !== authorization.nonce) continue;
    if (account !== undefined) refund += AUTHORIZATION_GAS - EXISTING_ACCOUNT_GAS;
    delegate(overlay, authority, authorization.address);
    accesses.touch(authority);
    changes = Math.max(0, overlay.changeCount - changesBefore);
    if (yieldPolicy.effects !== undefined && changes > yieldPolicy.effects.limit.changes)
      throw new EffectsBeyondLimit({ bytes: 0, changes });
  }
  return { refund, changes };
}

const PREFIX = Uint8Array.of(0xef, 0x01, 0x00);
/** PER_AUTH_BASE_COST of EIP-7702. */
const EXISTING_ACCOUNT_GAS = 12_500n;
const MAGIC = Uint8Array.of(0x05);
const HIGHEST_NONCE = 2n ** 64n - 1n;

/** True if the authorization is for this chain, or for any, and its nonce is not the highest. */
function fits(authorization: Authorization, chainId: bigint): boolean {
  const isForChain = authorization.chainId === 0n || authorization.chainId === chainId;
  return isForChain && authorization.nonce !== HIGHEST_NONCE;
}

/** Delegating to the zero address removes the delegation. */
function delegate(overlay: Overlay, authority: Address, target: Address): void {
  const isReset = target.every((byte) => byte === 0);
  overlay.putCode(authority, isReset ? EMPTY_BYTES : concatBytes(PREFIX, target));
  const account = overlay.account(authority) ?? EMPTY_ACCOUNT;
  overlay.putAccount(authority, { ...account, nonce: account.nonce + 1n });
}
