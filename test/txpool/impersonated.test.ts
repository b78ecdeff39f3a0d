import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../../src/observability/logger.ts";
import { AdmissionQueue } from "../../src/txpool/admissionQueue.ts";
import { PeerPool } from "../../src/txpool/peerPool.ts";
import { encodeDumpLine } from "../../src/txpool/poolDump.ts";
import { PoolFile } from "../../src/txpool/poolFile.ts";
import { impersonatedSignature } from "../../src/types/impersonatedSignature.ts";
import { recoverSender } from "../../src/types/transactionSignature.ts";
import { aPool } from "../builders/aPool.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { recoverSignersHere } from "../builders/recoverSignersHere.ts";
import { account, accountFromSeed } from "../builders/testAccounts.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";

const impersonated = ([0, 1, 2, 4] as const).map((type) =>
  aTransaction({ type, changeSignature: () => impersonatedSignature(account(0).address) }),
);

describe("a transaction of an impersonated sender", () => {
  it("has a signature that fits no key, for any sender and parity", () => {
    for (let seed = 0; seed < 64; seed++) {
      const signature = impersonatedSignature(accountFromSeed(seed).address);
      for (const yParity of [0, 1] as const)
        expect(
          recoverSender(aTransaction({ type: 2, changeSignature: () => ({ ...signature, yParity }) })),
        ).toBeUndefined();
    }
  });

  it("is not added for a caller who sends its bytes", async () => {
    const { pool } = aPool();
    const queue = new AdmissionQueue(pool, recoverSignersHere);
    for (const { raw } of impersonated)
      expect(await queue.submit(raw)).toMatchObject({ error: { code: "invalidSignature" } });
    expect(pool.statistics.pending).toBe(0);
  });

  it("is not added for a peer", async () => {
    const { pool } = aPool();
    const chain = { onHeadChanged: () => () => undefined };
    const parts = { pool, chain, recoverSigners: recoverSignersHere, logger: silentLogger };
    const peerPool = new PeerPool(parts, () => true);
    const { accepted, rejected } = await peerPool.offer(impersonated, { isAhead: false });
    expect({ accepted, isHeldAgainstIt: rejected > 0 }).toEqual({ accepted: 0, isHeldAgainstIt: true });
    expect(pool.statistics.pending).toBe(0);
  });

  it("is not restored from the pool's file", async () => {
    const { pool } = aPool();
    const path = join(temporaryFolder(), "pool.dump");
    const good = aTransaction({ privateKey: account(1).privateKey });
    const lines = [...impersonated, good].map((transaction) =>
      encodeDumpLine({ transaction, origin: "local" }),
    );
    writeFileSync(path, lines.map((line) => (line.endsWith("\n") ? line : `${line}\n`)).join(""));
    const restored = new Promise<void>((resolve) => pool.onAdded(() => resolve()));
    new PoolFile(path, {
      pool,
      recoverSigners: recoverSignersHere,
      clock: { nowMs: () => 0 },
      logger: silentLogger,
    }).restore();
    await restored;
    expect([...pool.entries()].map(({ transaction }) => transaction.hash)).toEqual([good.hash]);
  });
});
