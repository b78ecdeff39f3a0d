import { watchBlocks } from "./blockWatch.ts";
import { createRpcClient } from "./httpClient.ts";

export interface SendLimits {
  readonly port: number;
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

/** Posts JSON-RPC batches of `batchSize` transactions each, until they end or the time does; pauses while too many are unmined. */
export async function sendBodies(
  { port, batchSize, stopAfterMs, ratePerSecond, backlogLimit = BACKLOG_LIMIT }: SendLimits,
  bodies: Iterator<Buffer>,
): Promise<SendReport> {
  const client = createRpcClient(port, CONNECTIONS + 1);
  const startedAtMs = performance.now();
  const stopAtMs = startedAtMs + stopAfterMs;
  const allowed = (): number =>
    ratePerSecond === undefined
      ? Number.POSITIVE_INFINITY
      : ((performance.now() - startedAtMs) / 1000) * ratePerSecond;
  let sent = 0;
  let refused = 0;
  let firstRefusal: string | undefined;
  let mined = 0;

  async function keepSending(): Promise<void> {
    while (performance.now() < stopAtMs) {
      if (sent - mined > backlogLimit || sent > allowed()) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        continue;
      }
      const body = bodies.next();
      if (body.done === true) return;
      sent += batchSize;
      const answer = await client.post(Buffer.from(body.value));
      const errors = answer.match(/"error":\{[^}]*\}/g) ?? [];
      refused += errors.length;
      firstRefusal ??= errors[0];
    }
  }

  const watch = watchBlocks(client, 50, ({ transactions }) => {
    mined += transactions;
  });
  await Promise.all(Array.from({ length: CONNECTIONS }, keepSending));
  await watch.stop();
  client.close();
  return { sent, refused, firstRefusal };
}
