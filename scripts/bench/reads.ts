import { commonCalls, prepareScenery, requestText } from "./commonCalls.ts";
import type { Contender } from "./contenders.ts";
import { type BenchRequester, openHttpRequester } from "./httpRequester.ts";
import { measureAsking } from "./measureAsking.ts";
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
  const times = { warmUpSeconds: WARM_UP_SECONDS, seconds };
  const { count, perSecond, p99Ms, cpuMicroseconds } = await measureAsking(
    contender,
    requesters,
    times,
    (requester) => askOnce(requester, typeof body === "string" ? body : body(), asked.method),
  );
  return {
    ...asked,
    perSecond: perSecond * asked.batch,
    p99Ms,
    cpuMicroseconds: cpuMicroseconds / asked.batch,
    requests: count * asked.batch,
  };
}

async function askOnce(requester: BenchRequester, body: string, method: string): Promise<void> {
  const answer = await requester.ask(body);
  if (answer.includes('"error":')) throw new Error(`${method}: ${answer.slice(0, 1000)}`);
}
