import { describe, expect, it } from "vitest";
import type { AccountIndexReader, FoundPlace } from "../../../src/accounts/indexReader.ts";
import { encodeIndex, type Place } from "../../../src/accounts/layout.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { concatBytes, toHex } from "../../../src/primitives/hex.ts";
import { explorerGetTransactionsOf } from "../../../src/rpc/methods/explorer/getTransactionsOf.ts";
import {
  explorerGetTokenTransfers,
  explorerGetTransfersOfToken,
} from "../../../src/rpc/methods/explorer/tokenTransfers.ts";
import {
  otsSearchTransactionsAfter,
  otsSearchTransactionsBefore,
} from "../../../src/rpc/methods/ots/search.ts";
import type { StoredBlock } from "../../../src/types/block.ts";
import type { Log } from "../../../src/types/log.ts";
import { aChainSpec } from "../../builders/anRpcBackend.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { chainOf } from "../../builders/recordedChain.ts";
import { account } from "../../builders/testAccounts.ts";
import { type Ask, requesterFor, requesterOf } from "../requester.ts";

const SENDER = toHex(account(0).address);
const word = (address: Uint8Array) => concatBytes(new Uint8Array(12), address) as Log["topics"][number];
const TRANSFER = keccak256(new TextEncoder().encode("Transfer(address,address,uint256)"));
const TRANSFERRED: Log = {
  address: account(9).address,
  topics: [TRANSFER, word(account(0).address), word(account(1).address)],
  data: new Uint8Array(32),
};

/** A chain of `count` blocks after the first, each with one transaction that left `log`. */
function blocks(count: number, log: Log = TRANSFERRED, data?: Uint8Array): readonly StoredBlock[] {
  return Array.from({ length: count + 1 }, (_, number) =>
    number === 0
      ? aStoredBlock()
      : aStoredBlock({
          number,
          transactions: [aTransaction({ nonce: BigInt(number), ...(data && { data }) })],
          logs: [[log]],
        }),
  );
}

/** The methods on a chain, and an index that has all its transactions. `read` is called for each entry of it, and `afterRead` at the end. */
function methodsOn(
  chain: ReturnType<typeof chainOf>,
  {
    read = () => undefined,
    afterRead = () => undefined,
  }: Partial<Record<"read" | "afterRead", () => void>> = {},
): Ask {
  const places: readonly FoundPlace[] = chain.blocks.flatMap(({ transactions }, block) =>
    transactions.map((_, position) => ({ block, position, value: encodeIndex(position) })),
  );
  const isBefore = (one: Place, other: Place): boolean =>
    one.block < other.block || (one.block === other.block && one.position < other.position);
  const accounts: Pick<AccountIndexReader, "read"> = {
    async read(_, use) {
      const result = await use({
        first: 1,
        last: chain.blocks.length - 1,
        async *placed(_kind, _address, { from, until, order, limit = Number.POSITIVE_INFINITY } = {}) {
          const covered = places.filter(
            (place) => !(from && isBefore(place, from)) && (until === undefined || isBefore(place, until)),
          );
          let count = 0;
          for (const place of order === "newest" ? covered.toReversed() : covered) {
            if (count++ >= limit) return;
            read();
            yield place;
          }
        },
        pairs: async () => ({ found: [], next: undefined }),
        counted: undefined,
        days: async () => [],
        async *tokens() {},
      });
      afterRead();
      return result;
    },
  };
  const ports = {
    chain,
    accounts: accounts as AccountIndexReader,
    spec: aChainSpec(chain, { chainId: 1337n, fork: "london" }),
  };
  const methods = [
    explorerGetTransactionsOf,
    explorerGetTokenTransfers,
    explorerGetTransfersOfToken,
    otsSearchTransactionsBefore,
    otsSearchTransactionsAfter,
  ];
  return requesterFor(methods, ports);
}

