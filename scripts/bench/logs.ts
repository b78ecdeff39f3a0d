import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { keccak256 } from "../../src/primitives/hash.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { openChainDatabase } from "../../src/storage/chainDatabase.ts";
import { aTransaction } from "../../test/builders/aTransaction.ts";
import { aLongChain, NOTHING } from "../../test/builders/longChain.ts";
import { account } from "../../test/builders/testAccounts.ts";
import { watchBlocks } from "./blockWatch.ts";
import { type Contender, root, startIbex } from "./contenders.ts";
import { createRpcClient, type RpcClient } from "./httpClient.ts";
import { atQuantile } from "./report.ts";

const MILLION = 1_000_000;
const CLIENTS = 32;
const LOADED_SECONDS = 30;
const QUIET_SECONDS = 15;

/** Rare: a log every 50,000 blocks. Common: 20 in every tenth block. */
const RARE = {
  address: account(3).address,
  topics: [keccak256(Buffer.from("Rare()"))],
  data: new Uint8Array(32),
};
const COMMON = {
  address: account(4).address,
  topics: [keccak256(Buffer.from("Common()"))],
  data: new Uint8Array(32),
};

function contentOf(number: number) {
  const logs = [
    ...(number % 50_000 === 7 ? [RARE] : []),
    ...(number % 10 === 3 ? Array.from({ length: 20 }, () => COMMON) : []),
  ];
  return logs.length === 0
    ? NOTHING
    : { transactions: [aTransaction({ nonce: BigInt(number) })], logs: [logs] };
}
/**
 * Log queries on a chain of a million blocks (IBEX_BENCH_BLOCKS sets another number; IBEX_BENCH_FOLDER keeps the chain for
 * the next run): their latency before and after the index is written, and the effect of 32 clients with the widest ranges
 * on blocks and other callers.
 */
