import { stakeWorkload, swapWorkload } from "./applicationWorkloads.ts";
import { type SeenBlock, watchBlocks } from "./blockWatch.ts";
import type { Contender } from "./contenders.ts";
import { growthWorkload } from "./growthRecipients.ts";
import { createRpcClient, type RpcClient } from "./httpClient.ts";
import { performElsewhere } from "./ownProcess.ts";
import { atQuantile } from "./report.ts";
import type { SendReport } from "./sendBodies.ts";
import type { SendOrder } from "./sender.ts";
import {
  BATCH_SIZE,
  senderAddresses,
  tokenWorkload,
  transferWorkload,
  type Workload,
  type WorkloadKind,
} from "./workload.ts";

export interface ThroughputResult {
  readonly workload: string;
  /** Transactions with a durable receipt, divided by the seconds from the first send to the last receipt. */
  readonly perSecond: number;
  readonly transactions: number;
  readonly seconds: number;
  /** Transactions of each full block in the measured span. */
  readonly fill: readonly number[];
  /** Block spacing as observed over JSON-RPC, seconds. */
  readonly spacingP50: number;
  readonly spacingP95: number;
  readonly residentMb: number;
  readonly nodeCpuSeconds: number;
}

/**
 * Sent but unmined transactions: two blocks of as many as are signed for a second, so that no block waits for the sender. Any
 * pool holds as many.
 */
const BACKLOG_SECONDS = 2;
const LEAST_BACKLOG = 12_000;

const WORKLOADS: Readonly<Record<WorkloadKind, (count: number, firstNonces: readonly number[]) => Workload>> =
  {
    transfers: transferWorkload,
    growth: growthWorkload,
    token: tokenWorkload,
    swap: swapWorkload,
    stake: stakeWorkload,
  };

/** Sends a workload from another process for some seconds and waits until every receipt can be read. */
export async function measureThroughput(
  contender: Contender,
  kind: WorkloadKind,
  seconds: number,
  signedPerSecond: number,
  ratePerSecond?: number,
): Promise<ThroughputResult> {
  const client = createRpcClient(contender.port, 2);
  const nonces = await client.batch<string>(
    senderAddresses().map((address) => ["eth_getTransactionCount", [address, "latest"]] as const),
  );
  const workload = WORKLOADS[kind](seconds * (ratePerSecond ?? signedPerSecond), nonces.map(Number));
  await setUp(client, workload);

  const blocks: SeenBlock[] = [];
  const watch = watchBlocks(client, 10, (block) => blocks.push(block));
  const cpuBefore = contender.cpuSeconds();
  const startedAtMs = performance.now();
  const report = await sendFromOwnProcess({
    port: contender.port,
    bodies: workload.bodies,
    batchSize: BATCH_SIZE,
    stopAfterMs: seconds * 1000,
    backlogLimit: Math.max(LEAST_BACKLOG, BACKLOG_SECONDS * signedPerSecond),
    ...(ratePerSecond !== undefined && { ratePerSecond }),
  });
  if (report.refused > 0)
    throw new Error(`${contender.name} refused ${report.refused}: ${report.firstRefusal}`);
  await untilMined(blocks, report.sent);
  const lastFull = blocks.findLast(({ transactions }) => transactions > 0)?.number ?? 0;
  const receiptsReadAtMs = await readLastReceipts(client, lastFull);
  await watch.stop();
  const tookSeconds = (receiptsReadAtMs - startedAtMs) / 1000;
  const spacings = blocks
    .slice(1)
    .map((block, index) => (block.seenAtMs - (blocks[index]?.seenAtMs ?? 0)) / 1000);
  client.close();
  return {
    workload: workload.name,
    perSecond: report.sent / tookSeconds,
    transactions: report.sent,
    seconds: tookSeconds,
    fill: blocks.map(({ transactions }) => transactions),
    spacingP50: atQuantile(spacings, 0.5),
    spacingP95: atQuantile(spacings, 0.95),
    residentMb: contender.residentMb(),
    nodeCpuSeconds: contender.cpuSeconds() - cpuBefore,
  };
}

/** Sends everything first, and then waits for each receipt: most of it fits in one block. */
async function setUp(client: RpcClient, workload: Workload): Promise<void> {
  const hashes: string[] = [];
  for (const raw of workload.setUp) hashes.push(await client.call<string>("eth_sendRawTransaction", [raw]));
  for (const hash of hashes) {
    let receipt: { status: string } | null = null;
    while (receipt === null) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      receipt = await client.call<{ status: string } | null>("eth_getTransactionReceipt", [hash]);
    }
    if (receipt.status !== "0x1") throw new Error("a transaction of the set-up failed");
  }
}

export function sendFromOwnProcess(order: SendOrder): Promise<SendReport> {
  return performElsewhere<SendReport>("sender.js", order);
}

/** Waits until `transactions` are mined; throws at a time limit. */
async function untilMined(blocks: readonly SeenBlock[], transactions: number): Promise<void> {
  const giveUpAtMs = performance.now() + LONGEST_DRAIN_MS;
  for (;;) {
    const mined = blocks.reduce((sum, block) => sum + block.transactions, 0);
    if (mined >= transactions) return;
    if (performance.now() > giveUpAtMs) throw new Error(`only ${mined} of ${transactions} were mined`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const LONGEST_DRAIN_MS = 120_000;

/** Reads the receipts of the last block with transactions; once they are answered, every receipt is durable. */
async function readLastReceipts(client: RpcClient, number: number): Promise<number> {
  const receipts = await client.call<unknown[]>("eth_getBlockReceipts", [`0x${number.toString(16)}`]);
  if (receipts.length === 0) throw new Error(`block ${number} gave no receipts`);
  return performance.now();
}
