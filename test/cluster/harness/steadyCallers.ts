import { Agent, request } from "node:http";
import WebSocket from "ws";
import { toHex } from "../../../src/primitives/hex.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import type { TestAccount } from "../../builders/testAccounts.ts";
import { pause } from "./nodeProcess.ts";
import type { ProxyProcess } from "./proxyProcess.ts";
import { CHAIN_ID } from "./validatorNetwork.ts";

/** Callers of a proxy that ask one thing after another, each from an address of its own, and what they found. */
export interface SteadyCallers {
  readonly found: Findings;
  /** Ends after the answers to what is asked now. */
  stop(): Promise<void>;
}

export interface Findings {
  answers: number;
  /** Requests without a result. */
  readonly failures: string[];
  /** Heads that were older than one that the same caller had seen before: how many blocks. */
  readonly older: number[];
  /** Questions for what a filter found that were answered. */
  filtersKept: number;
  /** Filters that the node of a later request did not know. */
  filtersLost: number;
  /** WebSockets that were closed. */
  reconnections: number;
  slowestMs: number;
  /** Transactions that were sent, each one mined before the next one. */
  mined: number;
  /** Sends that were repeated, because there was no receipt after a while. */
  sentAgain: number;
}

const BETWEEN_MS = 40;
/** A transaction that only the lost node had. */
const SENT_AGAIN_AFTER_MS = 6_000;

export function startCallers(
  { httpPort, wsPort }: ProxyProcess,
  counts: { readonly http: number; readonly filters: number; readonly webSocket: number },
  /** Of transactions without a fee or a value. */
  sender: TestAccount,
): SteadyCallers {
  const found: Findings = {
    answers: 0,
    failures: [],
    older: [],
    filtersKept: 0,
    filtersLost: 0,
    reconnections: 0,
    slowestMs: 0,
    mined: 0,
    sentAgain: 0,
  };
  const isStopped = { now: false };
  const running: Promise<void>[] = [];
  for (let index = 0; index < counts.http; index++)
    running.push(askOverHttp(httpPort, `127.0.1.${index + 1}`, found, isStopped));
  for (let index = 0; index < counts.webSocket; index++)
    running.push(askOverWebSocket(wsPort, `127.0.2.${index + 1}`, found, isStopped));
  for (let index = 0; index < counts.filters; index++)
    running.push(askFilter(httpPort, `127.0.3.${index + 1}`, found, isStopped));
  running.push(sendTransactions({ port: httpPort, from: "127.0.4.1", sender }, found, isStopped));
  return {
    found,
    async stop() {
      isStopped.now = true;
      await Promise.all(running);
    },
  };
}

interface Flag {
  now: boolean;
}

/** Notes a head that is older than what its caller has seen. */
function createHeadWatch(found: Findings): (number: string) => void {
  let newest = 0;
  return (number) => {
    const height = Number(number);
    if (height < newest) found.older.push(newest - height);
    else newest = height;
  };
}

async function askOverHttp(port: number, from: string, found: Findings, isStopped: Flag): Promise<void> {
  const caller = createHttpCaller(port, from, found);
  const see = createHeadWatch(found);
  const askHead = async (turn: number): Promise<string | undefined> => {
    if (turn % 2 === 0) return caller.ask<string>("eth_blockNumber", []);
    return (await caller.ask<{ number: string }>("eth_getBlockByNumber", ["latest", false]))?.number;
  };
  for (let turn = 0; !isStopped.now; turn++) {
    const number = await askHead(turn);
    if (number !== undefined) see(number);
    await pause(BETWEEN_MS);
  }
  caller.close();
}

/** Asks a filter for new blocks, on a new connection each time, and makes another one when a node does not know it. */
async function askFilter(port: number, from: string, found: Findings, isStopped: Flag): Promise<void> {
  let filter: string | undefined;
  while (!isStopped.now) {
    const caller = createHttpCaller(port, from, found);
    filter ??= await caller.ask<string>("eth_newBlockFilter", []);
    const changes = await caller.ask<string[]>("eth_getFilterChanges", [filter], FILTER_UNKNOWN);
    if (changes === undefined) {
      found.filtersLost++;
      filter = undefined;
    } else found.filtersKept++;
    caller.close();
    await pause(BETWEEN_MS * 5);
  }
}

const FILTER_UNKNOWN = /Filter not found/;

