import { parentPort, workerData } from "node:worker_threads";
import { createRpcClient } from "../../httpClient.ts";
import { pause } from "../../pause.ts";

/** Calls that are due in turn, one each `periodMs`, whether or not those before are answered. */
export interface HonestCalls {
  readonly calls: readonly (readonly [method: string, params: readonly unknown[]])[];
  readonly periodMs: number;
}

export interface HonestThreadData {
  readonly port: number;
  readonly groups: readonly HonestCalls[];
}

/** Milliseconds from when each call was due until it was answered, by group; infinite for one that was not. */
export interface HonestTimes {
  readonly groups: readonly (readonly number[])[];
  /** Errors that it got instead of answers. */
  readonly errors: readonly string[];
}

/** An honest caller has a thread of its own, or it would wait for what the attackers of this process read and sign. */
const CONNECTIONS = 8;
const LAST_ANSWERS_MS = 2000;

const { port, groups } = workerData as HonestThreadData;
const errors: string[] = [];
const begun = groups.map(begin);
parentPort?.once("message", async () => {
  for (const { end } of begun) end();
  await pause(LAST_ANSWERS_MS);
  parentPort?.postMessage({ groups: begun.map(({ times }) => times), errors } satisfies HonestTimes);
  process.exit();
});

function begin({ calls, periodMs }: HonestCalls): { readonly times: readonly number[]; end(): void } {
  const client = createRpcClient(port, CONNECTIONS);
  const times: number[] = [];
  let turn = 0;
  const timer = setInterval(() => {
    const place = turn++;
    const [method, params] = calls[place % calls.length] ?? ["eth_blockNumber", []];
    const dueMs = performance.now();
    times[place] = Number.POSITIVE_INFINITY;
    client.call(method, params).then(
      () => {
        times[place] = performance.now() - dueMs;
      },
      (error: unknown) => errors.push(`${method}: ${error}`),
    );
  }, periodMs);
  return { times, end: () => clearInterval(timer) };
}
