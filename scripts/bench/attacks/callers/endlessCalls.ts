import { createRpcClient } from "../../httpClient.ts";
import { pause } from "../../pause.ts";
import { atQuantile } from "../../report.ts";
import { type AttackedNode, type CallerAttack, connectFrom, httpRequest } from "./callerAttack.ts";

const CALLERS = 10;
/** PUSH1, JUMPDEST and JUMP in a loop: 5 s a call. */
const ENDLESS = { data: "0x5b600056", gas: "0x7fffffffffffffff" };
/** Init code that returns nothing, which does not run inline. */
const SMALL = { data: "0x5f5ff3" };
const PERIOD_MS = 100;

/** Ten addresses send endless calls, each one after the other, while small calls, estimates and traces are timed. */
export const endlessCalls: CallerAttack = {
  name: "endless calls of ten addresses",
  options: ["--rpc-http-api=ETH,DEBUG"],
  prepare: async (node) => (isOver) => attackAndMeasure(node, (at) => `127.0.0.${2 + at}`, isOver),
};

/** The same from one address, as behind one proxy. */
export const endlessCallsOfOneAddress: CallerAttack = {
  name: "endless calls of ten connections of one address",
  options: ["--rpc-http-api=ETH,DEBUG"],
  prepare: async (node) => (isOver) => attackAndMeasure(node, () => "127.0.0.1", isOver),
};

async function attackAndMeasure(
  { port }: AttackedNode,
  addressOf: (at: number) => string,
  isOver: () => boolean,
): Promise<void> {
  const requests = [
    httpRequest("eth_call", [ENDLESS, "latest"]),
    httpRequest("debug_traceCall", [ENDLESS, "latest", { disableStack: true, disableStorage: true }]),
  ];
  const sockets = requests.flatMap((request) =>
    Array.from({ length: CALLERS }, (_, at) => keepAsking(port, addressOf(at), request, isOver)),
  );
  const small: readonly (readonly [string, readonly unknown[]])[] = [
    ["eth_call", [SMALL, "latest"]],
    ["eth_estimateGas", [SMALL]],
    ["debug_traceCall", [SMALL, "latest"]],
  ];
  await pause(1000);
  await Promise.all(small.map(([method, params]) => measure(port, method, params, isOver)));
  await Promise.all(sockets);
}

async function measure(
  port: number,
  method: string,
  params: readonly unknown[],
  isOver: () => boolean,
): Promise<void> {
  const client = createRpcClient(port, 1);
  const times: number[] = [];
  while (!isOver()) {
    const begunMs = performance.now();
    await Promise.race([client.call(method, params), untilOver(isOver)]);
    times.push(performance.now() - begunMs);
    await pause(PERIOD_MS);
  }
  client.close();
  const seconds = (quantile: number): string => (atQuantile(times, quantile) / 1000).toFixed(3);
  console.log(`small ${method}: p95 ${seconds(0.95)} s, longest ${seconds(1)} s of ${times.length}`);
}

async function keepAsking(port: number, from: string, request: string, isOver: () => boolean): Promise<void> {
  const socket = connectFrom(from, port);
  socket.on("data", (data) => {
    if (data.includes("HTTP/1.1")) socket.write(request);
  });
  socket.write(request);
  await untilOver(isOver);
  socket.destroy();
}

async function untilOver(isOver: () => boolean): Promise<void> {
  while (!isOver()) await pause(50);
}
