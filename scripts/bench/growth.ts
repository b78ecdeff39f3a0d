import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeDeployData } from "viem";
import { generator } from "../../test/storage/random.ts";
import { type SeenBlock, watchBlocks } from "./blockWatch.ts";
import { type Contender, startProgram } from "./contenders.ts";
import { isTokenTransfer, recipientOf, tokenAddress } from "./growthRecipients.ts";
import type { GrowthOrder } from "./growthSender.ts";
import { createRpcClient, type RpcClient } from "./httpClient.ts";
import { performElsewhere } from "./ownProcess.ts";
import { pause } from "./pause.ts";
import { measureRead } from "./reads.ts";
import { atQuantile } from "./report.ts";
import type { SendReport } from "./sendBodies.ts";
import { cpuByName, nameThreadsIn } from "./threadCpu.ts";
import { compileToken } from "./token.ts";
import { accounts, senderAddresses, signDraft } from "./workload.ts";

export interface GrowthSettings {
  /** Transactions, each to a recipient of its own. */
  readonly accounts: number;
  /** Transactions of a line of the table. */
  readonly slice: number;
  /** Whether a tenth are ERC-20 transfers. */
  readonly hasTokens: boolean;
  /** A data folder to go on with, which is kept; a new one that is removed at the end unless given. */
  readonly folder: string | undefined;
  readonly nodeOptions: readonly string[];
  readonly secondsOfReads: number;
}

/** Sent but unmined transactions: two full blocks of the development network, which any pool holds. */
const BACKLOG = 24_000;

/** What the node has used since its start, and what it has. */
interface Use {
  readonly atMs: number;
  readonly cpu: ReadonlyMap<string, number>;
  readonly writtenBytes: number;
  readonly transactions: number;
  readonly ownMb: number;
  readonly mappedMb: number;
  readonly folderBytes: number;
}

/**
 * How the development node takes transfers to new accounts as its state grows, line by line: rate, CPU by thread, memory, folder,
 * and bytes written (Linux). At the end a restart, and reads of what is drawn at random. The sender, on the same computer, goes
 * on all the time, and waits while too many of its transactions are in no block.
 */
export async function measureGrowth(settings: GrowthSettings): Promise<void> {
  const folder = settings.folder ?? mkdtempSync(join(tmpdir(), "ibex-bench-"));
  mkdirSync(folder, { recursive: true });
  const threads = mkdtempSync(join(tmpdir(), "ibex-threads-"));
  try {
    const node = await startNode(folder, settings, threads);
    try {
      await grow(node, settings, threads);
    } finally {
      await node.stop();
    }
    const again = await startNode(folder, settings, threads);
    try {
      console.log(`\nfirst answer after a restart: ${again.firstAnswerMs.toFixed(0)} ms`);
      if (settings.secondsOfReads > 0) await measureRandomReads(again, settings);
    } finally {
      await again.stop();
    }
  } finally {
    rmSync(threads, { recursive: true, force: true });
    if (settings.folder === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

function startNode(folder: string, { nodeOptions }: GrowthSettings, threads: string): Promise<Contender> {
  return startProgram(folder, ["--logging=WARN", ...nodeOptions], undefined, nameThreadsIn(threads));
}

async function grow(
  node: Contender,
  { accounts: count, slice, hasTokens }: GrowthSettings,
  threads: string,
): Promise<void> {
  const client = createRpcClient(node.port, 2);
  if (hasTokens) await deployToken(client);
  const firstNonces = await noncesOf(client);
  const from = await recipientsOf(client);
  const order: GrowthOrder = {
    port: node.port,
    from,
    until: from + count,
    firstNonces,
    hasTokens,
    backlogLimit: BACKLOG,
  };

  console.log(
    `\ntransfers to ${count} new accounts${hasTokens ? ", one tenth of tokens" : ""}, after ${from}`,
  );
  console.log("CPU in seconds for 10,000 transactions; bytes written for each transaction\n");
  let mined = 0;
  let before = useOf(node, threads, mined);
  let spacings: number[] = [];
  let last: SeenBlock | undefined;
  let isEnded = false;
  const watch = watchBlocks(client, 20, (block) => {
    mined += block.transactions;
    if (last !== undefined) spacings.push((block.seenAtMs - last.seenAtMs) / (block.number - last.number));
    last = block;
    if (isEnded || (mined - before.transactions < slice && mined < count)) return;
    const after = useOf(node, threads, mined);
    printSlice(from, before, after, atQuantile(spacings, 0.95));
    before = after;
    spacings = [];
    isEnded = mined >= count;
  });
  const report = await performElsewhere<SendReport>("growthSender.js", order);
  if (report.refused > 0) throw new Error(`the node refused ${report.refused}: ${report.firstRefusal}`);
  while (!isEnded) await pause(50);
  await watch.stop();
  client.close();
}

function printSlice(from: number, before: Use, after: Use, spacingP95Ms: number): void {
  const transactions = after.transactions - before.transactions;
  const perSecond = transactions / ((after.atMs - before.atMs) / 1000);
  const used = [...after.cpu].map(
    ([name, seconds]) => [name, ((seconds - (before.cpu.get(name) ?? 0)) * 10_000) / transactions] as const,
  );
  const all = used.reduce((sum, [, seconds]) => sum + seconds, 0);
  const each = used
    .filter(([, seconds]) => seconds >= 0.005)
    .sort(([, one], [, other]) => other - one)
    .map(([name, seconds]) => `${name} ${seconds.toFixed(2)}`);
  const written = (after.writtenBytes - before.writtenBytes) / transactions;
  console.log(
    `${from + before.transactions} to ${from + after.transactions}: ${perSecond.toFixed(0)}/s, ` +
      `CPU ${all.toFixed(2)} (${each.join(", ")}), ` +
      `blocks p95 ${(spacingP95Ms / 1000).toFixed(2)} s, own ${after.ownMb.toFixed(0)} MB, mapped ${after.mappedMb.toFixed(0)} MB, ` +
      `folder ${(after.folderBytes / 1e6).toFixed(0)} MB, written ${written.toFixed(0)}`,
  );
}

function useOf({ pid = 0, dataPath = "" }: Contender, threads: string, transactions: number): Use {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const megabytes = (name: string): number =>
    Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
  return {
    atMs: performance.now(),
    cpu: cpuByName(pid, threads),
    writtenBytes: Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1] ?? 0),
    transactions,
    ownMb: megabytes("RssAnon"),
    mappedMb: megabytes("RssFile"),
    folderBytes: bytesBelow(dataPath),
  };
}

function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => {
      // LevelDB removes files meanwhile.
      return sum + (statSync(join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0);
    }, 0);
}

