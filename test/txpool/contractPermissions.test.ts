import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createNextBlockView } from "../../src/chain/nextBlockView.ts";
import { DEV_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { DEFAULT_TX_POOL_LIMITS } from "../../src/txpool/limits.ts";
import { openPool } from "../../src/txpool/openPool.ts";
import { PeerPool } from "../../src/txpool/peerPool.ts";
import type { SenderPermission } from "../../src/txpool/ports.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aChain } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { createHandClock } from "../builders/handClock.ts";
import { recoverSignersHere } from "../builders/recoverSignersHere.ts";
import { account } from "../builders/testAccounts.ts";

/** A pool whose contract says this of each sender; what was asked about, in order. */
async function aJudgedPool(permissionOf: (transaction: SentTransaction) => SenderPermission) {
  const clock = createHandClock(1_700_000_000_000);
  const { chain, spec, world } = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8"), clock });
  const asked: SentTransaction[] = [];
  const recoverSigners = recoverSignersHere;
  const opened = openPool(
    { limits: DEFAULT_TX_POOL_LIMITS, file: undefined },
    {
      chain,
      view: createNextBlockView(spec, chain, world.head, clock),
      recoverSigners,
      async askContract(transaction) {
        asked.push(transaction);
        return permissionOf(transaction);
      },
      clock,
      logger: silentLogger,
    },
  );
  const { pool, admission, askContract } = opened;
  return {
    pool,
    asked,
    peers: new PeerPool({ pool, chain, recoverSigners, askContract, logger: silentLogger }, () => true),
    async send(...transactions: readonly SentTransaction[]) {
      const outcomes = await Promise.all(transactions.map(({ raw }) => admission.submit(raw)));
      return outcomes.map((outcome) => outcome.ok || outcome.error.code);
    },
  };
}

const from = (who: number, changes: Parameters<typeof aTransaction>[0] = {}) =>
  aTransaction({ privateKey: account(who).privateKey, ...changes });
const nameOf = ({ sender }: SentTransaction): string => toHex(sender);

describe("the account contract of a pool", () => {
  const PERMISSIONS: Readonly<Record<string, SenderPermission>> = {
    [nameOf(from(1))]: "denied",
    [nameOf(from(2))]: "unknown",
  };
  const judged = () => aJudgedPool((transaction) => PERMISSIONS[nameOf(transaction)] ?? "permitted");

  it("decides about callers' transactions, each by its own sender", async () => {
    const { send, pool } = await judged();
    expect(await send(from(0), from(1), from(2), from(3))).toEqual([
      true,
      "senderNotAuthorized",
      "stateUnavailable",
      true,
    ]);
    expect([...pool.entries()].map(({ transaction }) => nameOf(transaction))).toEqual([
      nameOf(from(0)),
      nameOf(from(3)),
    ]);
  });

  it("decides about peers' transactions, and holds a denied one against nobody", async () => {
    const { peers, pool } = await judged();
    const counts = await peers.offer([from(0), from(1), from(2)], { isAhead: false });
    expect(counts).toEqual({ accepted: 1, rejected: 0 });
    expect(pool.statistics.pending).toBe(1);
  });

  it("is not asked about what an earlier check refuses, or the pool has", async () => {
    const { send, asked } = await judged();
    await send(from(0));
    asked.length = 0;
    const outcomes = await send(from(0), from(3, { gasLimit: 20_000n }), from(3, { chainId: 5n }));
    expect(outcomes).toEqual(["knownTransaction", "intrinsicGasAboveLimit", "wrongChainId"]);
    expect(asked).toEqual([]);
  });

  it("is not asked about what a peer's sender cannot do anyway", async () => {
    const { peers, pool, asked, send } = await judged();
    await send(from(3, { gasPrice: 3_000n }));
    asked.length = 0;
    const poor = from(0, { value: 10n ** 30n });
    const underpriced = from(3, { gasPrice: 2_000n });
    expect(await peers.offer([poor, underpriced], { isAhead: false })).toEqual({ accepted: 0, rejected: 1 });
    expect(asked).toEqual([]);
    expect(pool.statistics.pending).toBe(1);
  });

  it("must have been asked about what the pool takes", async () => {
    const { pool } = await judged();
    expect(pool.add(from(0), "remote", "notAsked")).toMatchObject({
      ok: false,
      error: { code: "stateUnavailable" },
    });
    expect(pool.statistics.pending).toBe(0);
  });

  it("comes before nonce and balance of a caller's transaction", async () => {
    const { send } = await judged();
    expect(await send(from(1, { value: 10n ** 30n }), from(0, { value: 10n ** 30n }))).toEqual([
      "senderNotAuthorized",
      "upfrontCostAboveBalance",
    ]);
  });
});
