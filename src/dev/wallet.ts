import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Hash } from "../primitives/hash.ts";
import { Mutex } from "../primitives/mutex.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import type { SubmissionErrorCode } from "../txpool/errors.ts";
import type { Submitted } from "../txpool/submission.ts";
import { impersonatedSignature } from "../types/impersonatedSignature.ts";
import {
  encodedV,
  encodeTransaction,
  signTransaction,
  type UnsignedTransaction,
} from "../types/unsignedTransaction.ts";
import type { SignedTransaction } from "./signedTransaction.ts";

/** An account, and its key of 32 bytes. */
export interface WalletAccount {
  readonly address: Address;
  readonly privateKey: Uint8Array;
}

/** A transaction whose nonce is the account's next one, unless it is given. */
export type WalletTransaction = Omit<UnsignedTransaction, "nonce"> & { readonly nonce: bigint | undefined };

export type WalletErrorCode = SubmissionErrorCode | "unknownAccount";

/** A transaction that is in the pool. */
export interface WalletSent {
  readonly hash: Hash;
  /** Whether a block comes for it without anybody asking for one. */
  readonly isMinedUnasked: boolean;
}

interface WalletParts {
  /** The first nonce of the account that neither the chain nor a pending transaction uses. */
  nextNonce(address: Address): bigint;
  /** Submits a transaction that has the sender's own signature. */
  submit(raw: Uint8Array, sender: Address): Promise<Submitted>;
  /** Submits a transaction that has the signature of types/impersonatedSignature.ts for this sender. */
  sendAs(raw: Uint8Array, sender: Address): Promise<Submitted>;
  isMinedUnasked(): boolean;
}

/** Transactions that wait for their nonce at a time, of all accounts. */
const MOST_WAITING = 1000;
/** Accounts that are impersonated at a time. */
const MOST_IMPERSONATED = 10_000;

/**
 * Sends transactions of the development network's accounts, whose keys are public, and of those that callers impersonate
 * (development-network.md#accounts). An account's transactions enter the pool one after another, so that those of callers who do not know
 * of one another get consecutive nonces, and one that is refused leaves no gap.
 */
export class Wallet {
  readonly #keys: ReadonlyMap<string, Uint8Array>;
  readonly #parts: WalletParts;
  readonly #impersonated = new Set<string>();
  #impersonatesAll = false;
  /** Turns of the accounts that have transactions under way. */
  readonly #turns = new Map<string, { readonly mutex: Mutex; waiting: number }>();
  #waiting = 0;

  constructor(accounts: readonly WalletAccount[], parts: WalletParts) {
    this.#keys = new Map(accounts.map(({ address, privateKey }) => [toKey(address), privateKey]));
    this.#parts = parts;
  }

  /** Lets transactions of the account be sent without its key; false when too many accounts are impersonated. */
  impersonate(address: Address): boolean {
    if (this.#impersonated.size >= MOST_IMPERSONATED) return false;
    this.#impersonated.add(toKey(address));
    return true;
  }

  /** False when the account was not impersonated. */
  stopImpersonating(address: Address): boolean {
    return this.#impersonated.delete(toKey(address));
  }

  /** Impersonates every account from now on, or only those that are named. */
  impersonateAll(isWanted: boolean): void {
    this.#impersonatesAll = isWanted;
  }

  /** Signs the transaction with the account's key, or impersonates it, and submits the transaction. */
  async send(from: Address, transaction: WalletTransaction): Promise<Result<WalletSent, WalletErrorCode>> {
    const account = toKey(from);
    if (!this.#mayUse(from)) return unknownAccount();
    if (this.#waiting >= MOST_WAITING)
      return fail("local", "tooManyWaiting", "too many transactions wait for their nonce");
    const turns = this.#turns.get(account) ?? { mutex: new Mutex(), waiting: 0 };
    this.#turns.set(account, turns);
    this.#waiting++;
    turns.waiting++;
    try {
      const submitted = await turns.mutex.runExclusive(() => this.#submit(from, transaction));
      return submitted.ok
        ? ok({ hash: submitted.value, isMinedUnasked: this.#parts.isMinedUnasked() })
        : submitted;
    } finally {
      this.#waiting--;
      turns.waiting--;
      if (turns.waiting === 0) this.#turns.delete(account);
    }
  }

  /** Signs the transaction as `send` does, without submitting it. */
  sign(from: Address, transaction: UnsignedTransaction): Result<SignedTransaction, "unknownAccount"> {
    return this.#mayUse(from) ? ok(signed(from, this.#keys.get(toKey(from)), transaction)) : unknownAccount();
  }

  #mayUse(from: Address): boolean {
    const account = toKey(from);
    return this.#keys.has(account) || this.#impersonatesAll || this.#impersonated.has(account);
  }

  #submit(from: Address, transaction: WalletTransaction): Promise<Submitted> {
    const unsigned = { ...transaction, nonce: transaction.nonce ?? this.#parts.nextNonce(from) };
    const { raw, impersonated } = signed(from, this.#keys.get(toKey(from)), unsigned);
    return impersonated === undefined ? this.#parts.submit(raw, from) : this.#parts.sendAs(raw, impersonated);
  }
}

function signed(
  from: Address,
  key: Uint8Array | undefined,
  transaction: UnsignedTransaction,
): SignedTransaction {
  if (key !== undefined) return { raw: signTransaction(transaction, key), impersonated: undefined };
  const { r, s, yParity } = impersonatedSignature(from);
  const raw = encodeTransaction(transaction, { v: encodedV(transaction, yParity), r, s });
  return { raw, impersonated: from };
}

function unknownAccount(): Result<never, "unknownAccount"> {
  return fail("caller", "unknownAccount", "the node has no key of the account");
}
