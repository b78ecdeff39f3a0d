import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import {
  DEV_GENESIS_FILE,
  DEV_VALIDATOR_KEY,
  DEV_VALIDATOR_KEY_FILE,
} from "../../../src/config/devNetwork.ts";
import { concatBytes, type Hex, toHex } from "../../../src/primitives/hex.ts";
import { toQuantity } from "../../../src/primitives/quantity.ts";
import { curve } from "../../../src/primitives/secp256k1.ts";
import { readHistoryStart } from "../../../src/storage/historyStart.ts";
import { openLevelDatabase } from "../../../src/storage/leveldb/levelDatabase.ts";
import { hasRemovable } from "../../../src/storage/removal/blockRemoval.ts";
import { readStateBase } from "../../../src/storage/stateBase.ts";
import { trieKeysBetween } from "../../../src/storage/stateKeys.ts";
import {
  REGISTER,
  REGISTER_SLOTS,
  registerBlocks,
  registerRecipient,
  registerTransaction,
} from "../../builders/registerChain.ts";
import { account, accountFromSeed } from "../../builders/testAccounts.ts";
import { TEST_HANG_MS } from "../../hang.ts";
import { generator, type Random } from "../../storage/random.ts";
import { itIfThorough } from "../../thorough.ts";
import { heightOf, reach } from "../harness/chainReading.ts";
import {
  freePort,
  type NodeProcess,
  pause,
  RpcFailure,
  runProgram,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";

/** A few in what guards main; a hundred by hand. */
const KILLS = Number(process.env["IBEX_PRUNING_KILLS"] ?? 4);
const SEED = Number(process.env["IBEX_SEED"] ?? Date.now() % 1_000_000);

/** The chain at first: enough to remove for several kills. */
const MADE_BLOCKS = 1_700;
const MADE_TRANSACTIONS = 4;
const [KEPT_STATES, KEPT_BLOCKS] = [128, 1_024];
const PRUNING = [`--state-history=${KEPT_STATES}`, `--block-history=${KEPT_BLOCKS}`];
/** Blocks that may come between two questions of one comparison. */
const MARGIN = 8;
/** A node is killed within one of these times after its first answer. */
const LIVES_MS = [1_000, 4_000, 12_000];

type Name = "pruning" | "archive";

/** What was under way when the node was killed. */
type Moment =
  | "before the states' base moved"
  | "while pages were removed"
  | "while blocks were removed"
  | "idle";

itIfThorough(
  `a validator that removes old blocks and states has what an archive has, through ${KILLS} kills (IBEX_SEED=${SEED})`,
  async () => {
    const random = generator(SEED);
    const folder = temporaryFolder();
    const pair = await aPair(folder);
    await pair.importBlocks(
      await registerBlocks({ blocks: MADE_BLOCKS, transactions: MADE_TRANSACTIONS }, random),
    );
    let archive = await pair.start("archive");
    const moments = new Map<Moment, number>();
    let compared = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      if (random.below(4) === 0) await killedEarly(pair, random);
      else compared += await killedAmidWork(pair, archive, random);
      await expectSound(pair.folderOf("pruning"), `kill ${kill}`);
      const moment = await momentOf(pair.folderOf("pruning"));
      moments.set(moment, (moments.get(moment) ?? 0) + 1);
      // Nothing is left to remove: the folder gets the archive's history again.
      if (moment === "idle" && kill < KILLS - 1) archive = await renewed(pair, archive);
    }
    const node = await pair.start("pruning");
    await removedAll(pair.folderOf("pruning"));
    await reach([archive], await heightOf(node));
    for (let round = 0; round < 20; round++) compared += await expectSame(node, archive, random);
    expect(await node.stop()).toBe(0);
    await expectSound(pair.folderOf("pruning"), "the end");
    expect(await archive.stop()).toBe(0);
    console.log(
      `${KILLS} kills (IBEX_SEED=${SEED}), ${compared} answers compared: ${[...moments]
        .map(([moment, count]) => `${count} ${moment}`)
        .join(", ")}`,
    );
    expect([...moments.keys()].some((moment) => moment !== "idle")).toBe(true);
  },
  TEST_HANG_MS + KILLS * 60_000,
);

