import { mkdirSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { toHex } from "../../src/primitives/hex.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { account } from "../builders/testAccounts.ts";
import { IN_REAL_TIME } from "../realTime.ts";
import { logOf, type NodeProcess, pause, startNodeProcess, temporaryFolder, until } from "./nodeProcess.ts";

const THREADS = 3;
const CLIENTS = 12;
const SENDER = toHex(account(0).address);

/** A client with a connection of its own, which is opened again when it breaks. */
class Client {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });
  private readonly port: number;
  /** Connections that broke. */
  broken = 0;

  constructor(port: number) {
    this.port = port;
  }

  /** The result; asks again when the connection breaks. */
  async ask<T>(method: string, ...params: readonly unknown[]): Promise<T> {
    for (;;) {
      const text = await this.post(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })).catch(
        () => undefined,
      );
      if (text !== undefined) {
        const answer = JSON.parse(text) as { result?: T; error?: { message: string } };
        if (answer.error !== undefined) throw new Error(answer.error.message);
        return answer.result as T;
      }
      this.broken++;
      if (this.broken > 50) throw new Error("the port is closed");
    }
  }

  close(): void {
    this.agent.destroy();
  }

  private post(body: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        { host: "127.0.0.1", port: this.port, method: "POST", agent: this.agent, timeout: 10_000 },
        (incoming) => {
          let text = "";
          incoming.on("data", (piece: Buffer) => {
            text += piece.toString();
          });
          incoming.on("end", () => resolve(text));
          incoming.on("error", reject);
        },
      );
      outgoing.on("error", reject);
      outgoing.on("timeout", () => outgoing.destroy(new Error("no answer")));
      outgoing.end(body);
    });
  }
}

/** A subscriber over WebSocket, which connects again when its connection breaks. */
class Subscriber {
  readonly heads: number[] = [];
  readonly pending: string[] = [];
  private readonly url: string;
  private socket: WebSocket | undefined;
  private answer: ((text: string) => void) | undefined;
  private isClosed = false;
  broken = 0;

  constructor(url: string) {
    this.url = url;
  }

  /** Resolves when it has its subscriptions. */
  async connect(): Promise<void> {
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.on("error", () => undefined);
    socket.once("close", () => {
      if (this.isClosed) return;
      this.broken++;
      setTimeout(() => void this.connect(), 20);
    });
    socket.on("message", (data: Buffer) => this.receive(data.toString()));
    await new Promise((resolve) => socket.once("open", resolve));
    for (const kind of ["newHeads", "newPendingTransactions"]) await this.ask("eth_subscribe", kind);
  }

  async ask<T>(method: string, ...params: readonly unknown[]): Promise<T> {
    const text = await new Promise<string>((resolve) => {
      this.answer = resolve;
      this.socket?.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
    });
    return (JSON.parse(text) as { result: T }).result;
  }

  close(): void {
    this.isClosed = true;
    this.socket?.close();
  }

  private receive(text: string): void {
    if (!text.includes('"eth_subscription"')) {
      this.answer?.(text);
      return;
    }
    const { result } = (JSON.parse(text) as { params: { result: string | { number: string } } }).params;
    if (typeof result === "string") this.pending.push(result);
    else this.heads.push(Number(result.number));
  }
}

let node: NodeProcess;
let flags: string;
let clients: readonly Client[];
let subscribers: readonly Subscriber[];

beforeAll(async () => {
  flags = temporaryFolder();
  mkdirSync(flags, { recursive: true });
  node = await startNodeProcess({
    options: [`--rpc-threads=${THREADS}`, "--rpc-http-apis=ETH,NET,WEB3,MINER,TXPOOL"],
    runtimeOptions: ["--import", endingThreads(flags)],
  });
  clients = Array.from({ length: CLIENTS }, () => new Client(node.httpPort));
  subscribers = Array.from({ length: CLIENTS }, () => new Subscriber(node.wsUrl));
  await Promise.all(subscribers.map((subscriber) => subscriber.connect()));
}, 60_000);