/** Sends one transaction after another, as wallets do: the nonce with "pending", then the receipt. */
async function sendTransactions(
  { port, from, sender }: { readonly port: number; readonly from: string; readonly sender: TestAccount },
  found: Findings,
  isStopped: Flag,
): Promise<void> {
  const caller = createHttpCaller(port, from, found);
  const address = toHex(sender.address);
  let nonce = BigInt((await caller.ask<string>("eth_getTransactionCount", [address, "latest"])) ?? 0);
  while (!isStopped.now) {
    const pending = await caller.ask<string>("eth_getTransactionCount", [address, "pending"]);
    // All are mined, so a lower one is that of an older block.
    if (pending !== undefined && BigInt(pending) < nonce) found.older.push(Number(nonce - BigInt(pending)));
    const { hash, raw } = aTransaction({
      ...{ chainId: CHAIN_ID, nonce, gasPrice: 0n, value: 0n },
      privateKey: sender.privateKey,
    });
    await sendUntilMined(caller, toHex(raw), toHex(hash), found);
    nonce++;
    found.mined++;
  }
  caller.close();
}

async function sendUntilMined(caller: HttpCaller, raw: string, hash: string, found: Findings): Promise<void> {
  for (;;) {
    await caller.ask("eth_sendRawTransaction", [raw], KNOWN_ALREADY);
    for (const sinceMs = Date.now(); Date.now() - sinceMs < SENT_AGAIN_AFTER_MS; ) {
      if ((await caller.ask<object | null>("eth_getTransactionReceipt", [hash])) != null) return;
      await pause(BETWEEN_MS);
    }
    found.sentAgain++;
  }
}

/** What a node answers to a send that came to it before; a client takes it for a success, because it knows the hash. */
const KNOWN_ALREADY = /Known transaction|Nonce too low/;

interface HttpCaller {
  /** Undefined after a failure, which is noted. */
  ask<T>(method: string, params: readonly unknown[], expectedError?: RegExp): Promise<T | undefined>;
  close(): void;
}

function createHttpCaller(port: number, localAddress: string, found: Findings): HttpCaller {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    async ask<T>(method: string, params: readonly unknown[], expectedError?: RegExp) {
      const sinceMs = Date.now();
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      try {
        const { status, text } = await post({ port, localAddress, agent }, body);
        if (status !== 200) throw new Error(`status ${status}: ${text.slice(0, 100)}`);
        const { result, error } = JSON.parse(text) as { result?: T; error?: { message: string } };
        if (error !== undefined && expectedError?.test(error.message) !== true)
          throw new Error(error.message);
        found.answers++;
        return result;
      } catch (error) {
        found.failures.push(`${method} after ${Date.now() - sinceMs} ms: ${(error as Error).message}`);
        return undefined;
      } finally {
        found.slowestMs = Math.max(found.slowestMs, Date.now() - sinceMs);
      }
    },
    close: () => agent.destroy(),
  };
}

function post(
  place: { readonly port: number; readonly localAddress: string; readonly agent: Agent },
  body: string,
): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sent = request({ ...place, host: "127.0.0.1", method: "POST", headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode, text }));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Subscribes to heads and asks for them; connects again when the connection is closed, and asks again. */
async function askOverWebSocket(port: number, from: string, found: Findings, isStopped: Flag): Promise<void> {
  const see = createHeadWatch(found);
  while (!isStopped.now) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, { localAddress: from });
    let isRefused = false;
    socket.on("error", (error) => {
      isRefused = socket.readyState === WebSocket.CONNECTING || isRefused;
      if (isRefused) found.failures.push(`WebSocket: ${error.message}`);
    });
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as WebSocketMessage;
      found.answers++;
      if (message.params !== undefined) see(message.params.result.number);
      else if (message.id === ASKED_HEAD) see(message.result);
    });
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.once("open", () => {
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 0, method: "eth_subscribe", params: ["newHeads"] }));
    });
    const asking = setInterval(() => {
      if (isStopped.now) socket.close();
      else if (socket.readyState === WebSocket.OPEN)
        socket.send(
          JSON.stringify({ jsonrpc: "2.0", id: ASKED_HEAD, method: "eth_blockNumber", params: [] }),
        );
    }, 100);
    await closed;
    clearInterval(asking);
    if (!isStopped.now) found.reconnections++;
    await pause(BETWEEN_MS);
  }
}

const ASKED_HEAD = 1;

interface WebSocketMessage {
  readonly id?: number;
  readonly result: string;
  readonly params?: { readonly result: { readonly number: string } };
}
