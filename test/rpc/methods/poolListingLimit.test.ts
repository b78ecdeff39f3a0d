import { describe, expect, it } from "vitest";
import type { Address } from "../../../src/primitives/address.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { LISTING_BYTES, shortestWithin } from "../../../src/rpc/core/listingLimit.ts";
import { JsonStream } from "../../../src/rpc/method.ts";
import { txpoolContent, txpoolContentFrom, txpoolInspect } from "../../../src/rpc/methods/txpool/content.ts";
import { txpoolPendingTransactions } from "../../../src/rpc/methods/txpool/transactions.ts";
import { aCaller } from "../../builders/aCaller.ts";
import { aCore, poolOf } from "../../builders/anRpcBackend.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { requesterFor } from "../requester.ts";

const MIB = 1024 * 1024;
const [LARGE, SMALL] = [account(0), account(1)];

/** Fifteen transactions of 1.2 MiB, twelve of which have no gap before them, and five transfers. */
const TRANSACTIONS = [
  ...Array.from({ length: 15 }, (_, at) =>
    aTransaction({
      nonce: BigInt(at < 12 ? at : at + 1),
      privateKey: LARGE.privateKey,
      data: new Uint8Array(1.2 * MIB),
    }),
  ),
  ...Array.from({ length: 5 }, (_, at) => aTransaction({ nonce: BigInt(at), privateKey: SMALL.privateKey })),
];

const { pool } = aCore({
  pool: {
    ...poolOf(TRANSACTIONS),
    nextNonce: (sender: Address) => (toHex(sender) === toHex(LARGE.address) ? 12n : 5n),
  },
});
const METHODS = [txpoolContent, txpoolContentFrom, txpoolInspect, txpoolPendingTransactions];
const ask = requesterFor(METHODS, { pool });

type Content = Readonly<Record<"pending" | "queued", Record<string, Record<string, object>>>> & {
  readonly omitted?: object;
};

describe("a listing of a pool with more than 32 MB", () => {
  it("shows the shortest pending ones first, and says how many are left out", async () => {
    const content = (await ask("txpool_content")) as Content;
    expect(Object.keys(content.pending[toHex(SMALL.address)] ?? {})).toHaveLength(5);
    expect(Object.keys(content.pending[toHex(LARGE.address)] ?? {})).toHaveLength(12);
    expect(Object.keys(content.queued[toHex(LARGE.address)] ?? {})).toEqual(["13"]);
    expect(content.omitted).toEqual({ pending: "0x0", queued: "0x2" });
    expect(JSON.stringify(content).length).toBeLessThan(LISTING_BYTES);
  });

  it("of one sender has the same limit, and leaves nothing out where there is room", async () => {
    expect(await ask("txpool_contentFrom", toHex(LARGE.address))).toMatchObject({
      omitted: { pending: "0x0", queued: "0x2" },
    });
    expect(await ask("txpool_contentFrom", toHex(SMALL.address))).not.toHaveProperty("omitted");
  });

  it("is made as it is read, in small parts, and never held as a whole", async () => {
    for (const [method, params] of [
      [txpoolContent, []],
      [txpoolPendingTransactions, [2]],
    ] as const) {
      const answer = await method.run(params, {
        ...aCaller,
        backend: { pool },
        modules: new Set(),
        methods: [],
      });
      if (!(answer instanceof JsonStream)) throw new Error("the listing is there as a whole");
      const lengths = [...answer.pieces].map(({ length }) => length);
      expect(Math.max(...lengths)).toBeLessThan(MIB);
    }
  });

  it("that is a plain list is refused, and a shorter one answered", async () => {
    expect(await ask("txpool_besuPendingTransactions", 2)).toHaveLength(2);
    expect(await ask("txpool_besuPendingTransactions")).toMatchObject({ code: -32005 });
  });
});

it("the shortest within a limit are chosen by their powers of two, then as they come", () => {
  const sizes = [500, 3, 900, 2, 600, 10];
  const takes = shortestWithin(1_200, sizes);
  expect(sizes.filter(takes)).toEqual([500, 3, 2, 600, 10]);
});
