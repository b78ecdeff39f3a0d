/**
 * The sending process: reads pre-signed bodies from its parent, posts them over a few connections, and reports. It is a
 * separate process so that its CPU does not count as the node's. It pauses while the node has too many unmined ones.
 */
import { watchBlocks } from "./blockWatch.ts";
import { createRpcClient } from "./httpClient.ts";

export interface SendOrder {
  readonly port: number;
  readonly bodies: readonly Buffer[];
  readonly batchSize: number;
  readonly stopAfterMs: number;
  /** Largest number of transactions per second; undefined for as many as the node accepts. */
  readonly ratePerSecond?: number;
  /** Limit of sent but unmined transactions; by default enough to fill several blocks. */
  readonly backlogLimit?: number;
}

export interface SendReport {
  readonly sent: number;
  readonly refused: number;
  readonly firstRefusal: string | undefined;
}

const CONNECTIONS = 4;
/** Sent but unmined transactions: enough to fill several blocks, few enough for any pool. */
const BACKLOG_LIMIT = 12_000;

async function send(order: SendOrder): Promise<SendReport> {
  const { port, bodies, batchSize, stopAfterMs, ratePerSecond, backlogLimit = BACKLOG_LIMIT } = order;
  const client = createRpcClient(port, CONNECTIONS + 1);
  const startedAtMs = performance.now();
  const stopAtMs = startedAtMs + stopAfterMs;
  const allowed = (): number =>
    ratePerSecond === undefined
      ? Number.POSITIVE_INFINITY
      : ((performance.now() - startedAtMs) / 1000) * ratePerSecond;
  let next = 0;
  let sent = 0;
  let refused = 0;
  let firstRefusal: string | undefined;
  let mined = 0;

  async function sendBodies(): Promise<void> {
    while (next < bodies.length && performance.now() < stopAtMs) {
      if (sent - mined > backlogLimit || sent > allowed()) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        continue;
      }
      const body = bodies[next++];
      if (body === undefined) return;
      sent += batchSize;
      const answer = await client.post(Buffer.from(body));
      const errors = answer.match(/"error":\{[^}]*\}/g) ?? [];
      refused += errors.length;
      firstRefusal ??= errors[0];
    }
  }

  const watch = watchBlocks(client, 50, ({ transactions }) => {
    mined += transactions;
  });
  await Promise.all(Array.from({ length: CONNECTIONS }, sendBodies));
  await watch.stop();
  client.close();
  return { sent, refused, firstRefusal };
}

process.on("message", (order: SendOrder) => {
  send(order).then(
    (report) => {
      process.send?.(report);
      process.disconnect();
    },
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