/** Code that ends the thread for callers with a number when a file of that name appears. */
function endingThreads(folder: string): string {
  const code = `
    import { isMainThread, parentPort } from "node:worker_threads";
    import { existsSync, rmSync } from "node:fs";
    if (!isMainThread)
      parentPort.once("message", ({ kind, data }) => {
        if (kind !== "open") return;
        setInterval(() => {
          const flag = ${JSON.stringify(folder)} + "/" + data.index;
          if (existsSync(flag)) { rmSync(flag); process.exit(7); }
        }, 10);
      });`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

function endThread(index: number): void {
  writeFileSync(join(flags, `${index}`), "");
}

/** Asks for the head on one connection after another; none may be older than one that any has shown before. */
async function watchHeads(client: Client, shown: { newest: number }, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const atLeast = shown.newest;
    const number = Number(await client.ask<string>("eth_blockNumber"));
    expect(number).toBeGreaterThanOrEqual(atLeast);
    shown.newest = Math.max(shown.newest, number);
    const block = await client.ask<{ number: string }>("eth_getBlockByNumber", "latest", false);
    expect(Number(block.number)).toBeGreaterThanOrEqual(number);
    shown.newest = Math.max(shown.newest, Number(block.number));
    await pause(1);
  }
}

/** Sends one transaction; at once each connection has it, and has its block as soon as one has its receipt. */
async function sendAndFollow(nonce: number): Promise<void> {
  const [first, ...others] = clients.map((_, index) => clients[(index + nonce) % CLIENTS]) as [
    Client,
    ...Client[],
  ];
  const { raw } = aTransaction({ nonce: BigInt(nonce) });
  const hash = await first.ask<string>("eth_sendRawTransaction", toHex(raw)).catch((error: Error) => {
    // Sent twice, because the connection broke before the answer came.
    if (error.message !== "Known transaction" && error.message !== "Nonce too low") throw error;
    return toHex(aTransaction({ nonce: BigInt(nonce) }).hash);
  });
  await Promise.all(
    others.map(async (client) => {
      expect(await client.ask("eth_getTransactionByHash", hash)).toMatchObject({ hash });
      const pending = await client.ask<string>("eth_getTransactionCount", SENDER, "pending");
      expect(Number(pending)).toBeGreaterThan(nonce);
    }),
  );
  const receipt = await until(
    async () =>
      (await first.ask<{ blockNumber: string; blockHash: string } | null>(
        "eth_getTransactionReceipt",
        hash,
      )) ?? undefined,
    30_000,
    "a receipt",
  );
  await Promise.all(
    others.map(async (client) => {
      const [block, again, count, mined] = await Promise.all([
        client.ask("eth_getBlockByNumber", receipt.blockNumber, false),
        client.ask("eth_getTransactionReceipt", hash),
        client.ask<string>("eth_getTransactionCount", SENDER, "latest"),
        client.ask("eth_getTransactionByHash", hash),
      ]);
      expect(block).toMatchObject({ hash: receipt.blockHash });
      expect(again).toMatchObject(receipt);
      expect(Number(count)).toBeGreaterThan(nonce);
      expect(mined).toMatchObject({ blockHash: receipt.blockHash });
    }),
  );
}

