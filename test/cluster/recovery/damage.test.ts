import { cpSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect } from "vitest";
import { type Hex, toHex } from "../../../src/primitives/hex.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { damageOpenFile, damageSomeFile } from "../../builders/damage.ts";
import { accountFromSeed } from "../../builders/testAccounts.ts";
import { HANG_MS, TEST_HANG_MS } from "../../hang.ts";
import { generator } from "../../storage/random.ts";
import { itIfThorough } from "../../thorough.ts";
import {
  freePort,
  type NodeProcess,
  type RunningProgram,
  runProgram,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";
import { type Member, prepareNetwork } from "../harness/validatorNetwork.ts";

/** Of each kind: one in the daily run; else a tenth of those of test/storage/damage.test.ts, as each starts a node. */
const DAMAGES = Math.ceil(Number(process.env["IBEX_DAMAGES"] ?? 1) / 10);
const SEED = Number(process.env["IBEX_SEED"] ?? Date.now() % 1_000_000);

/** The literal answer of an undamaged node to a request that is repeated on damaged ones. */
interface Fact {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly answer: string;
}

const SOUND = temporaryFolder();
let facts: readonly Fact[];

beforeAll(async () => {
  facts = await prepare();
});

describe("a damaged data folder", () => {
  itIfThorough(
    `gives right answers, errors, or an end with 74 (${DAMAGES} damages, IBEX_SEED=${SEED})`,
    async () => {
      const random = generator(SEED);
      for (let count = 0; count < DAMAGES; count++) {
        const folder = aCopy();
        const damage = damageSomeFile(folder, random, (path) => /\/(key|besu\.ports)$/.test(path));
        const { program, url } = await begin(folder);
        try {
          if (await isUp(program, url)) {
            expect(await wrongAnswers(url), damage).toEqual([]);
            program.child.kill();
          }
          const exitCode = await program.exit;
          expect([0, 74], `${damage}\n${program.output()}`).toContain(exitCode);
          if (exitCode === 74) expect(program.output(), damage).toMatch(SAYS_WHAT_TO_DO);
        } finally {
          program.child.kill("SIGKILL");
          rmSync(folder, { recursive: true });
        }
      }
    },
    TEST_HANG_MS + DAMAGES * 20_000,
  );
});

describe("a sound data folder", () => {
  itIfThorough("is found sound repeatedly while blocks are produced", async () => {
    const node = await startNodeProcess({ dataPath: aCopy(), options: ["--Xdatabase-scrub-seconds=1"] });
    await until(async () => (soundRounds(node) >= 2 ? true : undefined), "two rounds of the scrubber");
    const height = Number(await node.rpc<Hex>("eth_blockNumber"));
    await until(
      async () => (Number(await node.rpc<Hex>("eth_blockNumber")) > height ? true : undefined),
      "a new block",
    );
    expect(await node.stop()).toBe(0);
  });
});

describe("a chain whose last block is cut off", () => {
  itIfThorough("is completed from peers by a follower, and refused by a validator", async () => {
    const network = await prepareNetwork({ validators: 1, followers: 1 });
    const [validator, follower] = network.members as [Member, Member];
    try {
      await network.startAll();
      await reaches(follower, 3);
      await follower.node?.kill();
      cutLastBlock(follower.dataPath);
      const again = await network.start(follower);
      expect(again.output()).toContain("this node has never voted");
      await reaches(follower, 6);
      expect(await again.stop()).toBe(0);

      await validator.node?.kill();
      cutLastBlock(validator.dataPath);
      const refused = runProgram([
        `--data-path=${validator.dataPath}`,
        `--genesis-file=${network.genesisFile}`,
      ]);
      expect(await refused.exit).toBe(74);
      expect(refused.output()).toContain("A sole validator must not do that");
    } finally {
      await network.stopAll();
    }
  });
});

async function reaches({ node }: Member, height: number): Promise<void> {
  await until(
    async () => (Number(await node?.rpc<Hex>("eth_blockNumber")) >= height ? true : undefined),
    `block ${height}`,
  );
}

function cutLastBlock(dataPath: string): void {
  const folder = join(dataPath, "chain");
  for (const name of readdirSync(folder).filter((each) => each.endsWith(".log")))
    truncateSync(join(folder, name), Math.max(0, statSync(join(folder, name)).size - 7));
}

describe("a data folder that is damaged while the node runs", () => {
  itIfThorough(
    `gives right answers or errors, and misses an entry at most until the scrubber ends the node with 74 (${DAMAGES} damages, IBEX_SEED=${SEED})`,
    async () => {
      const random = generator(SEED + 1);
      for (let count = 0; count < DAMAGES; count++) {
        const folder = aCopy();
        const { program, url } = await begin(folder);
        try {
          expect(await isUp(program, url), program.output()).toBe(true);
          const damage = damageOpenFile(folder, random, (path) => path.endsWith(".ldb"));
          const rounds = soundRounds(program);
          let isOver = false;
          void program.exit.then(() => {
            isOver = true;
          });
          const wrong: string[] = [];
          // The first round that ends sound may have started before the damage.
          while (!isOver && soundRounds(program) < rounds + 2)
            wrong.push(...(await wrongAnswers(url).catch(() => [])));
          expect(
            wrong.filter((each) => !isMiss(each)),
            damage,
          ).toEqual([]);
          // A damaged file that a compaction has replaced but not yet removed is no longer read.
          if (!isOver) expect(wrong, damage).toEqual([]);
          if (!isOver) continue;
          const ended = program.child.signalCode === "SIGABRT" ? await endOfNextStart(folder) : program;
          expect(await ended.exit, `${damage}\n${ended.output()}`).toBe(74);
          expect(ended.output(), damage).toMatch(SAYS_WHAT_TO_DO);
        } finally {
          program.child.kill("SIGKILL");
          rmSync(folder, { recursive: true });
        }
      }
    },
    TEST_HANG_MS + DAMAGES * 20_000,
  );
});

function soundRounds({ output }: Pick<RunningProgram, "output">): number {
  return output().split("the whole database was verified and is sound").length - 1;
}

const SAYS_WHAT_TO_DO =
  /(damaged|missing|has lost its end|does not match|cannot be).*(ibex database check|[Dd]elete|[Rr]estore|start the node again)/;

function aCopy(): string {
  const folder = join(temporaryFolder(), "copy");
  cpSync(SOUND, folder, { recursive: true });
  return folder;
}

async function begin(dataPath: string): Promise<{ readonly program: RunningProgram; readonly url: string }> {
  const port = await freePort();
  const program = runProgram([
    `--data-path=${dataPath}`,
    `--rpc-http-port=${port}`,
    "--rpc-ws-port=0",
    "--logging=WARN",
    "--logging-modules=storage=INFO",
    "--Xdatabase-scrub-seconds=1",
  ]);
  return { program, url: `http://127.0.0.1:${port}` };
}

/** LevelDB aborts the process on some damages; only the next start reports which one it was. */
async function endOfNextStart(folder: string): Promise<RunningProgram> {
  const { program } = await begin(folder);
  await program.exit;
  return program;
}

/** False when the program ends instead. */
async function isUp({ child }: RunningProgram, url: string): Promise<boolean> {
  const answer = () => ask(url, [{ method: "eth_chainId", params: [] }]).catch(() => undefined);
  await until(async () => (child.exitCode !== null ? true : await answer()), "an answer or an end");
  return child.exitCode === null;
}

/** The answers that are neither those of an undamaged node nor errors. */
async function wrongAnswers(url: string): Promise<readonly string[]> {
  const replies = await ask(url, facts);
  return facts.flatMap(({ method, params, answer }, index) => {
    const reply = replies[index];
    if (reply === answer || reply?.startsWith('{"code":-32603')) return [];
    return [
      `${method} ${JSON.stringify(params)}: ${reply?.slice(0, 200)} instead of ${answer.slice(0, 200)}`,
    ];
  });
}

/**
 * When the key of an entry is damaged, LevelDB does not find it: a lookup by hash returns nothing, an account looks empty.
 * No checksum of a value can detect that; only the scrubber does.
 */
function isMiss(wrong: string): boolean {
  return /^eth_get(Transaction|Block)\w*(ByHash|Receipt) \S+: null instead of |^eth_getBalance .*: "0x0" instead of /.test(
    wrong,
  );
}

/** Results, or errors, as JSON. */
async function ask(
  url: string,
  requests: readonly Pick<Fact, "method" | "params">[],
): Promise<readonly string[]> {
  const batch = requests.map(({ method, params }, id) => ({ jsonrpc: "2.0", id, method, params }));
  const response = await fetch(url, {
    method: "POST",
    body: JSON.stringify(batch),
    signal: AbortSignal.timeout(HANG_MS),
  });
  const replies = (await response.json()) as readonly { id: number; result?: unknown; error?: unknown }[];
  return [...replies].sort((a, b) => a.id - b.id).map(({ result, error }) => JSON.stringify(error ?? result));
}

const PAYEES = Array.from({ length: 60 }, (_, index) => toHex(accountFromSeed(index).address));
const BATCH = 300;
const STARTS = 3;

/** Creates a chain in SOUND, in tables of several starts, and requests all of it. */
async function prepare(): Promise<readonly Fact[]> {
  const sent: Hex[] = [];
  for (let start = 0; ; start++) {
    const node = await startNodeProcess({ dataPath: SOUND, options: ["--logging=WARN", "--rpc-threads=1"] });
    sent.push(...(await fill(node, start * BATCH)));
    if (start === STARTS - 1) {
      const requests = await requestsAbout(node, Number(await node.rpc<Hex>("eth_blockNumber")), sent);
      const answers = await ask(node.httpUrl, requests);
      await node.stop();
      return requests.map((request, index) => ({ ...request, answer: answers[index] ?? "" }));
    }
    await node.stop();
  }
}

async function fill(node: NodeProcess, firstNonce: number): Promise<readonly Hex[]> {
  const transactions = Array.from({ length: BATCH }, (_, index) =>
    aTransaction({
      nonce: BigInt(firstNonce + index),
      gasPrice: 1n,
      to: accountFromSeed(index % PAYEES.length).address,
      value: BigInt(index + 1),
    }),
  );
  const requests = transactions.map(({ raw }) => ({
    method: "eth_sendRawTransaction",
    params: [toHex(raw)],
  }));
  await ask(node.httpUrl, requests);
  const last = toHex(transactions[BATCH - 1]?.hash ?? new Uint8Array());
  await until(
    async () => (await node.rpc("eth_getTransactionReceipt", [last])) ?? undefined,
    "the last receipt",
  );
  return transactions.map(({ hash }) => toHex(hash));
}

async function requestsAbout(node: NodeProcess, height: number, sent: readonly Hex[]) {
  const requests: { method: string; params: readonly unknown[] }[] = [];
  const add = (method: string, ...params: readonly unknown[]) => void requests.push({ method, params });
  for (let number = 0; number <= height; number++) {
    const tag = toHexNumber(number);
    const { hash } = await node.rpc<{ hash: Hex }>("eth_getBlockByNumber", [tag, false]);
    add("eth_getBlockByNumber", tag, true);
    add("eth_getBlockByHash", hash, false);
    add("eth_getBlockReceipts", tag);
    add("eth_getBlockTransactionCountByHash", hash);
    add("eth_getBalance", PAYEES[number % PAYEES.length], tag);
    add("eth_getProof", PAYEES[number % PAYEES.length], [], tag);
  }
  add("eth_feeHistory", toHexNumber(height), toHexNumber(height), [10, 50]);
  for (const hash of sent.filter((_, index) => index % 7 === 0)) {
    add("eth_getTransactionByHash", hash);
    add("eth_getTransactionReceipt", hash);
  }
  for (const address of PAYEES) add("eth_getBalance", address, "latest");
  return requests;
}

function toHexNumber(number: number): Hex {
  return `0x${number.toString(16)}`;
}
