import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeChain } from "../../test/builders/madeChain.ts";
import { type Contender, freePort, startProgram } from "./contenders.ts";
import { createRpcClient } from "./httpClient.ts";
import { openHttpRequester } from "./httpRequester.ts";
import { measureAsking } from "./measureAsking.ts";

/** The made chain: without its first block, which deploys a contract, more than a thread keeps decoded. */
const BLOCKS = 12;
const TRANSACTIONS_OF_BLOCK = 10_000;
const BATCH = 100;
const CONNECTIONS = 16;

/**
 * Reads of a chain with full blocks, which a node has on its disk alone: blocks with hashes in order, so that most are asked for
 * again, and receipts and transactions at random among all, alone and in batches. A folder that `npm run make-chain` filled with
 * such blocks is read instead of a new chain, if given.
 */
export async function measureFullBlocks(seconds: number, madeIn?: string): Promise<void> {
  const folder = madeIn ?? mkdtempSync(join(tmpdir(), "ibex-full-blocks-"));
  try {
    if (madeIn === undefined) await makeFullChain(folder);
    await measure(folder, seconds);
  } finally {
    if (madeIn === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

async function makeFullChain(folder: string): Promise<void> {
  const transactions = BLOCKS * TRANSACTIONS_OF_BLOCK;
  const shape = { blocks: BLOCKS, transactions, mostOfBlock: TRANSACTIONS_OF_BLOCK, spread: "even" } as const;
  await makeChain({ folder, validators: 4, seed: 1, reward: 0n, ...shape });
}

async function measure(folder: string, seconds: number): Promise<void> {
  const node = await startProgram(join(folder, "data"), [
    "--logging=WARN",
    `--genesis-file=${join(folder, "genesis.json")}`,
    `--p2p-port=${await freePort()}`,
    "--p2p-interface=127.0.0.1",
    "--discovery-enabled=false",
    "--rpc-http-enabled",
  ]);
  try {
    const { numbers, hashes } = await contentsOf(node);
    console.log(`\n${numbers.length} blocks of ${hashes.length / numbers.length} transactions`);
    let next = 0;
    const aBlock = (): string => request("eth_getBlockByNumber", numbers[next++ % numbers.length], false);
    const aReceipt = (): string => request("eth_getTransactionReceipt", anyOf(hashes));
    const aTransaction = (): string => request("eth_getTransactionByHash", anyOf(hashes));
    const batchOf = (one: () => string) => () => `[${Array.from({ length: BATCH }, one).join(",")}]`;
    await ask(node, "blocks with hashes", { body: aBlock, each: 1, seconds });
    await ask(node, "receipts at random", { body: aReceipt, each: 1, seconds });
    await ask(node, `receipts at random x${BATCH}`, { body: batchOf(aReceipt), each: BATCH, seconds });
    await ask(node, "transactions at random", { body: aTransaction, each: 1, seconds });
    await ask(node, `transactions at random x${BATCH}`, {
      body: batchOf(aTransaction),
      each: BATCH,
      seconds,
    });
  } finally {
    await node.stop();
  }
}

interface Contents {
  readonly numbers: readonly string[];
  readonly hashes: readonly string[];
}

/** Numbers and transactions of the full blocks. */
async function contentsOf({ port }: Contender): Promise<Contents> {
  const client = createRpcClient(port, 1);
  const numbers: string[] = [];
  const hashes: string[] = [];
  const head = Number(await client.call<string>("eth_blockNumber", []));
  for (let number = 1; number <= head; number++) {
    const name = `0x${number.toString(16)}`;
    const block = await client.call<{ readonly transactions: readonly string[] }>("eth_getBlockByNumber", [
      name,
      false,
    ]);
    if (block.transactions.length < TRANSACTIONS_OF_BLOCK) continue;
    numbers.push(name);
    for (const hash of block.transactions) hashes.push(hash);
  }
  client.close();
  return { numbers, hashes };
}

/** Asks over as many connections for so long, after a second of warming up, and prints how many were answered. */
async function ask(
  node: Contender,
  what: string,
  { body, each, seconds }: { readonly body: () => string; readonly each: number; readonly seconds: number },
): Promise<void> {
  const requesters = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => openHttpRequester(node.port)),
  );
  const times = { warmUpSeconds: 1, seconds };
  const { perSecond, p99Ms, cpuMicroseconds } = await measureAsking(
    node,
    requesters,
    times,
    async (requester) => {
      const answer = await requester.ask(body());
      if (answer.includes('"error":') || answer.includes('"result":null'))
        throw new Error(`${what}: ${answer.slice(0, 1000)}`);
    },
  );
  console.log(
    `${what.padEnd(30)} ${(perSecond * each).toFixed(0)}/s, p99 ${p99Ms.toFixed(1)} ms, ` +
      `CPU of the node ${(cpuMicroseconds / each).toFixed(1)} µs each`,
  );
}

function request(method: string, ...params: readonly unknown[]): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
}

function anyOf(hashes: readonly string[]): string {
  return hashes[Math.floor(Math.random() * hashes.length)] ?? "";
}
