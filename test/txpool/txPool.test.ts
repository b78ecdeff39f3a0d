import { describe, expect, it } from "vitest";
import { toDigits } from "../../src/primitives/hex.ts";
import type { TxPool } from "../../src/txpool/txPool.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aPool } from "../builders/aPool.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { account } from "../builders/testAccounts.ts";

function from(who: number, nonce: number, gasPrice = 2000n): SentTransaction {
  return aTransaction({ privateKey: account(who).privateKey, nonce: BigInt(nonce), gasPrice });
}

function addAll(pool: TxPool, ...transactions: readonly SentTransaction[]): void {
  for (const transaction of transactions) expect(pool.add(transaction, "local").ok).toBe(true);
}

function hashes(pool: TxPool): string[] {
  return [...pool.entries()].map(({ transaction }) => toDigits(transaction.hash));
}

function hashesOf(...transactions: readonly SentTransaction[]): string[] {
  return transactions.map(({ hash }) => toDigits(hash));
}

describe("queries of the pool", () => {
  it("finds an entry by hash, with origin, time and order of arrival", () => {
    const { pool } = aPool();
    pool.add(from(0, 0), "local");
    pool.add(from(1, 0), "remote");
    expect(pool.get(from(0, 0).hash)).toMatchObject({
      transaction: from(0, 0),
      origin: "local",
      isPrioritized: true,
      addedAtMs: 1_700_000_000_000,
      sequence: 0,
    });
    expect(pool.get(from(1, 0).hash)).toMatchObject({ origin: "remote", isPrioritized: false, sequence: 1 });
    expect(pool.get(from(2, 0).hash)).toBeUndefined();
  });

  it("counts pending, queued, origins and bytes", () => {
    const { pool } = aPool();
    addAll(pool, from(0, 0), from(0, 2), from(1, 1));
    pool.add(from(2, 0), "remote");
    const bytes = [from(0, 0), from(0, 2), from(1, 1), from(2, 0)].reduce(
      (sum, { raw }) => sum + raw.length,
      0,
    );
    expect(pool.statistics).toEqual({ pending: 2, queued: 2, local: 3, remote: 1, bytes });
  });

  it("gives the next nonce as the end of the run that begins at the account's nonce", () => {
    const { pool, head } = aPool();
    head.set(account(0).address, { nonce: 4n });
    expect(pool.nextNonce(account(0).address)).toBe(4n);
    addAll(pool, from(0, 4), from(0, 5), from(0, 7));
    expect(pool.nextNonce(account(0).address)).toBe(6n);
    addAll(pool, from(0, 6));
    expect(pool.nextNonce(account(0).address)).toBe(8n);
    addAll(pool, from(1, 2), from(1, 3));
    expect(pool.nextNonce(account(1).address)).toBe(0n);
  });

  it("stops notifying an unsubscribed listener", () => {
    const { pool } = aPool();
    const events: string[] = [];
    const stop = pool.onAdded(() => events.push("added"));
    addAll(pool, from(0, 0));
    stop();
    addAll(pool, from(0, 1));
    expect(events).toEqual(["added"]);
  });
});

describe("drop", () => {
  it("removes the entry with its reason, and leaves later nonces queued", () => {
    const { pool, events } = aPool();
    addAll(pool, from(0, 0), from(0, 1), from(0, 2));
    pool.drop(from(0, 1).hash, "too poor");
    expect(events.at(-1)).toBe(`dropped ${toDigits(from(0, 1).hash)}: too poor`);
    expect(pool.statistics).toMatchObject({ pending: 1, queued: 1 });
    addAll(pool, from(0, 1, 2500n));
    expect(pool.statistics).toMatchObject({ pending: 3, queued: 0 });
  });

  it("does nothing for an unknown hash", () => {
    const { pool, events } = aPool();
    pool.drop(from(0, 0).hash, "never seen");
    expect(events).toEqual([]);
  });
});

describe("the account allowlist", () => {
  it("is checked again for each block: entries of removed senders are dropped for good", () => {
    const permitted = new Set([0, 1].map((who) => toDigits(account(who).address)));
    const { pool, events } = aPool({
      parts: { isSenderPermitted: (sender) => permitted.has(toDigits(sender)) },
    });
    addAll(pool, from(0, 0), from(0, 1), from(0, 4), from(1, 0));
    permitted.delete(toDigits(account(0).address));
    expect(pool.statistics).toMatchObject({ pending: 3, queued: 1 });
    const selection = pool.select(1000n);
    expect(selection.next()).toEqual(from(1, 0));
    expect(selection.next()).toBeUndefined();
    expect(hashes(pool)).toEqual(hashesOf(from(1, 0)));
    expect(events.slice(4)).toEqual(
      hashesOf(from(0, 4), from(0, 1), from(0, 0)).map(
        (hash) => `dropped ${hash}: its sender is not on the account allowlist`,
      ),
    );
  });
});

