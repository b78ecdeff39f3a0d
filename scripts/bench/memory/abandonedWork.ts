import { WebSocket } from "ws";
import { watchBlocks } from "../blockWatch.ts";
import { createRpcClient, type RpcClient } from "../httpClient.ts";
import { pause } from "../pause.ts";
import { accounts, signDraft } from "../workload.ts";

/** What clients do to a node while its memory is watched. */
export interface WorkCounts {
  sent: number;
  mined: number;
  filters: number;
  sockets: number;
  queries: number;
  /** Refusals and failures of any kind, and the first. */
  errors: number;
  firstError?: string;
}

const SEND_EVERY_MS = 250;
const WATCH_EVERY_MS = 250;
/** Sent but unmined transactions. */
const MOST_WAITING = 2_000;
const FILTER_EVERY_MS = 500;
const SOCKET_EVERY_MS = 1600;
/** Thirty-seven at a time, fewer than a node serves. */
const SOCKET_STAYS_MS = 60_000;
const QUERY_EVERY_MS = 3000;
const QUERY_BLOCKS = 900;
const SUBSCRIPTIONS = [["newHeads"], ["newPendingTransactions"], ["logs", {}]];

/**
 * Clients that take and do not give back: `perSecond` transfers, each to a new account, two filters a second that nobody asks
 * again, a WebSocket with three subscriptions every 1.6 s that goes without a farewell, each third of which reads nothing
 * while it is there, and a log query of 900 blocks every 3 s.
 */
export async function workAndAbandon(
  ports: { readonly http: number; readonly ws: number },
  perSecond: number,
  isOver: () => boolean,
  counts: WorkCounts,
): Promise<void> {
  const client = createRpcClient(ports.http, 4);
  const every = async (intervalMs: number, work: () => Promise<unknown>): Promise<void> => {
    while (!isOver()) {
      await work().catch((error: unknown) => {
        counts.errors++;
        counts.firstError ??= String(error);
      });
      await pause(intervalMs);
    }
  };
  await Promise.all([
    sendTransfers(client, perSecond, isOver, counts),
    every(FILTER_EVERY_MS, async () => {
      counts.filters++;
      const [method, parameters] =
        counts.filters % 2 === 0 ? ["eth_newBlockFilter", []] : ["eth_newFilter", [{ fromBlock: "latest" }]];
      await client.call(method as string, parameters as unknown[]);
    }),
    every(SOCKET_EVERY_MS, async () => abandonSocket(ports.ws, counts)),
    every(QUERY_EVERY_MS, async () => {
      const head = Number(await client.call<string>("eth_blockNumber"));
      const fromBlock = `0x${Math.max(0, head - QUERY_BLOCKS + 1).toString(16)}`;
      await client.call("eth_getLogs", [{ fromBlock, toBlock: "latest" }]);
      counts.queries++;
    }),
  ]);
  client.close();
}

/**
 * Transfers from ten accounts in turn, each to an account that is new; they go on where the chain's nonces are. On a machine
 * too busy for `perSecond` fewer are sent, or the pool would be what fills.
 */
export async function sendTransfers(
  client: RpcClient,
  perSecond: number,
  isOver: () => boolean,
  counts: WorkCounts,
): Promise<void> {
  const nonces = (
    await client.batch<string>(
      accounts.map(({ address }) => ["eth_getTransactionCount", [address, "latest"]]),
    )
  ).map(Number);
  const watch = watchBlocks(client, WATCH_EVERY_MS, ({ transactions }) => {
    counts.mined += transactions;
  });
  let due = 0;
  let countedAtMs = Date.now();
  while (!isOver()) {
    due = Math.min(perSecond, due + ((Date.now() - countedAtMs) / 1000) * perSecond);
    countedAtMs = Date.now();
    const room = Math.max(0, MOST_WAITING - (counts.sent - counts.mined));
    const length = Math.min(room, Math.floor(due));
    due -= length;
    const calls = Array.from({ length }, () => {
      const sender = counts.sent % accounts.length;
      const account = accounts[sender];
      const nonce = nonces[sender];
      if (account === undefined || nonce === undefined) throw new Error("no such sender");
      nonces[sender] = nonce + 1;
      const to = `0x${(0x1_0000_0000 + counts.sent++).toString(16).padStart(40, "0")}` as const;
      return [
        "eth_sendRawTransaction",
        [signDraft({ to, value: 1n, gasLimit: 21_000n }, nonce, account.privateKey)],
      ] as const;
    });
    if (calls.length > 0)
      await client.batch(calls).catch((error: unknown) => {
        counts.errors++;
        counts.firstError ??= String(error);
      });
    await pause(SEND_EVERY_MS);
  }
  await watch.stop();
}

function abandonSocket(port: number, counts: WorkCounts): void {
  const number = counts.sockets++;
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { perMessageDeflate: false });
  socket.on("error", (error) => {
    counts.errors++;
    counts.firstError ??= String(error);
  });
  socket.on("open", () => {
    for (const [id, params] of SUBSCRIPTIONS.entries())
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, method: "eth_subscribe", params }));
    if (number % 3 === 0) socket.pause();
    setTimeout(() => socket.terminate(), SOCKET_STAYS_MS);
  });
}
