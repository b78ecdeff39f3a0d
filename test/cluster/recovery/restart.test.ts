import { expect, onTestFinished } from "vitest";
import { type Hex, toHex } from "../../../src/primitives/hex.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { TEST_HANG_MS } from "../../hang.ts";
import { itIfThorough } from "../../thorough.ts";
import { hashesOf, heightOf, reach } from "../harness/chainReading.ts";
import { ask } from "../harness/history.ts";
import { type LogLine, logOf, type NodeProcess, pause, until } from "../harness/nodeProcess.ts";
import { waitedForProcessorMs } from "../harness/ownTime.ts";
import { CHAIN_ID, prepareNetwork, type ValidatorNetwork } from "../harness/validatorNetwork.ts";

/** More in the long run (`npm run test:long`). */
const RESTARTS = Number(process.env["IBEX_RESTARTS"] ?? 1);
const SEED = Number(process.env["IBEX_SEED"] ?? Date.now() % 1_000_000);
const ROUND_SECONDS = 4;
const BATCH = 10;
/** Tolerance for four processes and their clients on one host, besides the time for which they wait for a processor. */
const START_MS = 4_000;

itIfThorough(
  `four validators killed at once under load keep every block, and decide the next within ${ROUND_SECONDS} s of being ` +
    `back and connected, ${RESTARTS} times (IBEX_SEED=${SEED})`,
  async () => {
    const network = await prepareNetwork({ validators: 4, requestTimeoutSeconds: ROUND_SECONDS });
    onTestFinished(network.stopAll);
    let nodes = await network.startAll();
    const clients = sendContinuously(network);
    for (let restart = 0; restart < RESTARTS; restart++) {
      await reach(nodes, Math.max(...(await heightsOf(nodes))) + 3);
      await pause((SEED * 7919 + restart * 331) % 1000);
      const chains = await Promise.all(nodes.map(async (node) => hashesOf(node, 1, await heightOf(node))));
      const receipts = new Map(clients.receipts);
      await network.stopAll();
      nodes = await network.startAll();
      for (const [index, node] of nodes.entries()) {
        const known = chains[index] ?? [];
        expect(await hashesOf(node, 1, known.length)).toEqual(known);
      }
      // By the time in their logs, because this process may be busy.
      const starts = await Promise.all(nodes.map((node) => lineOf(node, "Ethereum main loop is up.")));
      const next = Math.max(...starts.map(({ headNumber }) => Number(headNumber))) + 1;
      await reach(nodes, next);
      const made = await Promise.all(nodes.map((node) => lineOf(node, `ed #${next}`)));
      const connections = await Promise.all(nodes.map(thirdConnection));
      const waitedMs = nodes.map(waitedForProcessorMs).reduce((sum, one) => sum + one, 0);
      const tookMs = latest(made) - latest(connections);
      expect(tookMs).toBeLessThan(ROUND_SECONDS * 1000 + START_MS + waitedMs);
      for (const node of nodes) await expectReceipts(node, receipts);
    }
    await clients.end();
    const height = Math.min(...(await heightsOf(nodes)));
    const [first, ...others] = await Promise.all(nodes.map((node) => hashesOf(node, 1, height)));
    for (const chain of others) expect(chain).toEqual(first);
    expect(clients.receipts.size).toBeGreaterThan(RESTARTS);
  },
  TEST_HANG_MS + RESTARTS * 60_000,
);

/** One client for each node, which sends continuously, also while its node is down. */
interface Clients {
  /** Transactions that a client knows to be mined, with the hash of their block. */
  readonly receipts: ReadonlyMap<Hex, Hex>;
  end(): Promise<void>;
}

function sendContinuously(network: ValidatorNetwork): Clients {
  const receipts = new Map<Hex, Hex>();
  let isOver = false;

  async function sendBatch(node: NodeProcess, index: number): Promise<void> {
    const { privateKey, address } = account(index);
    const nonce = BigInt(await node.rpc<Hex>("eth_getTransactionCount", [toHex(address), "pending"]));
    const hashes: Hex[] = [];
    for (let offset = 0n; offset < BATCH; offset++) {
      const { raw, hash } = aTransaction({
        chainId: CHAIN_ID,
        type: 2,
        nonce: nonce + offset,
        maxFeePerGas: 0n,
        maxPriorityFeePerGas: 0n,
        value: 0n,
        privateKey,
      });
      hashes.push(toHex(hash));
      await node.rpc("eth_sendRawTransaction", [toHex(raw)]);
    }
    for (const hash of hashes) {
      const found = async () =>
        (await node.rpc<{ blockHash: Hex } | null>("eth_getTransactionReceipt", [hash])) ?? undefined;
      receipts.set(hash, (await until(found, "a receipt")).blockHash);
    }
  }

  async function runClient(index: number): Promise<void> {
    while (!isOver) {
      const node = network.members[index]?.node;
      // Starts again after an error, such as while its node is down.
      if (node !== undefined) await sendBatch(node, index).catch(() => pause(20));
    }
  }

  const running = network.members.map((_, index) => runClient(index));
  return {
    receipts,
    async end() {
      isOver = true;
      await Promise.all(running);
    },
  };
}

async function expectReceipts(node: NodeProcess, receipts: ReadonlyMap<Hex, Hex>): Promise<void> {
  const requests = [...receipts.keys()].map((hash) => ({
    method: "eth_getTransactionReceipt",
    params: [hash],
  }));
  const answers = await ask(node.httpUrl, requests);
  const blocks = answers.map(({ result }) => (result as { blockHash: Hex } | null)?.blockHash);
  expect(blocks).toEqual([...receipts.values()]);
}

/** Waits for a log line, because output may arrive here after an answer of the node. */
function lineOf(node: NodeProcess, text: string): Promise<LogLine> {
  const found = async () => logOf(node).find(({ message }) => message.includes(text));
  return until(found, `a line with '${text}'`);
}

/** The log line of a node's third connection, which completes its connections to all others. */
function thirdConnection(node: NodeProcess): Promise<LogLine> {
  const found = async () => logOf(node).filter(({ message }) => message === "peer connected")[2];
  return until(found, "three connections");
}

/** Time of the latest line, in milliseconds since 1970. */
function latest(lines: readonly LogLine[]): number {
  return Math.max(...lines.map(({ timestamp }) => Date.parse(timestamp)));
}

function heightsOf(nodes: readonly NodeProcess[]): Promise<readonly number[]> {
  return Promise.all(nodes.map(heightOf));
}
