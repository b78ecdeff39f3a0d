import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Chain } from "../../src/chain/createChain.ts";
import { DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { candidateOfBlock } from "../../src/ibft/candidate.ts";
import { type Address, asAddress } from "../../src/primitives/address.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { toKey } from "../../src/primitives/byteKey.ts";
import { clockOf } from "../../src/primitives/clock.ts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { addressOfPrivateKey, sign } from "../../src/primitives/secp256k1.ts";
import type { Database } from "../../src/storage/database.ts";
import { openLevelDatabase } from "../../src/storage/leveldb/levelDatabase.ts";
import { decodeBlock, encodeBlock } from "../../src/types/block.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aChain } from "../../test/builders/aChain.ts";
import { aTransaction } from "../../test/builders/aTransaction.ts";
import { account } from "../../test/builders/testAccounts.ts";
import { root } from "./contenders.ts";
import { code, OP, push } from "./worst/assembly.ts";

/** The first blocks of a kind run uncompiled code. */
const WARM_UP = 3;
const ROUNDS = 8;
const START_SECONDS = 1_700_000_000;
/** Later than any block's timestamp here. */
const CLOCK = clockOf(() => START_SECONDS * 2000 + performance.now());

/**
 * Measures how long the main thread is blocked while full blocks are built by one chain, validated by another that has
 * only their bytes, and committed by both, on disk. Senders are known, because worker threads recover them. Prints the
 * longest blocking of the median block and of the worst, and the total times.
 */
export async function measureBlockHolds(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "ibex-block-holds-"));
  const builder = await openNode(join(folder, "builder"));
  const checker = await openNode(join(folder, "checker"));
  try {
    for (const [name, bodyAt] of KINDS) await measureKind(name, bodyAt, builder, checker);
  } finally {
    await builder.database.close();
    await checker.database.close();
    rmSync(folder, { recursive: true });
  }
}

interface Node {
  readonly chain: Chain;
  readonly database: Database;
}

/** Senders of all generated transactions. */
const senders = new Map<string, Address>();

async function openNode(path: string): Promise<Node> {
  const database = await openLevelDatabase({ path });
  const { chain } = await aChain({
    genesis: readFileSync(join(root, "genesis", "dev.json"), "utf8"),
    database,
    clock: CLOCK,
    builder: addressOfPrivateKey(DEV_VALIDATOR_KEY),
    production: { selectionTimePercent: 1_000_000 },
    async recoverSenders(transactions) {
      await new Promise((resolve) => setImmediate(resolve));
      return transactions.map(({ hash }) => senders.get(toKey(hash)));
    },
  });
  return { chain, database };
}

type BodyAt = (round: number) => readonly SentTransaction[];

async function measureKind(name: string, bodyAt: BodyAt, builder: Node, checker: Node): Promise<void> {
  const steps = new Map<string, { longestMs: number; wholeMs: number }[]>();
  let logs = 0;
  let bytes = 0;
  let count = 0;
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    const body = bodyAt(round);
    for (const { hash, sender } of body) senders.set(toKey(hash), sender);
    const measured = async <T>(step: string, work: () => Promise<T>): Promise<T> => {
      const { result, ...times } = await watched(work);
      if (round >= WARM_UP) steps.set(step, [...(steps.get(step) ?? []), times]);
      return result;
    };
    const candidate = await measured("build", () => build(builder, body));
    const seals = [sign(candidate.digest, DEV_VALIDATOR_KEY)];
    const decoded = decodeBlock(encodeBlock({ ...candidate, ommers: [] }));
    const theirs = candidateOfBlock(expectOk(decoded));
    expectOk(await measured("check", () => checker.chain.check(expectOk(theirs))));
    expectOk(await measured("commit", () => checker.chain.commit(expectOk(theirs), seals)));
    expectOk(await builder.chain.commit(candidate, seals));
    const block = expectDefined(
      builder.chain.blockByNumber(builder.chain.head.header.number),
      "the new head",
    );
    logs = block.receipts.reduce((sum, receipt) => sum + receipt.logs.length, 0);
    bytes = block.size;
    count = body.length;
    senders.clear();
  }
  console.log(
    `\nblock of ${name}: ${count} transactions, ${logs} logs, ${(bytes / 1024 / 1024).toFixed(2)} MiB`,
  );
  for (const [step, times] of steps) {
    const longest = times.map(({ longestMs }) => longestMs).sort((a, b) => a - b);
    const whole = times.map(({ wholeMs }) => wholeMs).sort((a, b) => a - b);
    const figure = (values: readonly number[], at: number): string =>
      (values[at] ?? 0).toFixed(1).padStart(7);
    const median = Math.floor(ROUNDS / 2);
    console.log(
      `  ${step.padEnd(8)} held at most ${figure(longest, median)} ms (worst ${figure(longest, ROUNDS - 1)})` +
        `  of ${figure(whole, median)} ms (best ${figure(whole, 0)})`,
    );
  }
}

