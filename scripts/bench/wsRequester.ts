import { WebSocket } from "ws";
import type { BenchRequester } from "./httpRequester.ts";

/** A requester over WebSocket. */
export function openWsRequester(port: number): Promise<BenchRequester> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { perMessageDeflate: false });
    let waiting: { resolve(answer: string): void; reject(error: Error): void } | undefined;
    socket.on("message", (data: Buffer) => waiting?.resolve(data.toString("latin1")));
    socket.on("error", reject);
    socket.on("close", () => waiting?.reject(new Error("the node closed the connection")));
    socket.once("open", () =>
      resolve({
        ask: (body) =>
          new Promise((answered, failed) => {
            waiting = { resolve: answered, reject: failed };
            socket.send(body);
          }),
        close: () => {
          waiting = undefined;
          socket.terminate();
        },
      }),
    );
  });
}
