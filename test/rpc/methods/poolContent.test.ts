import { describe, expect, it } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import {
  txpoolContent,
  txpoolContentFrom,
  txpoolInspect,
  txpoolStatus,
} from "../../../src/rpc/methods/txpool/content.ts";
import { aCore, poolOf } from "../../builders/anRpcBackend.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { requesterFor } from "../requester.ts";

const RICH = toHex(account(0).address);
const OTHER = toHex(account(2).address);

/** One sender's nonces 0 and 1, which can be mined, and 3, which waits; and another sender's creation. */
const TRANSACTIONS = [
  aTransaction({ nonce: 3n }),
  aTransaction({ nonce: 1n, gasPrice: 7n }),
  aTransaction({ nonce: 0n }),
  aTransaction({ nonce: 0n, to: undefined, privateKey: account(2).privateKey }),
];

const { pool } = aCore({
  pool: {
    ...poolOf(TRANSACTIONS),
    nextNonce: (sender) => (toHex(sender) === RICH ? 2n : 1n),
    statistics: { pending: 3, queued: 1, local: 4, remote: 0, bytes: 0 },
  },
});
const ask = requesterFor([txpoolContent, txpoolContentFrom, txpoolInspect, txpoolStatus], { pool });

describe("the pool as other clients show it", () => {
  it("counts pending and queued transactions", async () => {
    expect(await ask("txpool_status")).toEqual({ pending: "0x3", queued: "0x1" });
  });

  it("lists transactions by pending or queued, sender and nonce", async () => {
    const content = (await ask("txpool_content")) as Record<string, Record<string, Record<string, object>>>;
    const shape = Object.entries(content).map(([list, senders]) => [
      list,
      Object.fromEntries(Object.entries(senders).map(([sender, byNonce]) => [sender, Object.keys(byNonce)])),
    ]);
    expect(Object.fromEntries(shape)).toEqual({
      pending: { [RICH]: ["0", "1"], [OTHER]: ["0"] },
      queued: { [RICH]: ["3"] },
    });
    expect(content["pending"]?.[RICH]?.["1"]).toMatchObject({
      blockHash: null,
      from: RICH,
      gasPrice: "0x7",
      nonce: "0x1",
      type: "0x0",
    });
    expect(content["pending"]?.[RICH]?.["1"]).not.toHaveProperty("raw");
  });

  it("lists the transactions of one sender", async () => {
    expect(await ask("txpool_contentFrom", OTHER)).toMatchObject({
      pending: { 0: { from: OTHER, to: null } },
      queued: {},
    });
    expect(await ask("txpool_contentFrom", `0x${"77".repeat(20)}`)).toEqual({ pending: {}, queued: {} });
  });

  it("summarizes each transaction in a line", async () => {
    expect(await ask("txpool_inspect")).toEqual({
      pending: {
        [RICH]: {
          0: `${toHex(account(1).address)}: 1 wei + 100000 gas × 1000000000 wei`,
          1: `${toHex(account(1).address)}: 1 wei + 100000 gas × 7 wei`,
        },
        [OTHER]: { 0: "contract creation: 1 wei + 100000 gas × 1000000000 wei" },
      },
      queued: { [RICH]: { 3: `${toHex(account(1).address)}: 1 wei + 100000 gas × 1000000000 wei` } },
    });
  });
});
