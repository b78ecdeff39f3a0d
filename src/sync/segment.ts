import { toKey } from "../primitives/byteKey.ts";
import { EMPTY_LIST_HASH, EMPTY_TRIE_ROOT, type Hash } from "../primitives/hash.ts";
import { equalBytes } from "../primitives/hex.ts";
import { EventLoopPacer } from "../primitives/pacer.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { inSteps } from "../primitives/steps.ts";
import type { Body } from "../types/block.ts";
import { hashOfHeader } from "../types/blockHash.ts";
import type { Header } from "../types/header.ts";
import { rootOfTransactionsInSteps } from "../types/listRoot.ts";

/** A header with its chain hash, as part of a run of headers. */
export interface Link {
  readonly header: Header;
  readonly hash: Hash;
}

/**
 * Why headers do not continue the local chain. `otherBranch`: they form a chain that leaves the local one before its
 * head, which cannot happen between honest validators; anything else is invalid.
 */
type SegmentErrorCode = "otherBranch" | "brokenChain";

/**
 * Links headers into a chain that begins with the child of `parent` (p2p.md#full-sync). Their contents are not
 * validated.
 */
export function linkHeaders(
  parent: { readonly header: Pick<Header, "number">; readonly hash: Hash },
  headers: readonly Header[],
): Result<readonly Link[], SegmentErrorCode> {
  const links: Link[] = [];
  let previous = { number: parent.header.number, hash: parent.hash };
  for (const header of headers) {
    if (header.number !== previous.number + 1n) {
      return fail(
        "peer",
        "brokenChain",
        `block ${header.number} where ${previous.number + 1n} was requested`,
      );
    }
    if (!equalBytes(header.parentHash, previous.hash)) {
      return links.length > 0
        ? fail("peer", "brokenChain", `block ${header.number} does not follow the one before it`)
        : fail("peer", "otherBranch", `its block ${header.number} has another parent than the local head`);
    }
    const hash = hashOfHeader(header);
    if (!hash.ok) return fail("peer", "brokenChain", hash.error.message);
    links.push({ header, hash: hash.value });
    previous = { number: header.number, hash: hash.value };
  }
  return ok(links);
}

/** The body of an empty block, which need not be requested; undefined for other blocks. */
export function emptyBodyOf({ transactionsRoot, ommersHash }: Header): Body | undefined {
  const isEmpty = equalBytes(transactionsRoot, EMPTY_TRIE_ROOT) && equalBytes(ommersHash, EMPTY_LIST_HASH);
  return isEmpty ? { transactions: [], ommers: [] } : undefined;
}

/**
 * Maps bodies by the keys of their transactions roots; they may come in any order, and some may be missing. Fails when one
 * belongs to none of the headers. Yields, since the roots of full blocks take tens of milliseconds.
 */
export async function matchBodies(
  wanted: readonly Link[],
  bodies: readonly Body[],
): Promise<Result<ReadonlyMap<string, Body>, "foreignBody">> {
  const roots = new Set(wanted.map(({ header }) => rootKey(header)));
  const matched = new Map<string, Body>();
  const pacer = new EventLoopPacer();
  for (const body of bodies) {
    const root = await inSteps(rootOfTransactionsInSteps(body.transactions), pacer);
    const key = toKey(root);
    if (!roots.has(key) || body.ommers.length > 0) {
      return fail(
        "peer",
        "foreignBody",
        `a body of ${body.transactions.length} transactions that belongs to no requested block`,
      );
    }
    matched.set(key, body);
  }
  return ok(matched);
}

export function rootKey({ transactionsRoot }: Header): string {
  return toKey(transactionsRoot);
}