async function build({ chain }: Node, body: readonly SentTransaction[]) {
  const timestamp = BigInt(START_SECONDS) + chain.head.header.number + 1n;
  const waiting = [...body].reverse();
  const built = await chain.build(
    { parent: chain.head, round: 0, timestamp },
    {
      select: () => ({ next: () => waiting.pop(), skipSender: () => undefined }),
      drop: (_, reason) => {
        throw new Error(reason);
      },
    },
  );
  const candidate = expectOk(built);
  if (candidate.transactions.length !== body.length) throw new Error("a transaction was left out");
  return candidate;
}

/** The longest time between two event-loop slices during the work. */
async function watched<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly longestMs: number; readonly wholeMs: number }> {
  let isOver = false;
  let longestMs = 0;
  await new Promise((resolve) => setTimeout(resolve, 20));
  const beganMs = performance.now();
  let lastMs = beganMs;
  const look = (): void => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  const result = await work();
  const wholeMs = performance.now() - beganMs;
  await new Promise((resolve) => setImmediate(resolve));
  isOver = true;
  look();
  return { result, longestMs, wholeMs };
}

function expectOk<T>(
  outcome: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown },
): T {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
  return outcome.value;
}

/** The sender's next nonce, by its key. */
const nonces = new Map<string, bigint>();

function sent(
  changes: Partial<Parameters<typeof aTransaction>[0]> & { readonly privateKey: Uint8Array },
): SentTransaction {
  const key = toKey(changes.privateKey);
  const nonce = nonces.get(key) ?? 0n;
  nonces.set(key, nonce + 1n);
  return aTransaction({ ...changes, nonce });
}

const TRANSFERS = 11_000;
const BATCH_OF_LOGS = 200;

/** Init code that logs until little gas is left. */
const LOGGING = (log: readonly number[]): Uint8Array =>
  code(
    OP.JUMPDEST,
    ...new Array(BATCH_OF_LOGS).fill(log).flat(),
    push(2_000 * BATCH_OF_LOGS),
    OP.GAS,
    OP.GT,
    OP.PUSH0,
    OP.JUMPI,
    OP.STOP,
  );

const KINDS: readonly (readonly [name: string, bodyAt: BodyAt])[] = [
  ["transfers to new accounts", transfers],
  [
    "2 MiB of calldata",
    () => [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16].map(() => calldata()),
  ],
  ["60M gas of empty LOG0", () => [logs(LOGGING([OP.PUSH0, OP.PUSH0, OP.LOG0]))]],
  ["60M gas of LOG4", () => [logs(LOGGING([OP.GAS, OP.GAS, OP.GAS, OP.GAS, OP.PUSH0, OP.PUSH0, OP.LOG4]))]],
];

function transfers(round: number): readonly SentTransaction[] {
  return Array.from({ length: TRANSFERS }, (_, index) => {
    const to = asAddress(keccak256(Uint8Array.of(round, index >> 8, index & 255)).subarray(12));
    return sent({ to, gasLimit: 21_000n, privateKey: account(index % 10).privateKey });
  });
}

function calldata(): SentTransaction {
  const data = new Uint8Array(128_000).map((_, index) => index % 251);
  return sent({ data, gasLimit: 8_000_000n, privateKey: account(0).privateKey });
}

function logs(data: Uint8Array): SentTransaction {
  return sent({ to: undefined, value: 0n, data, gasLimit: 60_000_000n, privateKey: account(0).privateKey });
}