describe("a page of what the index tells", () => {
  it("leaves out blocks that a rewind removes while they are read", async () => {
    for (const method of [
      "explorer_getTransactionsOf",
      "explorer_getTokenTransfers",
      "explorer_getTransfersOfToken",
    ]) {
      const chain = chainOf(blocks(5));
      const ask = methodsOn(chain, { afterRead: () => chain.moveHead(3) });
      const page = (await ask(method, SENDER)) as { items: readonly { blockNumber: string }[] };
      expect(page.items.map(({ blockNumber }) => blockNumber)).toEqual(["0x3", "0x2", "0x1"]);
    }
    for (const method of ["ots_searchTransactionsBefore", "ots_searchTransactionsAfter"]) {
      const chain = chainOf(blocks(5));
      const ask = methodsOn(chain, { afterRead: () => chain.moveHead(3) });
      const page = (await ask(method, SENDER, 0, 25)) as { txs: readonly { blockNumber: string }[] };
      expect(page.txs.map(({ blockNumber }) => blockNumber)).toEqual(["0x3", "0x2", "0x1"]);
    }
  });

  it("of Otterscan divides no block, and reads no more of one than it shows", async () => {
    const filled = (number: number, count: number): StoredBlock =>
      aStoredBlock({
        number,
        transactions: Array.from({ length: count }, (_, nonce) => aTransaction({ nonce: BigInt(nonce) })),
      });
    let entries = 0;
    const chain = chainOf([aStoredBlock(), ...[2, 3, 1_500, 2, 1].map((count, at) => filled(at + 1, count))]);
    const ask = methodsOn(chain, { read: () => entries++ });
    interface SearchPage {
      readonly txs: readonly { readonly blockNumber: string }[];
      readonly firstPage: boolean;
      readonly lastPage: boolean;
    }
    const search = async (from: "Before" | "After", block: number, size: number) => {
      const page = (await ask(`ots_searchTransactions${from}`, SENDER, block, size)) as SearchPage;
      const blocks = page.txs.map(({ blockNumber }) => Number(blockNumber));
      return { ...page, txs: blocks.length > 10 ? blocks.length : blocks };
    };
    expect(await search("Before", 0, 2)).toEqual({
      txs: [5, 4, 4],
      receipts: expect.anything(),
      firstPage: true,
      lastPage: false,
    });
    expect(await search("Before", 4, 2)).toMatchObject({ txs: 1_000, firstPage: false, lastPage: false });
    expect(await search("Before", 3, 4)).toMatchObject({
      txs: [2, 2, 2, 1, 1],
      firstPage: false,
      lastPage: true,
    });
    expect(await search("Before", 3, 5)).toMatchObject({ txs: [2, 2, 2, 1, 1], lastPage: true });
    expect(await search("Before", 3, 6)).toMatchObject({ txs: [2, 2, 2, 1, 1], lastPage: true });
    expect(await search("Before", 0, 0)).toMatchObject({ txs: [], lastPage: false });
    expect(await search("Before", 1, 0)).toMatchObject({ txs: [], lastPage: true });
    expect(await search("After", 0, 3)).toMatchObject({
      txs: [2, 2, 2, 1, 1],
      firstPage: false,
      lastPage: true,
    });
    expect(await search("After", 3, 3)).toMatchObject({ txs: [5, 4, 4], firstPage: true, lastPage: false });
    entries = 0;
    await search("After", 2, 1);
    expect(entries).toBeLessThan(1_100);
  });

  it("of Otterscan has all its transactions, but only some megabytes of their inputs and logs", async () => {
    interface SearchPage {
      readonly txs: readonly { readonly input: string }[];
      readonly receipts: readonly { readonly logs: readonly object[] | null; readonly timestamp: number }[];
    }
    const log = { ...TRANSFERRED, data: new Uint8Array(500_000) };
    const ask = methodsOn(chainOf(blocks(25, log, new Uint8Array(100_000))));
    const page = (await ask("ots_searchTransactionsBefore", SENDER, 0, 25)) as SearchPage;
    expect(page.txs.map(({ input }) => input.length)).toEqual([
      ...Array(6).fill(200_002),
      ...Array(19).fill("0x00000000".length),
    ]);
    expect(page.receipts.map(({ logs }) => logs?.length)).toEqual([
      ...Array(6).fill(1),
      ...Array(19).fill(undefined),
    ]);
    expect(page.receipts.every(({ timestamp }) => typeof timestamp === "number")).toBe(true);
    expect(JSON.stringify(page).length).toBeLessThan(9_000_000);
  });

  it("is refused where the parameter is malformed, or the index is off", async () => {
    const chain = chainOf(blocks(2));
    const ask = methodsOn(chain);
    for (const page of [{ size: 0 }, { size: 101 }, { order: "first" }, { cursor: "0x12" }, "all"])
      expect(await ask("explorer_getTransactionsOf", SENDER, page)).toMatchObject({ code: -32602 });
    expect(await ask("ots_searchTransactionsBefore", SENDER, 0, 26)).toMatchObject({ code: -32000 });
    const spec = aChainSpec(chain, { chainId: 1337n, fork: "london" });
    const withoutIndex = requesterOf({ chain, spec });
    for (const [method, ...params] of [
      ["explorer_getIndexStatus"],
      ["explorer_getTransactionsOf", SENDER],
      ["explorer_getTokensOf", SENDER],
      ["explorer_getToken", SENDER],
      ["ots_searchTransactionsAfter", SENDER, 0, 25],
      ["ots_getContractCreator", SENDER],
    ] as const)
      expect(await withoutIndex(method, ...params)).toMatchObject({
        code: -32000,
        message: "The index by address is off. Start the node with --explorer-index-enabled.",
      });
  });
});
