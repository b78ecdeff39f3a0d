import { commonCalls, prepareScenery, requestText } from "./commonCalls.ts";
import type { Contender } from "./contenders.ts";
import { createRpcClient } from "./httpClient.ts";
import { type BenchRequester, openHttpRequester } from "./httpRequester.ts";
import { performElsewhere } from "./ownProcess.ts";
import { atQuantile } from "./report.ts";
import type { SendReport } from "./sendBodies.ts";
import type { SendOrder } from "./sender.ts";
import { BATCH_SIZE, senderAddresses, transferWorkload } from "./workload.ts";

export interface MixedResult {
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Transactions sent per second during the reads. */
  readonly sentPerSecond: number;
}

const CONNECTIONS = 32;
/** Requests per second: low enough for both nodes, so that latency is not the length of our own queue. */
const REQUESTS_PER_SECOND = 300;
const TRANSACTIONS_PER_SECOND = 2000;

/** Latency of the ten most frequent reads, in turn, while each second has a block of 2,000 transfers. */
export async function measureMixed(contender: Contender, seconds: number): Promise<MixedResult> {
  const bodies = commonCalls(await prepareScenery(contender)).map((call) => requestText(call));
  const requesters = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => openHttpRequester(contender.port)),
  );
  await askSteadily(requesters, bodies, Math.min(seconds, 2));
  // Signed beforehand, or the requesters of this process would wait for the signing.
  const sendTransfers = await prepareTransfers(contender.port, seconds + 1, TRANSACTIONS_PER_SECOND);
  const sending = sendTransfers();
  const latenciesMs = await askSteadily(requesters, bodies, seconds);
  const { sent } = await sending;
  for (const requester of requesters) requester.close();
  return {
    p50Ms: atQuantile(latenciesMs, 0.5),
    p99Ms: atQuantile(latenciesMs, 0.99),
    sentPerSecond: sent / (seconds + 1),
  };
}

/** Sends requests at even intervals; one that must wait for a connection counts from its scheduled time. */
async function askSteadily(
  requesters: readonly BenchRequester[],
  bodies: readonly string[],
  seconds: number,
): Promise<readonly number[]> {
  const startedAtMs = performance.now();
  const count = seconds * REQUESTS_PER_SECOND;
  const latenciesMs: number[] = [];
  let next = 0;

  async function keepAsking(requester: BenchRequester): Promise<void> {
    while (next < count) {
      const number = next++;
      const dueAtMs = startedAtMs + (number * 1000) / REQUESTS_PER_SECOND;
      const waitMs = dueAtMs - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      const begunAtMs = Math.max(dueAtMs, waitMs > 0 ? performance.now() : dueAtMs);
      await requester.ask(bodies[number % bodies.length] ?? "");
      latenciesMs.push(performance.now() - begunAtMs);
    }
  }

  await Promise.all(requesters.map(keepAsking));
  return latenciesMs;
}

/** Signs transfers; the returned function sends them at a steady rate from another process and resolves after the last. */
export async function prepareTransfers(
  port: number,
  seconds: number,
  ratePerSecond: number,
): Promise<() => Promise<SendReport>> {
  const client = createRpcClient(port, 1);
  const nonces = await client.batch<string>(
    senderAddresses().map((address) => ["eth_getTransactionCount", [address, "latest"]] as const),
  );
  client.close();
  const { bodies } = transferWorkload(seconds * ratePerSecond, nonces.map(Number));
  const order: SendOrder = {
    port,
    bodies,
    batchSize: BATCH_SIZE,
    stopAfterMs: seconds * 1000,
    ratePerSecond,
  };
  return () => performElsewhere<SendReport>("sender.js", order);
}
