import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { LogFields, Logger } from "../../src/observability/logger.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { toDigits } from "../../src/primitives/hex.ts";
import { PoolFile } from "../../src/txpool/poolFile.ts";
import type { AskContract } from "../../src/txpool/ports.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aPool, type PoolInHand } from "../builders/aPool.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { recoverSignersHere } from "../builders/recoverSignersHere.ts";
import { account } from "../builders/testAccounts.ts";

const folder = mkdtempSync(join(tmpdir(), "ibex-pool-file-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const newPath = (): string => join(folder, `pool-${files++}.dump`);

function from(who: number, nonce: number, gasPrice = 2000n): SentTransaction {
  return aTransaction({ privateKey: account(who).privateKey, nonce: BigInt(nonce), gasPrice });
}

interface PoolWithFile extends PoolInHand {
  readonly file: PoolFile;
  readonly log: readonly string[];
  /** Resolves when a line that contains `text` is logged. */
  logged(text: string): Promise<void>;
}

function aPoolWithFile(
  path: string,
  inHand = aPool(),
  recoverSigners = recoverSignersHere,
  askContract?: AskContract,
): PoolWithFile {
  const log: string[] = [];
  const waiting: { text: string; resolve: () => void }[] = [];
  const write = (level: string) => (_: LogFields, message: string) => {
    log.push(`${level} ${message}`);
    for (const { text, resolve } of waiting) if (message.includes(text)) resolve();
  };
  const logger: Logger = {
    ...silentLogger,
    info: write("INFO"),
    warn: write("WARN"),
    error: write("ERROR"),
  };
  const file = new PoolFile(path, {
    pool: inHand.pool,
    recoverSigners,
    askContract,
    clock: { nowMs: () => 0 },
    logger,
  });
  return {
    ...inHand,
    file,
    log,
    logged: (text) =>
      log.some((line) => line.includes(text))
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ text, resolve })),
  };
}

function contents({ pool }: PoolInHand): string[] {
  return [...pool.entries()].map(({ transaction, origin }) => `${origin} ${toDigits(transaction.hash)}`);
}

function named(origin: string, ...transactions: readonly SentTransaction[]): string[] {
  return transactions.map(({ hash }) => `${origin} ${toDigits(hash)}`);
}

/** A saved file with the transactions that `fill` adds. */
async function saved(path: string, fill: (inHand: PoolInHand) => void): Promise<PoolWithFile> {
  const first = aPoolWithFile(path);
  first.file.restore();
  fill(first);
  await first.file.save();
  return first;
}

describe("the pool over a restart", () => {
  it("is restored with its order and origins, and the file is deleted until the next stop", async () => {
    const path = newPath();
    const first = await saved(path, ({ pool }) => {
      pool.add(from(0, 0), "local");
      pool.add(from(1, 0), "remote");
      pool.add(from(0, 1), "remote");
      pool.add(from(2, 7), "local");
    });
    expect(first.log).toEqual([`INFO Saved 4 transactions to file ${path}`]);
    expect(readFileSync(path, "latin1")).toMatch(/^(l\S+\nr\S+\nr\S+\nl\S+\n)$/);
    const second = aPoolWithFile(path);
    second.file.restore();
    await second.logged("Added 4 transactions of 4");
    expect(second.log).toEqual([
      `INFO Loading transaction pool content from file ${path}`,
      `INFO Added 4 transactions of 4 loaded from file ${path}`,
    ]);
    expect(contents(second)).toEqual(contents(first));
    await second.file.save();
    expect(second.log.at(-1)).toBe(`INFO Saved 4 transactions to file ${path}`);
  });

  it("restores a run that is longer than a sender may be ahead, although its first one was saved last", async () => {
    const path = newPath();
    await saved(path, ({ pool }) => {
      for (let nonce = 0; nonce < 450; nonce++) pool.add(from(0, nonce), "local");
      pool.add(from(0, 0, 9000n), "local");
    });
    const second = aPoolWithFile(path);
    second.file.restore();
    await second.logged("Added 450 transactions of 450");
    expect(second.pool.statistics).toMatchObject({ pending: 450, queued: 0 });
  });

  it("asks an account contract about many transactions at a time, each as what it was", async () => {
    const path = newPath();
    await saved(path, ({ pool }) => {
      for (let nonce = 0; nonce < 50; nonce++) pool.add(from(0, nonce), "local");
      pool.add(from(1, 0), "remote");
    });
    const waiting: (() => void)[] = [];
    const second = aPoolWithFile(path, aPool(), recoverSignersHere, async ({ nonce }, origin) => {
      // Nobody gets an answer before all are asked.
      if (waiting.length < 50) await new Promise<void>((resolve) => waiting.push(resolve));
      else for (const resolve of waiting) resolve();
      return origin === "remote" || nonce === 49n ? "denied" : "permitted";
    });
    second.file.restore();
    await second.logged("Added 49 transactions of 51");
  });

  it("validates restored transactions: mined ones, or ones that cost too much now, are refused", async () => {
    const path = newPath();
    await saved(path, ({ pool }) => {
      for (const who of [0, 1, 2]) pool.add(from(who, 0), "local");
    });
    const inHand = aPool();
    inHand.head.set(account(0).address, { nonce: 1n });
    inHand.head.set(account(1).address, { balanceWei: 0n });
    const second = aPoolWithFile(path, inHand);
    second.file.restore();
    await second.logged("Added 1 transactions of 3");
    expect(contents(second)).toEqual(named("local", from(2, 0)));
  });

  it("writes an empty pool as an empty file", async () => {
    const path = newPath();
    const first = await saved(path, () => undefined);
    expect(first.log).toEqual([`INFO Saved 0 transactions to file ${path}`]);
    expect(readFileSync(path, "latin1")).toBe("");
  });
});