describe("JSON-RPC on threads", { ...IN_REAL_TIME, timeout: 120_000 }, () => {
  it("has one price floor, the last one set, on every connection at once", async () => {
    const [first] = clients;
    if (first === undefined) throw new Error();
    for (const price of ["0x3b9aca07", "0x0"]) {
      expect(await first.ask("miner_setMinGasPrice", price)).toBe(true);
      expect(await first.ask("miner_setMinPriorityFee", price)).toBe(true);
      const prices = await Promise.all(clients.map((client) => client.ask<string>("eth_gasPrice")));
      expect(prices.filter((told) => BigInt(told) < BigInt(price))).toEqual([]);
      expect(new Set(prices).size).toBe(1);
      const fees = await Promise.all(clients.map((client) => client.ask("eth_maxPriorityFeePerGas")));
      expect(new Set(fees)).toEqual(new Set([price]));
    }
  });

  it("answers logs, fees and what the pool has alike on every connection", async () => {
    const methods: [method: string, ...params: unknown[]][] = [
      ["eth_getLogs", { fromBlock: "0x0", toBlock: "latest" }],
      ["eth_getLogs", { fromBlock: "0x0", toBlock: "0x100" }],
      ["eth_feeHistory", "0x1", "0x0", [10, 50]],
      ["net_version"],
      ["web3_clientVersion"],
      ["txpool_besuTransactions"],
    ];
    for (const [method, ...params] of methods) {
      const answers = await Promise.all(clients.map((client) => client.ask(method, ...params)));
      expect(answers[0]).not.toBeNull();
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    }
    const statistics = await Promise.all(clients.map((client) => client.ask("txpool_besuStatistics")));
    expect(statistics[0]).toMatchObject({ localCount: 0 });
  });

  it("tells every subscriber of each pending transaction and of each head in order; no answer is older", async () => {
    const { raw, hash } = aTransaction({ nonce: 0n, privateKey: account(1).privateKey });
    const from = subscribers.map(({ heads }) => heads.length);
    expect(await clients[0]?.ask("eth_sendRawTransaction", toHex(raw))).toBe(toHex(hash));
    await Promise.all(
      subscribers.map(async (subscriber, index) => {
        await expect.poll(() => subscriber.pending).toEqual([toHex(hash)]);
        await expect.poll(() => subscriber.heads.length).toBeGreaterThanOrEqual((from[index] ?? 0) + 2);
        const newest = subscriber.heads.at(-1) ?? 0;
        expect(Number(await subscriber.ask("eth_blockNumber"))).toBeGreaterThanOrEqual(newest);
        const [first = 0, ...rest] = subscriber.heads.slice();
        expect(rest).toEqual(rest.map((_, after) => first + after + 1));
      }),
    );
    const ids = await Promise.all(subscribers.map((one) => one.ask<string>("eth_subscribe", "logs", {})));
    expect(new Set(ids).size).toBe(CLIENTS);
    const [one, another] = subscribers;
    expect(await another?.ask("eth_unsubscribe", ids[0])).toBeUndefined();
    expect(await one?.ask("eth_unsubscribe", ids[0])).toBe(true);
  });

  it("answers as one node on all connections, while its threads end one after the other", async () => {
    const shown = { newest: 0 };
    let isOver = false;
    const watching = clients.map((client) => watchHeads(client, shown, () => isOver));
    for (let nonce = 0; nonce < 6; nonce++) {
      if (nonce > 0 && nonce % 2 === 0) endThread((nonce / 2) % THREADS);
      await sendAndFollow(nonce);
    }
    endThread(0);
    await until(async () => (deaths() === 3 ? true : undefined), 10_000, "the end of three threads");
    const height = shown.newest;
    await until(async () => (shown.newest >= height + 2 ? true : undefined), 20_000, "two more blocks");
    isOver = true;
    await Promise.all(watching);
    expect(clients.some(({ broken }) => broken > 0)).toBe(true);
    // Those whose thread ended have subscribed again, and are told of the head.
    expect(subscribers.some(({ broken }) => broken > 0)).toBe(true);
    await Promise.all(
      subscribers.map((each) => expect.poll(() => each.heads.at(-1)).toBeGreaterThanOrEqual(shown.newest)),
    );
    for (const subscriber of subscribers) subscriber.close();
    for (const client of clients) client.close();
    expect(await node.stop()).toBe(0);
  });
});

function deaths(): number {
  return logOf(node).filter(({ message }) => message.startsWith("a thread for callers ended")).length;
}
