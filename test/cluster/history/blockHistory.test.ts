import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { DEV_VALIDATOR_KEY, DEV_VALIDATOR_KEY_FILE } from "../../../src/config/devNetwork.ts";
import { type Hex, toHex } from "../../../src/primitives/hex.ts";
import { toQuantity } from "../../../src/primitives/quantity.ts";
import { curve } from "../../../src/primitives/secp256k1.ts";
import { epochChain } from "../../builders/epochChain.ts";
import { blockFileOf } from "../../builders/sealedChain.ts";
import { accountFromSeed } from "../../builders/testAccounts.ts";
import { itIfThorough } from "../../thorough.ts";
import { heightOf, reach } from "../harness/chainReading.ts";
import {
  freePort,
  type NodeProcess,
  RpcFailure,
  runProgram,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";

const HEAD = 1_400;
const KEPT = 1_024;
/** Busy blocks are 50 apart. */
const REMOVED = 100;
const STAYING = HEAD - 50;
const PRUNING = [`--block-history=${KEPT}`, `--state-history=${KEPT}`, "--Xdatabase-scrub-seconds=1"];
const NAMES = ["archive", "pruned", "newcomer"] as const;
type Name = (typeof NAMES)[number];

itIfThorough(
  "a node that removes old blocks goes on after kills, says what it lacks, and is no source of old blocks",
  async () => {
    const { genesis, blocks, hashes } = await epochChain({ head: HEAD, busyFrom: HEAD - 1 });
    const folder = temporaryFolder();
    const at = (name: string) => join(folder, name);
    writeFileSync(at("genesis.json"), genesis);
    writeFileSync(at("chain.rlp"), blockFileOf(blocks));
    const keys = {
      archive: DEV_VALIDATOR_KEY,
      pruned: accountFromSeed(7).privateKey,
      newcomer: accountFromSeed(8).privateKey,
    };
    const ports = { archive: await freePort(), pruned: await freePort(), newcomer: await freePort() };
    for (const name of NAMES) {
      mkdirSync(at(name));
      if (name !== "archive") writeFileSync(at(join(name, "key")), toHex(keys[name]));
    }
    const ibex = (name: Name, ...args: readonly string[]) =>
      runProgram([`--data-path=${at(name)}`, `--genesis-file=${at("genesis.json")}`, ...args]);
    const start = async (
      name: Name,
      peers: readonly Name[],
      options: readonly string[] = [],
    ): Promise<NodeProcess> => {
      const enodes = peers.map(
        (peer) =>
          `enode://${toHex(curve.publicKey(keys[peer])).slice(2)}@127.0.0.1:${ports[peer]}?discport=0`,
      );
      writeFileSync(at(join(name, "static-nodes.json")), JSON.stringify(enodes));
      const node = await startNodeProcess({
        dataPath: at(name),
        options: [
          `--genesis-file=${at("genesis.json")}`,
          `--node-private-key-file=${name === "archive" ? DEV_VALIDATOR_KEY_FILE : at(join(name, "key"))}`,
          `--p2p-port=${ports[name]}`,
          "--p2p-interface=127.0.0.1",
          "--discovery-enabled=false",
          "--rpc-http-enabled",
          "--rpc-http-api=ETH,NET,WEB3,IBFT,DEBUG,TRACE,ADMIN",
          "--rpc-max-logs-range=0",
          ...options,
        ],
      });
      onTestFinished(node.kill);
      return node;
    };

    const imported = ibex("archive", "blocks", "import", at("chain.rlp"));
    expect(await imported.exit).toBe(0);
    for (const part of ["chain", "head.log"])
      cpSync(at(join("archive", part)), at(join("pruned", part)), { recursive: true });

    const archive = await start("archive", []);
    // Killed as soon as it begins to remove, and once more.
    for (let kill = 0; kill < 2; kill++) {
      const killed = await start("pruned", ["archive"], PRUNING);
      await until(
        async () => (killed.output().includes("blocks older than --block-history") ? true : undefined),
        "the removal",
      );
      killed.child.kill("SIGKILL");
      await killed.exit;
    }
    const pruned = await start("pruned", ["archive"], PRUNING);
    await reach([pruned], HEAD + 2);
    await until(async () => {
      const status = ibex("pruned", "status");
      await status.exit;
      const [line = ""] = status
        .output()
        .split("\n")
        .filter((each) => each.startsWith("History"));
      const first = Number(/whole blocks from #(\d+)/.exec(line)?.[1] ?? 0);
      return first > REMOVED && !line.includes("being removed") ? true : undefined;
    }, "the end of the removal");
    await expectAnswers(archive, pruned, hashes);
    await until(
      async () =>
        pruned.output().includes("the whole database was verified and is sound") ? true : undefined,
      "a round of the scrubber",
    );

    // A newcomer learns that this node has not what it needs, and takes it from the archive.
    const lonely = await start("newcomer", ["pruned"]);
    await until(
      async () => (lonely.output().includes("no peer has the body of the next block") ? true : undefined),
      "the warning",
    );
    expect(await heightOf(lonely)).toBeLessThan(REMOVED);
    expect(await lonely.rpc<readonly unknown[]>("admin_peers", [])).toHaveLength(1);
    expect(await lonely.stop()).toBe(0);
    const newcomer = await start("newcomer", ["pruned", "archive"]);
    await reach([newcomer], HEAD + 2);
    expect(await newcomer.rpc("eth_getBlockByNumber", [toQuantity(REMOVED), true])).toEqual(
      await archive.rpc("eth_getBlockByNumber", [toQuantity(REMOVED), true]),
    );

    // Off again: what is left stays, and the database is sound.
    expect(await pruned.stop()).toBe(0);
    const info = ibex("pruned", "database", "info");
    await info.exit;
    const first = Number(/history begins: with block (\d+)/.exec(info.output())?.[1]);
    expect(first).toBeGreaterThanOrEqual(HEAD - KEPT);
    const check = ibex("pruned", "database", "check");
    expect([await check.exit, check.output()]).toEqual([
      0,
      expect.stringContaining("The database is sound."),
    ]);
    const kept = await start("pruned", ["archive"]);
    await until(
      async () => (kept.output().includes("all blocks are kept from now on") ? true : undefined),
      "the line about what is kept",
    );
    await reach([archive, kept], (await heightOf(archive)) + 2);
    expect(await kept.rpc("eth_getBlockByNumber", [toQuantity(REMOVED), false])).toBe(null);
    expect(await kept.rpc("eth_getBlockByNumber", [toQuantity(first), true])).toEqual(
      await archive.rpc("eth_getBlockByNumber", [toQuantity(first), true]),
    );
  },
);

/** What stays is as on the archive; what was removed is as unknown, or refused by name, never a part. */
async function expectAnswers(
  archive: NodeProcess,
  pruned: NodeProcess,
  hashes: readonly string[],
): Promise<void> {
  const failureOf = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    const error: unknown = await pruned.rpc(method, params).catch((reason: unknown) => reason);
    return error instanceof RpcFailure ? [error.code, error.message] : error;
  };
  const transactionsOf = async (number: number): Promise<readonly Hex[]> =>
    (await archive.rpc<{ transactions: Hex[] }>("eth_getBlockByNumber", [toQuantity(number), false]))
      .transactions;
  const [staying] = await transactionsOf(STAYING);
  const [removed] = await transactionsOf(REMOVED);
  const calls: readonly [string, readonly unknown[]][] = [
    ["eth_getBlockByNumber", [toQuantity(STAYING), true]],
    ["eth_getBlockByHash", [hashes[STAYING], true]],
    ["eth_getBlockByNumber", ["0x0", true]],
    ["eth_getBlockReceipts", [toQuantity(STAYING)]],
    ["eth_getLogs", [{ fromBlock: toQuantity(HEAD - KEPT + 100), toBlock: toQuantity(HEAD) }]],
    ["eth_getTransactionReceipt", [staying]],
    ["debug_traceTransaction", [staying, { tracer: "callTracer" }]],
    ["ibft_getValidatorsByBlockNumber", [toQuantity(REMOVED)]],
    ["ibft_getSignerMetrics", ["0x1", toQuantity(HEAD)]],
  ];
  for (const [method, params] of calls) {
    const answer = await pruned.rpc(method, params);
    expect([method, answer]).toEqual([method, await archive.rpc(method, params)]);
    expect([method, answer]).not.toEqual([method, null]);
  }
  const unknown = toQuantity(1_000_000);
  for (const method of ["eth_getBlockByNumber", "eth_getBlockReceipts", "debug_getRawBlock", "trace_block"]) {
    const more = method === "eth_getBlockByNumber" ? [true] : [];
    const answer = await failureOf(method, [toQuantity(REMOVED), ...more]);
    expect([method, answer]).toEqual([method, await failureOf(method, [unknown, ...more])]);
  }
  expect(await pruned.rpc("eth_getBlockByHash", [hashes[REMOVED], false])).toBe(null);
  for (const method of ["eth_getTransactionByHash", "eth_getTransactionReceipt"])
    expect(await pruned.rpc(method, [removed])).toBe(null);
  const unavailable = [4444, "Pruned history unavailable"];
  for (const range of [{ fromBlock: "earliest" }, { fromBlock: toQuantity(1), toBlock: toQuantity(REMOVED) }])
    expect(await failureOf("eth_getLogs", [range])).toEqual(unavailable);
  expect(await failureOf("debug_setHead", [toQuantity(REMOVED)])).toEqual([
    -32000,
    expect.stringContaining("states begin with that of block"),
  ]);
  const fees = await pruned.rpc<{ oldestBlock: Hex; reward: unknown[] }>("eth_feeHistory", [
    "0x400",
    "latest",
    [50],
  ]);
  expect(fees.reward).toHaveLength(KEPT);
}
