import { describe, expect, it } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { toQuantity } from "../../../src/primitives/quantity.ts";
import { listWaiting } from "../../../src/rpc/core/poolListings.ts";
import { explorerGetPool } from "../../../src/rpc/methods/explorer/getPool.ts";
import type { PoolEntry } from "../../../src/txpool/entry.ts";
import { aCore } from "../../builders/anRpcBackend.ts";
import { aPool } from "../../builders/aPool.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { requesterFor } from "../requester.ts";

interface Page {
  readonly items: readonly { readonly hash: string; readonly reason: string }[];
  readonly next: string | null;
}

describe("explorer_getPool", () => {
  /** Seven transactions; the one that was replaced is gone, and its successor is the newest. */
  function aFullPool() {
    const { pool } = aPool();
    const first = Array.from({ length: 7 }, (_, who) =>
      aTransaction({ privateKey: account(who).privateKey, nonce: 0n, gasPrice: 2000n, data: DATA }),
    );
    for (const one of first) pool.add(one, "local");
    const successor = aTransaction({ privateKey: account(2).privateKey, nonce: 0n, gasPrice: 3000n });
    pool.add(successor, "remote");
    const hashes = [...first.filter((_, who) => who !== 2), successor].map(({ hash }) => toHex(hash));
    const ask = requesterFor([explorerGetPool], { pool: aCore({ pool }).pool });
    const list = (page: object) => ask("explorer_getPool", page) as Promise<Page>;
    return { hashes, list, successor };
  }

  it("pages through the pool in the order of arrival, from either end", async () => {
    const { hashes, list } = aFullPool();
    for (const order of ["oldest", "newest"]) {
      const seen: string[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await list({ size: 3, order, cursor });
        seen.push(...page.items.map(({ hash }) => hash));
        cursor = page.next;
      }
      expect(seen).toEqual(order === "oldest" ? hashes : hashes.toReversed());
    }
    expect((await list({ size: 7 })).next).toBeNull();
  });

  it("compares an entry of a large pool with few others, from either end", async () => {
    let reads = 0;
    const entries = Array.from({ length: 2_000 }, (_, index) => ({
      get sequence() {
        reads++;
        return index;
      },
    })) as unknown as PoolEntry[];
    const { pool } = aPool();
    const parts = {
      entries: () => entries,
      statistics: pool.statistics,
      whyWaiting: () => undefined,
      blockFloors: pool.blockFloors,
    };
    const newest = { gasLimit: 1n, gasUsed: 1n, timestamp: 0n };
    for (const order of ["oldest", "newest"] as const) {
      reads = 0;
      const { next } = await listWaiting(parts, newest, { order, after: undefined, limit: 100 });
      expect(next).toBe(order === "oldest" ? 99 : 1_900);
      expect(reads).toBeLessThan(5 * entries.length);
    }
  });

  it("tells the price and the reason of each, and nothing of its data but the selector", async () => {
    const { list, successor } = aFullPool();
    const [one] = (await list({ size: 1 })).items;
    expect(one).toEqual({
      hash: toHex(successor.hash),
      from: toHex(successor.sender),
      to: successor.to && toHex(successor.to),
      nonce: "0x0",
      value: toQuantity(successor.value),
      gas: toQuantity(successor.gasLimit),
      selector: "0x",
      isLocal: false,
      since: "0x6553f100",
      price: "0xbb8",
      maxPrice: "0xbb8",
      reason: "nextBlock",
      askedPrice: null,
      nextNonce: "0x1",
      cost: toQuantity(successor.gasLimit * 3000n + successor.value),
      balance: toQuantity(10n ** 21n),
    });
    expect(await list({ size: 2, order: "oldest" })).toMatchObject({
      items: [{ selector: "0xa9059cbb" }, {}],
      pending: "0x7",
      queued: "0x0",
      minGasPrice: "0x3e8",
    });
  });

  it("refuses pages without a bound and cursors of other lists", async () => {
    const { list } = aFullPool();
    expect(await list({ size: 101 })).toMatchObject({ code: -32602 });
    expect(await list({ cursor: "0x00" })).toMatchObject({ code: -32602 });
  });
});

const DATA = Uint8Array.of(0xa9, 0x05, 0x9c, 0xbb, ...new Uint8Array(64));
