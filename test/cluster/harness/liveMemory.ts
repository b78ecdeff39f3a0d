import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import WebSocket from "ws";
import { type NodeProcess, until } from "./nodeProcess.ts";

/** Memory of a process after a garbage collection; without one, a busy process varies by 100 MB. */
export interface LiveMemory {
  /** Of JavaScript objects, on all threads. */
  readonly heapMb: number;
  /** Of the whole process; undefined on systems without /proc. */
  readonly residentMb: number | undefined;
}

/** Options of startNodeProcess that open the debugger of Node.js, which can trigger a garbage collection. */
export const MEASURABLE = { runtimeOptions: ["--inspect=127.0.0.1:0"] };

/** Measures a node that was started MEASURABLE. */
export async function liveMemoryOf(node: NodeProcess): Promise<LiveMemory> {
  const { output } = node;
  const url = await until(async () => /ws:\/\/127\S+/.exec(output())?.[0], "the debugger's address");
  const socket = new WebSocket(url);
  await once(socket, "open");
  const main: Target = { send: (message) => socket.send(message), socket, ended: new Set() };
  const threads = await threadsOf(main);
  let usedSize = 0;
  for (const target of [main, ...threads]) {
    await ask(target, "HeapProfiler.collectGarbage");
    const usage = (await ask(target, "Runtime.getHeapUsage")) as { usedSize: number } | undefined;
    usedSize += usage?.usedSize ?? 0;
  }
  socket.terminate();
  return { heapMb: usedSize / 2 ** 20, residentMb: residentMbOf(node) };
}

/** What answers the messages of the debugger's protocol: the main thread, or one of the others through it. */
interface Target {
  readonly socket: WebSocket;
  readonly session?: string;
  /** Sessions of threads that have ended: an index that is built, the database that is verified. They answer no more. */
  readonly ended: Set<string>;
  send(message: string): void;
}

/** The other threads, as the debugger names them when it is told to attach to them. */
async function threadsOf(main: Target): Promise<readonly Target[]> {
  const { socket, ended } = main;
  const sessions = new Set<string>();
  socket.on("message", (data: Buffer) => {
    const { method, params } = JSON.parse(data.toString("utf8")) as Notice;
    if (method === "NodeWorker.attachedToWorker") sessions.add(params?.sessionId ?? "");
    if (method === "NodeWorker.detachedFromWorker") ended.add(params?.sessionId ?? "");
  });
  await ask(main, "NodeWorker.enable", { waitForDebuggerOnStart: false });
  return [...sessions].map((session) => ({
    socket,
    session,
    ended,
    send: (message) =>
      socket.send(
        JSON.stringify({
          id: ++lastId,
          method: "NodeWorker.sendMessageToWorker",
          params: { sessionId: session, message },
        }),
      ),
  }));
}

interface Notice {
  readonly id?: number;
  readonly result?: unknown;
  readonly method?: string;
  readonly params?: { readonly sessionId?: string; readonly message?: string };
}

let lastId = 0;

/** Resident memory of the whole process, with garbage; undefined on systems without /proc. */
export function residentMbOf({ child }: NodeProcess): number | undefined {
  const file = `/proc/${child.pid}/status`;
  if (!existsSync(file)) return undefined;
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(file, "utf8"))?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
}

/** The answer, or undefined from a thread that has ended, also while it is asked. */
function ask(target: Target, method: string, params: object = {}): Promise<unknown> {
  const { socket, session, ended } = target;
  const id = ++lastId;
  return new Promise((resolve, reject) => {
    const settle = (value: unknown): void => {
      socket.off("message", onMessage);
      socket.off("error", reject);
      socket.off("close", onClose);
      resolve(value);
    };
    const onClose = (): void => reject(new Error(`the debugger closed the connection before ${method}`));
    const onMessage = (data: Buffer): void => {
      // The listener of threadsOf has heard of this message before.
      if (session !== undefined && ended.has(session)) {
        settle(undefined);
        return;
      }
      const notice = JSON.parse(data.toString("utf8")) as Notice;
      const { method: told, params: details } = notice;
      const isThreads = told === "NodeWorker.receivedMessageFromWorker" && details?.sessionId === session;
      const answer =
        session === undefined
          ? notice
          : isThreads
            ? (JSON.parse(details?.message ?? "{}") as Notice)
            : undefined;
      if (answer?.id === id) settle(answer.result);
    };
    socket.on("message", onMessage);
    socket.on("error", reject);
    socket.on("close", onClose);
    target.send(JSON.stringify({ id, method, params }));
  });
}