/** A validator that removes what is old, and a follower that keeps everything, of one chain. */
interface Pair {
  folderOf(name: Name): string;
  /** Into the archive, whose history the validator begins with. */
  importBlocks(blocks: readonly Uint8Array[]): Promise<void>;
  start(name: Name): Promise<NodeProcess>;
  argumentsOf(name: Name): readonly string[];
  copyHistory(): void;
}

async function aPair(folder: string): Promise<Pair> {
  const keys = { pruning: DEV_VALIDATOR_KEY, archive: accountFromSeed(900_001).privateKey };
  const ports = { pruning: await freePort(), archive: await freePort() };
  const others = { pruning: "archive", archive: "pruning" } as const;
  const folderOf = (name: Name) => join(folder, name);
  for (const name of ["pruning", "archive"] as const) {
    mkdirSync(folderOf(name));
    const other = others[name];
    const id = toHex(curve.publicKey(keys[other])).slice(2);
    const enode = `enode://${id}@127.0.0.1:${ports[other]}?discport=0`;
    writeFileSync(join(folderOf(name), "static-nodes.json"), JSON.stringify([enode]));
  }
  writeFileSync(join(folderOf("archive"), "key"), toHex(keys.archive), { mode: 0o600 });
  const pair: Pair = {
    folderOf,
    async importBlocks(blocks) {
      const file = join(folder, "blocks");
      writeFileSync(file, concatBytes(...blocks));
      const run = runProgram([
        `--data-path=${folderOf("archive")}`,
        `--genesis-file=${DEV_GENESIS_FILE}`,
        "blocks",
        "import",
        file,
      ]);
      expect(await run.exit, run.output()).toBe(0);
      pair.copyHistory();
    },
    argumentsOf: (name) => [
      `--genesis-file=${DEV_GENESIS_FILE}`,
      ...(name === "pruning" ? [`--node-private-key-file=${DEV_VALIDATOR_KEY_FILE}`, ...PRUNING] : []),
      `--p2p-port=${ports[name]}`,
      "--p2p-interface=127.0.0.1",
      "--discovery-enabled=false",
      "--rpc-http-enabled",
      "--rpc-http-api=ETH,DEBUG,MINER",
      "--logging=DEBUG",
    ],
    async start(name) {
      const node = await startNodeProcess({ dataPath: folderOf(name), options: pair.argumentsOf(name) });
      onTestFinished(node.kill);
      return node;
    },
    copyHistory() {
      for (const part of ["chain", "head.log"]) {
        const to = join(folderOf("pruning"), part);
        rmSync(to, { recursive: true, force: true });
        cpSync(join(folderOf("archive"), part), to, { recursive: true });
      }
    },
  };
  return pair;
}

/** Kills the node at any moment of its start. */
async function killedEarly(pair: Pair, random: Random): Promise<void> {
  const ports = [`--rpc-http-port=${await freePort()}`, "--rpc-ws-port=0", "--explorer-enabled=false"];
  const program = runProgram([
    `--data-path=${pair.folderOf("pruning")}`,
    ...pair.argumentsOf("pruning"),
    ...ports,
  ]);
  await pause(random.below(3_000));
  program.child.kill("SIGKILL");
  await program.exit;
  expect(program.child.exitCode, program.output()).toBeNull();
}

/** Kills the node while it makes blocks, removes old ones and answers; returns how many answers were compared. */
async function killedAmidWork(pair: Pair, archive: NodeProcess, random: Random): Promise<number> {
  const node = await pair.start("pruning");
  let isKilled = false;
  const killed = pause(random.below(LIVES_MS[random.below(LIVES_MS.length)] ?? 0)).then(() => {
    isKilled = true;
    return node.kill();
  });
  let compared = 0;
  while (!isKilled) {
    try {
      await sendSome(node, random);
      compared += await expectSame(node, archive, random);
    } catch (error) {
      if (!isKilled || !isBroken(error)) throw error;
    }
  }
  await killed;
  return compared;
}

/** A connection that broke, not an answer that is wrong. */
function isBroken(error: unknown): boolean {
  return error instanceof TypeError || error instanceof SyntaxError;
}

