import { toDigits } from "../../src/primitives/hex.ts";
import type { TransactionOrigin } from "../../src/txpool/entry.ts";
import { mayReplace } from "../../src/txpool/replacement.ts";
import { effectivePriorityFee, type SentTransaction } from "../../src/types/transaction.ts";

interface NaiveEntry {
  readonly transaction: SentTransaction;
  readonly isPrioritized: boolean;
  readonly sequence: number;
}

/**
 * Reference model of the pool, as simple as possible: one list, everything recomputed from it each time. Of admission
 * it covers only what depends on the pool's contents.
 */
export class NaivePool {
  readonly nonces = new Map<string, bigint>();
  readonly maxTransactions: number;
  readonly maxFutureBySender: number;
  entries: NaiveEntry[] = [];
  baseFeePerGas = 1000n;
  #arrived = 0;

  constructor(limits: { readonly maxTransactions: number; readonly maxFutureBySender: number }) {
    this.maxTransactions = limits.maxTransactions;
    this.maxFutureBySender = limits.maxFutureBySender;
  }

  add(transaction: SentTransaction, origin: TransactionOrigin): string {
    const { sender, nonce, hash } = transaction;
    if (this.entries.some((entry) => toDigits(entry.transaction.hash) === toDigits(hash)))
      return "knownTransaction";
    if (nonce < this.nonceOf(sender)) return "nonceTooLow";
    const before = [...this.entries];
    const existing = this.#of(sender).find((entry) => entry.transaction.nonce === nonce);
    if (existing !== undefined) {
      const config = { bumpPercent: 10, baseFeePerGas: this.baseFeePerGas };
      if (!mayReplace(existing.transaction, transaction, config)) return "replacementUnderpriced";
      this.entries.splice(this.entries.indexOf(existing), 1);
    } else if (nonce >= this.nextNonce(sender) + BigInt(this.maxFutureBySender)) return "nonceTooDistant";
    const entry = { transaction, isPrioritized: origin === "local", sequence: this.#arrived++ };
    this.entries.push(entry);
    while (this.entries.length > this.maxTransactions) this.#evict();
    if (!this.entries.includes(entry)) {
      this.entries = before;
      return "poolFull";
    }
    return "admitted";
  }

  drop(hash: Uint8Array): void {
    this.entries = this.entries.filter((entry) => toDigits(entry.transaction.hash) !== toDigits(hash));
  }

  mine(transactions: readonly SentTransaction[]): void {
    for (const { sender, nonce } of transactions) {
      if (nonce >= this.nonceOf(sender)) this.nonces.set(toDigits(sender), nonce + 1n);
    }
    this.entries = this.entries.filter(
      ({ transaction }) => transaction.nonce >= this.nonceOf(transaction.sender),
    );
  }

  rewind(transactions: readonly SentTransaction[], noncesBefore: ReadonlyMap<string, bigint>): void {
    for (const [sender, nonce] of noncesBefore) this.nonces.set(sender, nonce);
    for (const transaction of transactions) this.add(transaction, "local");
  }

  nonceOf(sender: Uint8Array): bigint {
    return this.nonces.get(toDigits(sender)) ?? 0n;
  }

  nextNonce(sender: Uint8Array): bigint {
    let next = this.nonceOf(sender);
    while (this.#of(sender).some(({ transaction }) => transaction.nonce === next)) next++;
    return next;
  }

  isPending({ transaction }: NaiveEntry): boolean {
    return transaction.nonce < this.nextNonce(transaction.sender);
  }

  /** The whole block in order, without limit. */
  select(): SentTransaction[] {
    const rest = this.entries.filter((entry) => this.isPending(entry));
    const taken: SentTransaction[] = [];
    for (;;) {
      const heads = rest.filter((entry) =>
        rest.every(
          (other) =>
            toDigits(other.transaction.sender) !== toDigits(entry.transaction.sender) ||
            other.transaction.nonce >= entry.transaction.nonce,
        ),
      );
      const [best] = heads.filter((entry) => this.#fee(entry) >= 0n).sort((a, b) => this.#compare(a, b));
      if (best === undefined) return taken;
      taken.push(best.transaction);
      rest.splice(rest.indexOf(best), 1);
    }
  }

  #of(sender: Uint8Array): NaiveEntry[] {
    return this.entries
      .filter(({ transaction }) => toDigits(transaction.sender) === toDigits(sender))
      .sort((a, b) => Number(a.transaction.nonce - b.transaction.nonce));
  }

  #fee({ transaction }: NaiveEntry): bigint {
    return effectivePriorityFee(transaction, this.baseFeePerGas);
  }

  /** Best first. */
  #compare(a: NaiveEntry, b: NaiveEntry): number {
    if (a.isPrioritized !== b.isPrioritized) return a.isPrioritized ? -1 : 1;
    return Number(this.#fee(b) - this.#fee(a)) || a.sequence - b.sequence;
  }

  #evict(): void {
    const score = (entry: NaiveEntry): bigint =>
      this.#of(entry.transaction.sender)
        .filter(({ transaction }) => transaction.nonce <= entry.transaction.nonce)
        .map((before) => this.#fee(before))
        .reduce((lowest, fee) => lowerOf(lowest, fee));
    const isLast = (entry: NaiveEntry): boolean => this.#of(entry.transaction.sender).at(-1) === entry;
    const [worst] = this.entries.filter(isLast).sort((a, b) => {
      if (this.isPending(a) !== this.isPending(b)) return this.isPending(a) ? 1 : -1;
      if (a.isPrioritized !== b.isPrioritized) return a.isPrioritized ? 1 : -1;
      return Number(score(a) - score(b)) || b.sequence - a.sequence;
    });
    if (worst !== undefined) this.entries.splice(this.entries.indexOf(worst), 1);
  }
}

function lowerOf(a: bigint, b: bigint): bigint {
  return [a, b].sort((x, y) => Number(x - y))[0] ?? a;
}
