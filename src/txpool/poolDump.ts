import { toKey } from "../primitives/byteKey.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { readRlpString } from "../primitives/rlp.ts";
import {
  decodeBodyTransaction,
  decodeTransaction,
  encodeBodyTransaction,
  type SentTransaction,
  type Transaction,
} from "../types/transaction.ts";
import type { TransactionOrigin } from "./entry.ts";

/*
 * Besu's file format of the pool (options.md#pool-file): a line per transaction, which is `l` for a local one or `r`
 * for a remote one, followed by base64 of the transaction's RLP as in a block body.
 */

export interface DumpedTransaction {
  readonly transaction: Transaction;
  readonly origin: TransactionOrigin;
}

export function encodeDumpLine({ transaction, origin }: DumpedTransaction): string {
  return LETTERS[origin] + Buffer.from(encodeBodyTransaction(transaction)).toString("base64");
}

/** Fails with the defect of the line. A typed transaction without its RLP string wrapper is accepted as well. */
export function decodeDumpLine(line: string): Result<DumpedTransaction, "damagedLine"> {
  const [, letter, text] = /^([lr])([A-Za-z0-9+/]+={0,2})\r?$/.exec(line) ?? [];
  if (letter === undefined || text === undefined) {
    return fail("local", "damagedLine", "it is not the letter l or r followed by base64");
  }
  const decoded = decodeRlp(Uint8Array.from(Buffer.from(text, "base64")));
  if (!decoded.ok) return fail("local", "damagedLine", decoded.error.message);
  return ok({ transaction: decoded.value, origin: letter === "l" ? "local" : "remote" });
}

/**
 * The order in which a pool accepts all of them: as given, but none before a lower nonce of its sender. So a sender's
 * run is unbroken at every step, however long it is.
 */
export function inOfferOrder<T extends { readonly transaction: SentTransaction }>(items: readonly T[]): T[] {
  const keys = items.map(({ transaction }) => toKey(transaction.sender));
  const bySender = new Map<string, T[]>();
  for (const [index, item] of items.entries()) {
    const key = keys[index] as string; // There is one key for each item.
    const others = bySender.get(key);
    if (others === undefined) bySender.set(key, [item]);
    else others.push(item);
  }
  for (const own of bySender.values()) own.sort((a, b) => compare(b.transaction.nonce, a.transaction.nonce));
  const ordered: T[] = [];
  for (const [index, { transaction }] of items.entries()) {
    const rest = bySender.get(keys[index] as string) ?? [];
    for (let lowest = rest.at(-1); lowest !== undefined; lowest = rest.at(-1)) {
      if (lowest.transaction.nonce > transaction.nonce) break;
      ordered.push(lowest);
      rest.pop();
    }
  }
  return ordered;
}

const LETTERS: Readonly<Record<TransactionOrigin, "l" | "r">> = { local: "l", remote: "r" };

function decodeRlp(bytes: Uint8Array): Result<Transaction> {
  const first = bytes[0] ?? 0;
  if (first < 0x80 || first >= 0xc0) return decodeTransaction(bytes);
  try {
    return decodeBodyTransaction(readRlpString(bytes));
  } catch (error) {
    return fail("local", "damagedLine", error instanceof Error ? error.message : "unreadable RLP");
  }
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