describe("expire", () => {
  it("drops entries older than the retention time, and reports them", () => {
    const { pool, events, wait } = aPool({ limits: { retentionMs: 3_600_000 } });
    addAll(pool, from(0, 0), from(1, 3));
    wait(3_000_000);
    addAll(pool, from(0, 1), from(2, 0));
    pool.expire();
    expect(pool.statistics).toMatchObject({ pending: 3, queued: 1 });
    wait(600_000);
    pool.expire();
    expect(hashes(pool)).toEqual(hashesOf(from(0, 1), from(2, 0)));
    expect(pool.statistics).toMatchObject({ pending: 1, queued: 1 });
    expect(events.slice(4)).toEqual(
      hashesOf(from(0, 0), from(1, 3)).map(
        (hash) => `dropped ${hash}: it waited longer than the retention time`,
      ),
    );
  });

  it("drops nothing without a retention time", () => {
    const { pool, wait } = aPool();
    addAll(pool, from(0, 0));
    wait(10 ** 12);
    pool.expire();
    expect(pool.statistics.pending).toBe(1);
  });
});

describe("a new block", () => {
  it("removes mined entries silently, and their senders' next ones stay pending", () => {
    const { pool, events, mine } = aPool();
    addAll(pool, from(0, 0), from(0, 1), from(0, 2), from(1, 0));
    mine(from(0, 0), from(0, 1));
    expect(hashes(pool)).toEqual(hashesOf(from(0, 2), from(1, 0)));
    expect(pool.statistics).toMatchObject({ pending: 2, queued: 0 });
    expect(events.filter((event) => event.startsWith("dropped"))).toEqual([]);
  });

  it("drops an entry superseded by another transaction of the same nonce", () => {
    const { pool, events, mine } = aPool();
    addAll(pool, from(0, 0), from(0, 1));
    mine(from(0, 0, 5000n));
    expect(hashes(pool)).toEqual(hashesOf(from(0, 1)));
    expect(events.at(-1)).toBe(
      `dropped ${toDigits(from(0, 0).hash)}: its nonce was used by another transaction`,
    );
  });

  it("closes a gap that transactions from elsewhere have filled", () => {
    const { pool, mine } = aPool();
    addAll(pool, from(0, 2), from(0, 3));
    mine(from(0, 0), from(0, 1));
    expect(pool.statistics).toMatchObject({ pending: 2, queued: 0 });
    expect(pool.select(1000n).next()).toEqual(from(0, 2));
  });

  it("reads balances again for incoming transactions, and keeps admitted ones until a builder drops them", () => {
    const { pool, head, mine } = aPool();
    addAll(pool, from(0, 0), from(0, 1));
    head.set(account(0).address, { balanceWei: 0n });
    mine(from(0, 0));
    expect(pool.statistics.pending).toBe(1);
    const refused = pool.add(from(0, 2), "local");
    expect(refused.ok || refused.error.code).toBe("upfrontCostAboveBalance");
  });

  it("follows a nonce that moved without a transaction of its sender (EIP-7702) once that matters", () => {
    const { pool, head, events } = aPool();
    addAll(pool, from(0, 0), from(0, 1));
    head.set(account(0).address, { nonce: 1n });
    pool.headChanged({ added: [], removed: [] });
    pool.drop(from(0, 0).hash, "nonce too low");
    expect(events.at(-1)).toContain("its nonce was used");
    expect(pool.statistics).toMatchObject({ pending: 1, queued: 0 });
    expect(pool.nextNonce(account(0).address)).toBe(2n);
  });
});

describe("a rewind", () => {
  it("restores the removed blocks' transactions, oldest first, in front of those queued behind them", () => {
    const { pool, head, mine, events } = aPool();
    const [zero, one, two, three] = [from(0, 0), from(0, 1), from(0, 2), from(0, 3)];
    addAll(pool, zero, one, two, three);
    mine(zero, one);
    mine(two);
    head.set(account(0).address, { nonce: 0n });
    events.length = 0;
    pool.headChanged({ added: [], removed: [{ transactions: [two] }, { transactions: [zero, one] }] });
    expect(pool.statistics).toMatchObject({ pending: 4, queued: 0 });
    expect(events).toEqual(hashesOf(zero, one, two).map((hash) => `added ${hash}`));
  });

  it("does not restore what the new branch contains as well", () => {
    const { pool, head } = aPool();
    head.set(account(0).address, { nonce: 1n });
    pool.headChanged({ added: [{ transactions: [from(0, 0)] }], removed: [{ transactions: [from(0, 0)] }] });
    expect(hashes(pool)).toEqual([]);
  });

  it("keeps later nonces queued when removed transactions cannot be restored", () => {
    const { pool, head, mine } = aPool();
    addAll(pool, from(0, 0), from(0, 1));
    mine(from(0, 0));
    head.set(account(0).address, { nonce: 0n, balanceWei: 1n });
    pool.headChanged({ added: [], removed: [{ transactions: [from(0, 0)] }] });
    expect(pool.statistics).toMatchObject({ pending: 0, queued: 1 });
  });

  it("follows the nonces of senders whose transactions no longer fit the rules", () => {
    const { pool, head, mine } = aPool();
    addAll(pool, from(0, 0), from(0, 1));
    mine(from(0, 0));
    head.set(account(0).address, { nonce: 0n });
    head.headGasLimit = 21_000n;
    pool.headChanged({ added: [], removed: [{ transactions: [from(0, 0)] }] });
    expect(pool.statistics).toMatchObject({ pending: 0, queued: 1 });
  });

  it("applies no price limits to restored transactions", () => {
    const { pool } = aPool();
    const free = from(0, 0, 0n);
    pool.headChanged({ added: [], removed: [{ transactions: [free] }] });
    expect(hashes(pool)).toEqual(hashesOf(free));
  });
});
