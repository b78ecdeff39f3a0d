import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { keccak256 } from "../../src/primitives/hash.ts";
import { SignedDigest } from "../../src/primitives/recoveryBatch.ts";
import { recoverAddress, SECP256K1_ORDER, sign } from "../../src/primitives/secp256k1.ts";
import { RecoveryPool } from "../../src/workers/recoveryPool.ts";
import { loggedLines } from "../builders/loggedLines.ts";
import { accountFromSeed } from "../builders/testAccounts.ts";
import { itIfThorough } from "../thorough.ts";

/** An item signed by the account of `seed`. */
function signedBy(seed: number): SignedDigest {
  const digest = keccak256(Uint8Array.of(seed >> 8, seed));
  return new SignedDigest(digest, sign(digest, accountFromSeed(seed).privateKey));
}

describe("the recovery pool", () => {
  const pool = new RecoveryPool({ threads: 2, waitingLimit: 100_000 });
  afterAll(() => pool.close());

  it("has no threads before it gets an item, and answers the first ones while its threads start", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "ibex-test-")), "go");
    const starting = new RecoveryPool({
      threads: 2,
      waitingLimit: 100,
      entry: new URL(
        "data:text/javascript,import { existsSync } from 'node:fs'; import { parentPort as port } from 'node:worker_threads';" +
          `setInterval(() => existsSync('${path}') %26%26 port.postMessage('ready'), 5)`,
      ),
    });
    expect(starting.load.threads).toBe(0);
    const seeds = Array.from({ length: 40 }, (_, index) => index + 1);
    const answers = await Promise.all(seeds.map((seed) => starting.recoverMany([signedBy(seed)])));
    expect(answers.flat()).toEqual(seeds.map((seed) => accountFromSeed(seed).address));
    await expect.poll(() => starting.load.threads).toBe(2);
    writeFileSync(path, "");
    await starting.close();
  });

  it("answers each request with the signers of its items, in their order", async () => {
    const counts = [1, 700, 3, 256, 1, 40, ...new Array<number>(1000).fill(1)];
    let seed = 1;
    const asked = counts.map((count) => Array.from({ length: count }, () => seed++));
    const answers = await Promise.all(asked.map((seeds) => pool.recoverMany(seeds.map(signedBy))));
    expect(answers).toEqual(asked.map((seeds) => seeds.map((one) => accountFromSeed(one).address)));
  });

  it("answers in the order of the requests, whichever thread finishes first or recovers them", async () => {
    const small = new RecoveryPool({ threads: 2, waitingLimit: 800 });
    // The last ones find the queue full and are recovered at once on this thread.
    const counts = [256, 1, 256, 1, 1, 200, 1, 500, 1];
    const answered: number[] = [];
    const asked = counts.map(async (count, index) => {
      await small.recoverMany(Array.from({ length: count }, (_, seed) => signedBy(seed + 1)));
      answered.push(index);
    });
    await Promise.all(asked);
    await small.close();
    expect(answered).toEqual(counts.map((_, index) => index));
  });

  itIfThorough("answers an urgent request before an earlier flood, and each of both in order", async () => {
    const single = new RecoveryPool({ threads: 1, waitingLimit: 100_000 });
    const answered: string[] = [];
    const ask = async (name: string, count: number, urgency?: "urgent"): Promise<void> => {
      const seeds = Array.from({ length: count }, (_, seed) => seed + 1);
      const addresses = await single.recoverMany(seeds.map(signedBy), urgency);
      expect(addresses).toEqual(seeds.map((seed) => accountFromSeed(seed).address));
      answered.push(name);
    };
    const flood = Array.from({ length: 20 }, (_, index) => ask(`${index}`, 200));
    await Promise.all([...flood, ask("block", 300, "urgent"), ask("next", 1, "urgent")]);
    await single.close();
    const floods = Array.from({ length: 20 }, (_, index) => `${index}`);
    expect(answered.filter((name) => !["block", "next"].includes(name))).toEqual(floods);
    expect(answered.filter((name) => ["block", "next"].includes(name))).toEqual(["block", "next"]);
    expect(answered.indexOf("block")).toBeLessThan(5);
  });

  it("gives the same results as recovery on this thread, for any scalars", async () => {
    const scalar = fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 256n + 2n }),
      fc.constantFrom(0n, 1n, SECP256K1_ORDER - 1n, SECP256K1_ORDER, 2n ** 256n - 1n, 2n ** 256n + 1n),
    );
    const item = fc.record({
      digest: fc.uint8Array({ minLength: 32, maxLength: 32 }),
      signature: fc.record({ r: scalar, s: scalar, yParity: fc.constantFrom(0 as const, 1 as const) }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 20 }), async (items) => {
        const expected = items.map(({ digest, signature }) => recoverAddress(digest, signature));
        const signed = items.map(({ digest, signature }) => new SignedDigest(digest, signature));
        expect(await pool.recoverMany(signed)).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });

  it("answers an empty request", async () => {
    expect(await pool.recoverMany([])).toEqual([]);
  });

  it("recovers on this thread when no worker can run, a batch at a time, and says so once", async () => {
    const { logger, lines } = loggedLines("ERROR");
    const broken = new RecoveryPool({
      threads: 2,
      waitingLimit: 100_000,
      entry: new URL("data:text/javascript,throw new Error('no file may be opened')"),
      logger,
    });
    const items = Array.from({ length: 300 }, (_, index) => signedBy((index % 3) + 1));
    const expected = items.map(({ digest, signature }) => recoverAddress(digest, signature));
    const [before, after] = [await broken.recoverMany(items), await broken.recoverMany(items, "urgent")];
    await expect.poll(() => JSON.stringify(lines)).toContain("no file may be opened");
    expect(lines).toMatchObject([{ message: expect.stringContaining("the main thread recovers senders") }]);
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    const later = broken.recoverMany(items);
    setImmediate(count);
    expect([before, after, await later]).toEqual([expected, expected, expected]);
    isDone = true;
    expect(turns).toBeGreaterThanOrEqual(2);
    await broken.close();
  });

  it("answers when every worker ends in the middle of its batches, and tells so ever more rarely", async () => {
    const { logger, lines } = loggedLines();
    const told = () => lines.flatMap(({ deaths }) => deaths ?? []);
    const dying = new RecoveryPool({
      threads: 1,
      waitingLimit: 100_000,
      entry: new URL(
        "data:text/javascript,import { parentPort as port } from 'node:worker_threads';" +
          "port.postMessage('ready'); port.on('message', () => { throw new Error('out of memory'); });",
      ),
      logger,
    });
    const item = signedBy(1);
    const expected = recoverAddress(item.digest, item.signature);
    // Items that come while it starts again do not reach it.
    while (told().length < 3) expect(await dying.recoverMany([item])).toEqual([expected]);
    expect(told()).toEqual([1, 2, 4]);
    expect(JSON.stringify(lines[0])).toContain("out of memory");
    await dying.close();
  });

  it("rejects waiting and later requests when it is closed", async () => {
    const other = new RecoveryPool({ threads: 1, waitingLimit: 100_000 });
    const waiting = other.recoverMany([signedBy(1)]);
    const refused = expect(waiting).rejects.toThrow("closed");
    await other.close();
    await refused;
    await expect(other.recoverMany([signedBy(2)])).rejects.toThrow("closed");
  });
});