/** Ten senders' nonces tell how many recipients there are: the deployment of the token is the only other transaction. */
async function recipientsOf(client: RpcClient): Promise<number> {
  const sent = (await noncesOf(client)).reduce((sum, nonce) => sum + nonce, 0);
  return (await hasToken(client)) ? sent - 1 : sent;
}

async function noncesOf(client: RpcClient): Promise<readonly number[]> {
  const nonces = await client.batch<string>(
    senderAddresses().map((address) => ["eth_getTransactionCount", [address, "latest"]] as const),
  );
  return nonces.map(Number);
}

async function hasToken(client: RpcClient): Promise<boolean> {
  return (await client.call<string>("eth_getCode", [tokenAddress(), "latest"])) !== "0x";
}

async function deployToken(client: RpcClient): Promise<void> {
  if (await hasToken(client)) return;
  const { abi, bytecode } = compileToken();
  const [deployer] = accounts;
  if (deployer === undefined || (await recipientsOf(client)) > 0)
    throw new Error("the token is the first sender's first contract: this folder began without it");
  const args = [accounts.map(({ address }) => address), 10n ** 30n];
  const data = encodeDeployData({ abi, bytecode, args });
  await client.call("eth_sendRawTransaction", [
    signDraft({ data, gasLimit: 5_000_000n }, 0, deployer.privateKey),
  ]);
  while (!(await hasToken(client))) await pause(50);
}

/** Blocks that hashes for receipts are taken from. */
const BLOCKS_OF_RECEIPTS = 100;
const LEAST_TRANSACTIONS = 100;

async function measureRandomReads(node: Contender, settings: GrowthSettings): Promise<void> {
  const client = createRpcClient(node.port, 2);
  const random = generator(1);
  const recipients = await recipientsOf(client);
  const head = Number(await client.call<string>("eth_blockNumber"));
  const full = await fullBlocks(client, head);
  const oneOf = <T>(list: readonly T[]): T => list[random.below(list.length)] as T;
  const hashes: string[] = [];
  for (let block = 0; block < BLOCKS_OF_RECEIPTS; block++) {
    const { transactions } = await client.call<{ readonly transactions: readonly string[] }>(
      "eth_getBlockByNumber",
      [quantity(oneOf(full)), false],
    );
    hashes.push(...transactions);
  }
  client.close();
  const account = (): string => {
    for (;;) {
      const index = random.below(recipients);
      if (!settings.hasTokens || !isTokenTransfer(index)) return recipientOf(index);
    }
  };
  const old = quantity(full[full.length >> 1] ?? 0);
  const reads: readonly (readonly [string, string, number, () => readonly unknown[]])[] = [
    ["eth_getBalance", "balances", 100, () => [account(), "latest"]],
    ["eth_getBalance", "balances of an old block", 100, () => [account(), old]],
    ["eth_getProof", "proofs", 100, () => [account(), [], "latest"]],
    ["eth_getBlockByNumber", "full blocks with hashes", 1, () => [quantity(oneOf(full)), false]],
    ["eth_getTransactionReceipt", "receipts", 100, () => [oneOf(hashes)]],
  ];
  for (const [method, what, batch, params] of reads) {
    const call = (id: number): object => ({ jsonrpc: "2.0", id, method, params: params() });
    const body = (): string =>
      JSON.stringify(batch === 1 ? call(0) : Array.from({ length: batch }, (_, id) => call(id)));
    const asked = { transport: "HTTP", batch, method } as const;
    const { perSecond, cpuMicroseconds } = await measureRead(node, asked, body, settings.secondsOfReads);
    console.log(
      `${what}, at random${batch === 1 ? "" : ` x${batch}`}: ${perSecond.toFixed(0)}/s, CPU ${cpuMicroseconds.toFixed(0)} µs`,
    );
  }
}

/** Numbers of blocks with many transactions. */
async function fullBlocks(client: RpcClient, head: number): Promise<readonly number[]> {
  const full: number[] = [];
  for (let start = 1; start <= head; start += 100) {
    const numbers = Array.from({ length: Math.min(100, head - start + 1) }, (_, index) => start + index);
    const counts = await client.batch<string>(
      numbers.map((number) => ["eth_getBlockTransactionCountByNumber", [quantity(number)]] as const),
    );
    full.push(...numbers.filter((_, index) => Number(counts[index]) >= LEAST_TRANSACTIONS));
  }
  return full;
}

function quantity(number: number): string {
  return `0x${number.toString(16)}`;
}
