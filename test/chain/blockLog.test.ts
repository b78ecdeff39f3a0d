import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { BlockLog } from "../../src/chain/blockLog.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { createCandidate } from "../../src/ibft/candidate.ts";
import { type LogFields, silentLogger } from "../../src/observability/logger.ts";
import { addressOfPrivateKey, sign } from "../../src/primitives/secp256k1.ts";
import { decodeExtraData, encodeExtraData } from "../../src/types/extraData.ts";
import { aChain } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { createHandClock } from "../builders/handClock.ts";
import { loggedLines } from "../builders/loggedLines.ts";
import { aRegistry, readSample } from "../observability/aRegistry.ts";

it("logs of each block who built it, its round, how full it is and how long it took", async () => {
  const clock = createHandClock(1_800_000_000_000);
  const validator = addressOfPrivateKey(DEV_VALIDATOR_KEY);
  const { chain } = await aChain({
    genesis: readFileSync(DEV_GENESIS_FILE, "utf8"),
    clock,
    builder: validator,
  });
  const lines: LogFields[] = [];
  const metrics = aRegistry();
  const log = new BlockLog({
    clock,
    self: validator,
    pending: () => 5,
    metrics,
    logger: {
      ...silentLogger,
      isEnabled: () => true,
      info: (fields, message) => void lines.push({ ...fields, message }),
      warn: (fields, message) => void lines.push({ ...fields, message }),
    },
  });
  log.follow(chain);

  async function extend(round: number): Promise<Uint8Array> {
    const parent = chain.head;
    const transactions = [aTransaction({ nonce: parent.header.number })];
    const supply = {
      select: () => ({ next: () => transactions.shift(), skipSender: () => undefined }),
      drop: () => undefined,
    };
    const built = await chain.build(
      { parent, round: 0, timestamp: 1_800_000_000n + parent.header.number },
      supply,
    );
    if (!built.ok) throw new Error(built.error.message);
    const { header, extra } = built.value;
    const candidate = createCandidate(header, { ...extra, round }, built.value.transactions);
    await chain.commit(candidate, [sign(candidate.digest, DEV_VALIDATOR_KEY)]);
    return candidate.hash;
  }

  log.started(1n);
  clock.advanceBy(120);
  log.started(1n);
  clock.advanceBy(30);
  const first = await extend(2);
  clock.advanceBy(1_000);
  const second = await extend(0);
  clock.advanceBy(1_250);
  log.started(3n);
  clock.advanceBy(40);
  const third = await extend(0);
  log.importStarted(4n);
  clock.advanceBy(70);
  const fourth = await extend(1);
  await chain.rewind(0n);
  const fields = { transactions: 1, pending: 5, gasUsed: 21_000n, gasPercent: 0, proposer: validator };
  expect(lines).toEqual([
    { number: 1n, hash: first, round: 2, tookMs: 150, ...fields, message: "Produced #1" },
    { number: 2n, hash: second, round: 0, ...fields, message: "Produced #2" },
    // Due at 2.0 s, begun late, at 2.4 s.
    { number: 3n, hash: third, round: 0, tookMs: 440, ...fields, message: "Produced #3" },
    // Imported from a peer: the time is that of the import, and the decision metric ignores it.
    { number: 4n, hash: fourth, round: 1, tookMs: 70, ...fields, message: "Produced #4" },
    { blocks: 4, head: 0n, message: "blocks removed" },
  ]);
  expect(await readSample(metrics, "bft_decision_seconds_sum")).toBeCloseTo(0.59);
});

it("tells a person who looks on of blocks in which something happened, and of one in ten", async () => {
  const clock = createHandClock(1_800_000_000_000);
  const { chain } = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8"), clock });
  const told: Record<"info" | "debug", string[]> = { info: [], debug: [] };
  const log = new BlockLog({
    clock,
    self: addressOfPrivateKey(DEV_VALIDATOR_KEY),
    pending: () => 0,
    isCalm: true,
    logger: {
      ...silentLogger,
      isEnabled: () => true,
      info: (_, message) => void told.info.push(message),
      debug: (_, message) => void told.debug.push(message),
    },
  });
  const { header, ...rest } = chain.head;
  const show = (number: bigint, change: { round?: number; transactions?: number } = {}): void => {
    const extra = decodeExtraData(header.extraData);
    if (!extra.ok) throw new Error(extra.error.message);
    const extraData = encodeExtraData({ ...extra.value, round: change.round ?? 0 });
    const transactions = Array.from({ length: change.transactions ?? 0 }, () => aTransaction());
    const head = {
      ...rest,
      header: { ...header, number, extraData },
      transactions,
      receipts: [],
      ommers: [],
      size: 0,
    };
    log.headChanged({ head, added: [head], removed: [] });
  };
  for (let number = 1n; number <= 20n; number++) show(number);
  show(21n, { transactions: 1 });
  show(22n, { round: 1 });
  log.started(23n);
  clock.advanceBy(600);
  show(23n);
  expect(told.info).toEqual(["#10", "#20", "#21", "#22", "#23"].map((number) => `Imported ${number}`));
  expect(told.debug).toHaveLength(18);
});

it("warns of a rewind, except where callers may rewind the chain at any time", async () => {
  const { chain } = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8") });
  const { head } = chain;
  const removed = [{ ...head, transactions: [], receipts: [], ommers: [], size: 0 }];
  for (const mayCallersRewind of [false, true]) {
    const { logger, lines } = loggedLines("DEBUG");
    const parts = { clock: createHandClock(0), self: addressOfPrivateKey(DEV_VALIDATOR_KEY) };
    const log = new BlockLog({ ...parts, pending: () => 0, mayCallersRewind, logger });
    log.headChanged({ head, added: [], removed });
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      [mayCallersRewind ? "DEBUG" : "WARN", "blocks removed"],
    ]);
  }
});