export async function measureLogs(): Promise<void> {
  const head = Number(process.env["IBEX_BENCH_BLOCKS"] ?? MILLION);
  const kept = process.env["IBEX_BENCH_FOLDER"];
  const folder = kept ?? mkdtempSync(join(tmpdir(), "ibex-logs-"));
  mkdirSync(folder, { recursive: true });
  const startedMs = performance.now();
  const genesis = readFileSync(join(root, "genesis", "dev.json"), "utf8");
  const stored = await openChainDatabase({ path: join(folder, "chain"), headFile: join(folder, "head.log") });
  await aLongChain({ genesis, stored, head, contentOf });
  await stored.close();
  console.log(`\nlogs of ${head} blocks (chain written in ${seconds(startedMs)} s)`);
  const node = await startIbex(folder, ["--rpc-max-logs-range=0"]);
  try {
    await measureQueries(node, head, folder);
    await measureLoad(node, head);
  } finally {
    await node.stop();
    if (kept === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

async function measureQueries(node: Contender, head: number, folder: string): Promise<void> {
  const client = createRpcClient(node.port, 1);
  if (!isIndexed(folder, head))
    await timed("one address, without an index", () => countLogs(client, everything(head, RARE.address)));
  const startedMs = performance.now();
  while (
    (await client.call<{ indexing: boolean }>("admin_generateLogBloomCache")).indexing ||
    !isIndexed(folder, head)
  )
    await pause(200);
  console.log(`index complete ${seconds(startedMs)} s after that`);
  for (let round = 0; round < 3; round++)
    await timed("one address, with it", () => countLogs(client, everything(head, RARE.address)));
  await timed("an address without logs", () => countLogs(client, everything(head, account(9).address)));
  await timed("100,000 blocks, 200,000 logs", () =>
    countLogs(client, { fromBlock: "0x0", toBlock: "0x186a0", address: toHex(COMMON.address) }),
  );
  await timed("50,000 blocks, 100,000 logs", () =>
    countLogs(client, { fromBlock: "0x0", toBlock: "0xc34f", address: toHex(COMMON.address) }),
  );
  await timed("1,000 blocks", () =>
    countLogs(client, { fromBlock: "0x0", toBlock: "0x3e8", address: toHex(COMMON.address) }),
  );
  client.close();
}

/** The last full file. */
function isIndexed(folder: string, head: number): boolean {
  const last = Math.floor((head + 1) / 100_000) - 1;
  const file = join(folder, "caches", last < 0 ? "logBloom-current.cache" : `logBloom-${last}.cache`);
  return existsSync(file) && (last < 0 || statSync(file).size === 25_600_000);
}

async function measureLoad(node: Contender, head: number): Promise<void> {
  const requesters = createRpcClient(node.port, CLIENTS);
  const other = createRpcClient(node.port, 1);
  const watcher = createRpcClient(node.port, 1);
  figures("block spacing, no queries", await spacingOf(watcher, () => pause(QUIET_SECONDS * 1000)));
  const until = performance.now() + LOADED_SECONDS * 1000;
  const queryMs: number[] = [];
  const otherMs: number[] = [];
  let refused = 0;
  let asked = 0;
  const queries = [
    everything(head, RARE.address),
    everything(head, COMMON.address),
    everything(head, account(9).address),
    { fromBlock: "0x0", toBlock: "0xc34f", address: toHex(COMMON.address) },
  ];

  async function askForLogs(): Promise<void> {
    while (performance.now() < until) {
      const askedMs = performance.now();
      const text = await requesters.post(
        JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "eth_getLogs",
          params: [queries[asked++ % queries.length]],
        }),
      );
      if (text.startsWith('{"jsonrpc":"2.0","id":1,"error"')) refused++;
      queryMs.push(performance.now() - askedMs);
    }
  }
  async function askForNumber(): Promise<void> {
    while (performance.now() < until) {
      const askedMs = performance.now();
      await other.call("eth_getBalance", [toHex(account(1).address), "latest"]);
      otherMs.push(performance.now() - askedMs);
      await pause(20);
    }
  }
  const gaps = await spacingOf(watcher, async () => {
    await Promise.all([...Array.from({ length: CLIENTS }, askForLogs), askForNumber()]);
  });
  console.log(
    `\n${CLIENTS} clients query the widest ranges for ${LOADED_SECONDS} s: ${queryMs.length} answers, ${refused} of them refusals`,
  );
  figures("block spacing", gaps);
  figures("a log query", queryMs);
  figures("eth_getBalance of another client", otherMs);
  console.log(`resident memory at the end ${node.residentMb().toFixed(0)} MB`);
  for (const client of [requesters, other, watcher]) client.close();
}

/** Milliseconds between the blocks during `work`. */
async function spacingOf(client: RpcClient, work: () => Promise<void>): Promise<readonly number[]> {
  const times: number[] = [];
  const watch = watchBlocks(client, 10, ({ seenAtMs }) => times.push(seenAtMs));
  await work();
  await watch.stop();
  return times.slice(1).map((time, index) => time - (times[index] ?? time));
}

function everything(head: number, address: Uint8Array): object {
  return { fromBlock: "0x0", toBlock: `0x${head.toString(16)}`, address: toHex(address) };
}

async function countLogs(client: RpcClient, filter: object): Promise<string> {
  const text = await client.post(
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getLogs", params: [filter] }),
  );
  const { result, error } = JSON.parse(text) as { result?: unknown[]; error?: { message: string } };
  return result === undefined ? `refused: ${error?.message}` : `${result.length} logs`;
}

async function timed(what: string, ask: () => Promise<string>): Promise<void> {
  const askedMs = performance.now();
  const answer = await ask();
  console.log(`${what.padEnd(34)} ${(performance.now() - askedMs).toFixed(0).padStart(8)} ms   ${answer}`);
}

function figures(what: string, samples: readonly number[]): void {
  const at = (quantile: number): string => atQuantile(samples, quantile).toFixed(1).padStart(9);
  console.log(`${what.padEnd(34)} p50 ${at(0.5)} ms  p95 ${at(0.95)} ms  max ${at(1)} ms`);
}

function seconds(sinceMs: number): string {
  return ((performance.now() - sinceMs) / 1000).toFixed(1);
}