describe("a damaged file", () => {
  it("has its damaged lines named and skipped", async () => {
    const path = newPath();
    await saved(path, ({ pool }) => {
      for (const who of [0, 1, 2]) pool.add(from(who, 0), "local");
    });
    const [one, two, three] = readFileSync(path, "latin1").split("\n");
    writeFileSync(path, `${one}\n${two?.slice(0, 50)}\n\n${three}\nnonsense`);
    const second = aPoolWithFile(path);
    second.file.restore();
    await second.logged("Added 2 transactions of 2");
    expect(second.log.filter((line) => line.startsWith("WARN"))).toEqual([
      expect.stringContaining("a saved transaction is skipped: line 2: "),
      expect.stringContaining("a saved transaction is skipped: line 3: it is not the letter l or r"),
      expect.stringContaining("a saved transaction is skipped: line 5: it is not the letter l or r"),
    ]);
    expect(contents(second)).toEqual(named("local", from(0, 0), from(2, 0)));
  });

  it("names only a few of many damaged lines", async () => {
    const path = newPath();
    writeFileSync(path, "nonsense\n".repeat(2000));
    const only = aPoolWithFile(path);
    only.file.restore();
    await only.logged("Added 0 transactions of 0");
    expect(only.log.filter((line) => line.startsWith("WARN"))).toHaveLength(5);
  });

  it("is logged when it cannot be read, and the node keeps running", async () => {
    const path = newPath();
    mkdirSync(path);
    const only = aPoolWithFile(path);
    only.file.restore();
    await only.logged("could not be restored");
    await only.file.save();
    expect(only.log.at(-1)).toBe(`ERROR the transaction pool could not be saved to ${path}`);
  });

  it("is logged when it cannot be written, and nothing else fails", async () => {
    const path = join(folder, "absent", "pool.dump");
    const only = aPoolWithFile(path);
    only.file.restore();
    only.pool.add(from(0, 0), "local");
    await only.file.save();
    expect(only.log).toEqual([`ERROR the transaction pool could not be saved to ${path}`]);
  });
});

describe("a stop", () => {
  it("does not change the file when restore() was not called", async () => {
    const path = newPath();
    await saved(path, ({ pool }) => void pool.add(from(0, 0), "local"));
    const before = readFileSync(path);
    await aPoolWithFile(path).file.save();
    expect(readFileSync(path)).toEqual(before);
  });

  it("during a restore keeps restored, unprocessed and new transactions", async () => {
    const path = newPath();
    await saved(path, ({ pool }) => {
      for (let nonce = 0; nonce < 1200; nonce++) pool.add(from(0, nonce), "local");
    });
    const old = readFileSync(path, "latin1").split("\n").slice(0, -1);
    let batches = 0;
    let secondBatch: () => void = () => undefined;
    const second = aPoolWithFile(path, aPool(), async (items) => {
      if (++batches === 2) await new Promise<void>((resolve) => (secondBatch = resolve));
      return recoverSignersHere(items);
    });
    second.file.restore();
    await second.logged("Loading");
    while (batches < 2) await new Promise((resolve) => setImmediate(resolve));
    second.pool.add(from(1, 0), "local");
    const saving = second.file.save();
    secondBatch();
    await saving;
    const kept = readFileSync(path, "latin1").split("\n").slice(0, -1);
    expect(kept).toHaveLength(1201);
    expect(new Set(old.filter((line) => !kept.includes(line)))).toEqual(new Set());
  });

  it("leaves no temporary file behind", async () => {
    const path = newPath();
    await saved(path, ({ pool }) => void pool.add(from(0, 0), "local"));
    expect(existsSync(path)).toBe(true);
    expect(readdirSync(folder).filter((name) => name.endsWith(".new"))).toEqual([]);
  });
});