async function sendSome(node: NodeProcess, random: Random): Promise<void> {
  const { privateKey, address } = account(1 + random.below(3));
  const next = BigInt(await node.rpc<Hex>("eth_getTransactionCount", [toHex(address), "pending"]));
  for (let at = 0; at < 4; at++) {
    const { raw } = registerTransaction(at, { nonce: next + BigInt(at), privateKey }, random);
    // A block that was voted for before a kill comes after it with its transactions.
    await node.rpc("eth_sendRawTransaction", [toHex(raw)]).catch((error: unknown) => {
      if (!(error instanceof RpcFailure && /Known transaction|Nonce too low/.test(error.message)))
        throw error;
    });
  }
}

/** Proofs at a kept state, and a kept block, are as on the archive. */
async function expectSame(node: NodeProcess, archive: NodeProcess, random: Random): Promise<number> {
  const head = Math.min(await heightOf(node), await heightOf(archive));
  const newest = await heightOf(node);
  const ofStates = newest - KEPT_STATES + MARGIN;
  const ofBlocks = newest - KEPT_BLOCKS + MARGIN;
  expect(head).toBeGreaterThan(ofStates);
  const state = toQuantity(ofStates + random.below(head - ofStates + 1));
  const block = toQuantity(ofBlocks + random.below(head - ofBlocks + 1));
  const slots = Array.from(
    { length: 4 },
    () => `0x${random.below(REGISTER_SLOTS).toString(16).padStart(64, "0")}`,
  );
  const questions: readonly [string, readonly unknown[]][] = [
    ["eth_getProof", [toHex(REGISTER), slots, state]],
    ["eth_getProof", [toHex(registerRecipient(random)), [], state]],
    ["eth_getProof", [toHex(account(random.below(4)).address), [], state]],
    ["eth_getBlockByNumber", [block, true]],
    ["eth_getBlockReceipts", [block]],
  ];
  for (const [method, params] of questions) {
    const [found, expected] = await Promise.all([
      answerOf(node, method, params),
      answerOf(archive, method, params),
    ]);
    expect(expected, `${method} ${JSON.stringify(params)} of the archive`).not.toBeNull();
    expect(found, `${method} ${JSON.stringify(params)}`).toEqual(expected);
  }
  return questions.length;
}

/** The result, or what is said of an account that is not there. */
async function answerOf(node: NodeProcess, method: string, params: readonly unknown[]): Promise<unknown> {
  return node.rpc(method, params).catch((error: unknown) => {
    if (error instanceof RpcFailure) return error.message;
    throw error;
  });
}

async function expectSound(dataPath: string, when: string): Promise<void> {
  const check = runProgram([
    `--data-path=${dataPath}`,
    `--genesis-file=${DEV_GENESIS_FILE}`,
    "database",
    "check",
  ]);
  expect(await check.exit, `${when}: ${check.output()}`).toBe(0);
  expect(check.output(), when).toContain("The database is sound.");
}

async function momentOf(dataPath: string): Promise<Moment> {
  const database = await openLevelDatabase({ path: join(dataPath, "chain") });
  try {
    const start = Number(readHistoryStart(database).states);
    const base = readStateBase(database);
    if (base === undefined || base < start) return "before the states' base moved";
    for await (const _ of database.range({ ...trieKeysBetween(0, start + 1), limit: 1 }))
      return "while pages were removed";
    return (await hasRemovable(database)) ? "while blocks were removed" : "idle";
  } finally {
    await database.close();
  }
}

/** Lets both nodes come to one head, and the validator begin anew with all of the archive's history. */
async function renewed(pair: Pair, archive: NodeProcess): Promise<NodeProcess> {
  const node = await pair.start("pruning");
  expect(await node.rpc("miner_stop")).toBe(true);
  await until(
    async () => ((await heightOf(archive)) >= (await heightOf(node)) ? true : undefined),
    "the archive at the head",
  );
  expect([await node.stop(), await archive.stop()]).toEqual([0, 0]);
  pair.copyHistory();
  return pair.start("archive");
}

/** Waits until nothing is left to remove. */
async function removedAll(dataPath: string): Promise<void> {
  await until(async () => {
    const status = runProgram([`--data-path=${dataPath}`, `--genesis-file=${DEV_GENESIS_FILE}`, "status"]);
    await status.exit;
    const history = /^History.*$/m.exec(status.output())?.[0] ?? "";
    const first = Number(/whole blocks from #(\d+)/.exec(history)?.[1] ?? 0);
    return first > MADE_BLOCKS - KEPT_BLOCKS - 64 && !history.includes("being removed") ? true : undefined;
  }, "the end of the removal");
}
