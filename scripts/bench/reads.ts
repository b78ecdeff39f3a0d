import { commonCalls, prepareScenery, requestText } from "./commonCalls.ts";
import type { Contender } from "./contenders.ts";
import { type BenchRequester, openHttpRequester } from "./httpRequester.ts";
import { atQuantile } from "./report.ts";
import { openWsRequester } from "./wsRequester.ts";

export interface ReadResult {
  readonly transport: "HTTP" | "WebSocket";
  readonly batch: number;
  readonly method: string;
  /** Requests answered per second, counting each of a batch. */
  readonly perSecond: number;
  readonly p99Ms: number;
  /** CPU time of the node per request, µs. */
  readonly cpuMicroseconds: number;
  /** Requests that were answered. */
  readonly requests: number;
}

const CONNECTIONS = 32;
const BATCH = 100;
/** Batches of a hundred long responses have fewer requesters, to bound the memory. */
const BATCH_CONNECTIONS = 8;

/** Warm-up requests, to compile code and fill caches. */
const WARM_UP_SECONDS = 2;

/** Requests per second of the most frequent reads, over HTTP and WebSocket, alone and in batches of a hundred. */
export async function measureReads(
  contender: Contender,
  secondsEach: number,
): Promise<readonly ReadResult[]> {
  const calls = commonCalls(await prepareScenery(contender));
  const results: ReadResult[] = [];
  for (const transport of ["HTTP", "WebSocket"] as const) {
    for (const batch of [1, BATCH]) {
      for (const call of calls) {
        const asked = { transport, batch, method: call.method };
        results.push(await measureRead(contender, asked, requestText(call, batch), secondsEach));
      }
    }
  }
  return results;
}

/** Asks over as many connections as there are in `measureReads`, for the same again and again or for what `body` gives. */
export async function measureRead(
  contender: Contender,
  asked: Pick<ReadResult, "transport" | "batch" | "method">,
  body: string | (() => string),
  seconds: number,
): Promise<ReadResult> {
  const connections = asked.batch === 1 ? CONNECTIONS : BATCH_CONNECTIONS;
  const open = (): Promise<BenchRequester> =>
    asked.transport === "HTTP" ? openHttpRequester(contender.port) : openWsRequester(contender.wsPort);
  const requesters = await Promise.all(Array.from({ length: connections }, open));
  const latenciesMs: number[] = [];
  let stopAtMs = performance.now() + WARM_UP_SECONDS * 1000;

  async function keepAsking(requester: BenchRequester): Promise<void> {
    while (performance.now() < stopAtMs) {
      const askedAtMs = performance.now();
      await askOnce(requester, typeof body === "string" ? body : body(), asked.method);
      latenciesMs.push(performance.now() - askedAtMs);
    }
  }

  await Promise.all(requesters.map(keepAsking));
  latenciesMs.length = 0;
  const cpuBefore = contender.cpuSeconds();
  const startedAtMs = performance.now();
  stopAtMs = startedAtMs + seconds * 1000;
  await Promise.all(requesters.map(keepAsking));
  const tookSeconds = (performance.now() - startedAtMs) / 1000;
  const cpuSeconds = contender.cpuSeconds() - cpuBefore;
  for (const requester of requesters) requester.close();
  const requests = latenciesMs.length * asked.batch;
  return {
    ...asked,
    perSecond: requests / tookSeconds,
    p99Ms: atQuantile(latenciesMs, 0.99),
    cpuMicroseconds: (cpuSeconds * 1e6) / requests,
    requests,
  };
}

async function askOnce(requester: BenchRequester, body: string, method: string): Promise<void> {
  const answer = await requester.ask(body);
  if (answer.includes('"error":')) throw new Error(`${method}: ${answer.slice(0, 1000)}`);
}
