import { type AttackedNode, type CallerAttack, httpRequest, keepAsking } from "./callerAttack.ts";
import type { HonestCalls } from "./honestThread.ts";

const CALLERS = 10;
/** PUSH1, JUMPDEST and JUMP in a loop: 5 s a call. */
const ENDLESS = { data: "0x5b600056", gas: "0x7fffffffffffffff" };
/** Init code that returns nothing, which does not run inline. */
const SMALL = { data: "0x5f5ff3" };
const SMALL_CALLS: HonestCalls = {
  periodMs: 50,
  calls: [
    ["eth_call", [SMALL, "latest"]],
    ["eth_estimateGas", [SMALL]],
    ["debug_traceCall", [SMALL, "latest"]],
  ],
};

/** Ten addresses send endless calls and traces, each one after the other, while small calls, estimates and traces are timed. */
export const endlessCalls: CallerAttack = {
  name: "endless calls of ten addresses",
  options: ["--rpc-http-api=ETH,DEBUG"],
  honestCalls: SMALL_CALLS,
  prepare: async (node) => (isOver) => attack(node, (at) => `127.0.0.${2 + at}`, isOver),
};

/** The same from one address, as behind one proxy. */
export const endlessCallsOfOneAddress: CallerAttack = {
  name: "endless calls of ten connections of one address",
  options: ["--rpc-http-api=ETH,DEBUG"],
  honestCalls: SMALL_CALLS,
  prepare: async (node) => (isOver) => attack(node, () => "127.0.0.1", isOver),
};

async function attack(
  node: AttackedNode,
  addressOf: (at: number) => string,
  isOver: () => boolean,
): Promise<void> {
  const requests = [
    httpRequest("eth_call", [ENDLESS, "latest"]),
    httpRequest("debug_traceCall", [ENDLESS, "latest", { disableStack: true, disableStorage: true }]),
  ];
  await Promise.all(
    requests.flatMap((request) =>
      Array.from({ length: CALLERS }, (_, at) => keepAsking(node, addressOf(at), () => request, isOver)),
    ),
  );
}
