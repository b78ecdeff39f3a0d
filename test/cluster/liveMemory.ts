import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import WebSocket from "ws";
import { type NodeProcess, until } from "./nodeProcess.ts";

/** Memory of a process after a garbage collection; without one, a busy process varies by 100 MB. */
export interface LiveMemory {
  /** Of JavaScript objects on the main thread. */
  readonly heapMb: number;
  /** Of the whole process; undefined on systems without /proc. */
  readonly residentMb: number | undefined;
}

/** Options of startNodeProcess that open the debugger of Node.js, which can trigger a garbage collection. */
export const MEASURABLE = { runtimeOptions: ["--inspect=127.0.0.1:0"] };

/** Measures a node that was started MEASURABLE. */
export async function liveMemoryOf(node: NodeProcess): Promise<LiveMemory> {
  const { output } = node;
  const url = await until(async () => /ws:\/\/127\S+/.exec(output())?.[0], 5000, "the debugger's address");
  const socket = new WebSocket(url);
  await once(socket, "open");
  await ask(socket, 1, "HeapProfiler.collectGarbage");
  const { usedSize } = (await ask(socket, 2, "Runtime.getHeapUsage")) as { usedSize: number };
  socket.terminate();
  return { heapMb: usedSize / 2 ** 20, residentMb: residentMbOf(node) };
}

/** Resident memory of the whole process, with garbage; undefined on systems without /proc. */
export function residentMbOf({ child }: NodeProcess): number | undefined {
  const file = `/proc/${child.pid}/status`;
  if (!existsSync(file)) return undefined;
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(file, "utf8"))?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
}

function ask(socket: WebSocket, id: number, method: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onMessage = (data: Buffer): void => {
      const answer = JSON.parse(data.toString("utf8")) as { id?: number; result?: unknown };
      if (answer.id !== id) return;
      socket.off("message", onMessage);
      resolve(answer.result);
    };
    socket.on("message", onMessage);
    socket.on("error", reject);
    socket.send(JSON.stringify({ id, method }));
  });
}
