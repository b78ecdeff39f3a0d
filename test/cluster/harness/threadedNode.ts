import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import type { Socket } from "node:net";
import { join } from "node:path";
import WebSocket from "ws";
import { HANG_MS } from "../../hang.ts";
import {
  logOf,
  type NodeProcess,
  RpcFailure,
  startNodeProcess,
  temporaryFolder,
  until,
} from "./nodeProcess.ts";

/** A node whose threads for callers a test can end and hold up. */
export interface ThreadedNode extends NodeProcess {
  /** Ends the thread with this number, from 0, as a failure would. */
  endThread(index: number): void;
  /** Has the thread do nothing for so long, as in one long step. */
  holdThread(index: number, ms: number): void;
  /** Threads that ended up to now. */
  deaths(): number;
  /** What callers hold by the counters that all threads share, without those that are 0: sums over all threads. */
  held(): Promise<Readonly<Record<string, number>>>;
}

export async function startThreadedNode(
  threads: number,
  options: readonly string[] = [],
): Promise<ThreadedNode> {
  const flags = temporaryFolder();
  mkdirSync(flags, { recursive: true });
  const node = await startNodeProcess({
    options: [`--rpc-threads=${threads}`, ...options],
    runtimeOptions: ["--import", obeyingThreads(flags)],
  });
  const tell = (name: string, text: string): void => writeFileSync(join(flags, name), text);
  return Object.assign(node, {
    endThread: (index: number) => tell(`${index}.end`, ""),
    holdThread: (index: number, ms: number) => tell(`${index}.hold`, `${ms}`),
    held: async () => {
      const report = join(flags, "report");
      rmSync(report, { force: true });
      // Whichever thread sees it first.
      for (let index = 0; index < threads; index++) tell(`${index}.tell`, "");
      const text = await until(
        async () => (existsSync(report) ? readFileSync(report, "utf8") : undefined),
        "a report",
      );
      return heldBy(JSON.parse(text) as Counters, threads);
    },
    deaths: () =>
      logOf(node).filter(({ message }) => message.startsWith("an RPC worker thread exited")).length,
  });
}

/** Code by which a thread for callers ends, or stands still, when a file with its number appears. */
function obeyingThreads(folder: string): string {
  const code = `
    import { isMainThread, parentPort } from "node:worker_threads";
    import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
    // In other threads, a listener now would take the first message before theirs is there.
    if (!isMainThread && process.argv[1].includes("rpcWorker"))
      parentPort.once("message", ({ kind, data }) => {
        if (kind !== "open") return;
        const told = (what) => {
          const flag = ${JSON.stringify(folder)} + "/" + data.index + "." + what;
          if (!existsSync(flag)) return undefined;
          const text = readFileSync(flag, "utf8");
          rmSync(flag);
          return text;
        };
        setInterval(() => {
          if (told("end") !== undefined) process.exit(7);
          const ms = Number(told("hold") ?? 0);
          if (ms > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
          if (told("tell") !== undefined) {
            const { totals, ...hosts } = data.held;
            const numbers = ({ memory }) => [...new Int32Array(memory)];
            const counters = { totals: numbers(totals), hosts: {} };
            for (const name in hosts) counters.hosts[name] = numbers(hosts[name]);
            writeFileSync(${JSON.stringify(folder)} + "/part" + data.index, JSON.stringify(counters));
            renameSync(${JSON.stringify(folder)} + "/part" + data.index, ${JSON.stringify(folder)} + "/report");
          }
        }, 10);
      });`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

/** All numbers of the shared counters: for each thread the amounts, or the numbers of hosts. */
interface Counters {
  readonly totals: readonly number[];
  readonly hosts: Readonly<Record<string, readonly number[]>>;
}

function heldBy({ totals, hosts }: Counters, threads: number): Readonly<Record<string, number>> {
  const held: Record<string, number> = {};
  const amounts = totals.length / threads;
  // Absolute numbers, since one below zero is as wrong as one above.
  for (const [place, number] of totals.entries()) {
    const name = `amount ${place % amounts}`;
    if (number !== 0) held[name] = (held[name] ?? 0) + Math.abs(number);
  }
  for (const [name, numbers] of Object.entries(hosts)) {
    const sum = numbers.reduce((all, number) => all + Math.abs(number), 0);
    if (sum !== 0) held[name] = sum;
  }
  return held;
}

/** A client over HTTP with a connection of its own, which is opened again when it breaks. */
export class Client {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });
  private readonly port: number;
  private socket: Socket | undefined;
  /** Connections that broke, also between two requests. */
  broken = 0;

  constructor(port: number) {
    this.port = port;
  }

  /** The result; asks again when the connection breaks. */
  async ask<T>(method: string, ...params: readonly unknown[]): Promise<T> {
    for (let failures = 0; failures <= 50; failures++) {
      const text = await this.post(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })).catch(
        () => undefined,
      );
      if (text !== undefined) {
        const answer = JSON.parse(text) as { result?: T; error?: { code: number; message: string } };
        if (answer.error !== undefined) throw new RpcFailure(answer.error);
        return answer.result as T;
      }
    }
    throw new Error("the port is closed");
  }

  close(): void {
    this.agent.destroy();
  }

  private post(body: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        { host: "127.0.0.1", port: this.port, method: "POST", agent: this.agent, timeout: HANG_MS },
        (incoming) => {
          let text = "";
          incoming.on("data", (piece: Buffer) => {
            text += piece.toString();
          });
          incoming.on("end", () => resolve(text));
          incoming.on("error", reject);
        },
      );
      outgoing.on("socket", (socket) => this.watch(socket));
      outgoing.on("error", reject);
      outgoing.on("timeout", () => outgoing.destroy(new Error("no answer")));
      outgoing.end(body);
    });
  }

  private watch(socket: Socket): void {
    if (socket === this.socket) return;
    this.socket = socket;
    socket.once("close", () => {
      this.broken++;
    });
  }
}

/** A subscriber over WebSocket, which connects again when its connection breaks. */
export class Subscriber {
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
