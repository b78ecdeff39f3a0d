import { WebSocket } from "ws";
import { pause } from "../../pause.ts";
import {
  type AttackedNode,
  type CallerAttack,
  httpPost,
  keepAsking,
  noteRefusals,
  untilOver,
} from "./callerAttack.ts";

const ATTACKER = "127.0.0.2";
const FILTERS_A_BATCH = 1000;
const FILTER_CALLERS = 10;
/** Each with 10,000 addresses, the most that one may name: more of them than a node takes of all. */
const SUBSCRIPTIONS = 40;
const ADDRESSES = 10_000;

/** One address takes as many filters and criteria of subscriptions as it gets, while an honest caller makes filters and subscribes. */
export const allFilters: CallerAttack = {
  name: "all filters and subscriptions of one address",
  options: ["--rpc-http-api=ETH", "--rpc-ws-api=ETH", "--rpc-ws-enabled"],
  honestCalls: {
    periodMs: 500,
    calls: [
      ["eth_newBlockFilter", []],
      ["eth_newFilter", [{ fromBlock: "latest" }]],
    ],
  },
  prepare: async (node) => async (isOver) => {
    const batch = httpPost(
      JSON.stringify(
        Array.from({ length: FILTERS_A_BATCH }, (_, id) => ({
          jsonrpc: "2.0",
          id,
          method: "eth_newBlockFilter",
          params: [],
        })),
      ),
    );
    await Promise.all([
      ...Array.from({ length: FILTER_CALLERS }, () => keepAsking(node, ATTACKER, () => batch, isOver)),
      takeCriteria(node, isOver),
      subscribeHonestly(node, isOver),
    ]);
  },
};

async function takeCriteria({ wsPort, tally }: AttackedNode, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const socket = open(wsPort, ATTACKER);
    socket.on("message", (data: Buffer) => noteRefusals(tally, data.toString("latin1")));
    socket.once("open", () => {
      for (let id = 0; id < SUBSCRIPTIONS; id++) socket.send(logSubscription(id));
    });
    while (!isOver() && socket.readyState !== WebSocket.CLOSED) await pause(50);
    socket.terminate();
  }
}

/** A subscription to logs must be accepted, and heads must come to one that was there before. */
async function subscribeHonestly({ wsPort, tally }: AttackedNode, isOver: () => boolean): Promise<void> {
  const heads = open(wsPort, "127.0.0.1");
  heads.on("message", (data: Buffer) => {
    if (data.includes("eth_subscription")) tally.note("heads that the honest subscriber heard of");
  });
  heads.once("open", () =>
    heads.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params: ["newHeads"] })),
  );
  while (!isOver()) {
    await pause(1000);
    const socket = open(wsPort, "127.0.0.1");
    socket.once("message", (data: Buffer) =>
      tally.note(`honest subscriptions ${data.includes('"result"') ? "made" : "refused"}`),
    );
    socket.once("open", () => socket.send(logSubscription(1, 1)));
    void pause(5000).then(() => socket.terminate());
  }
  await untilOver(isOver);
  heads.terminate();
}

function logSubscription(id: number, count = ADDRESSES): string {
  const address = Array.from(
    { length: count },
    (_, index) => `0x${(id * ADDRESSES + index + 1).toString(16).padStart(40, "0")}`,
  );
  return JSON.stringify({ jsonrpc: "2.0", id, method: "eth_subscribe", params: ["logs", { address }] });
}

function open(wsPort: number, localAddress: string): WebSocket {
  const socket = new WebSocket(`ws://127.0.0.1:${wsPort}/`, { localAddress, perMessageDeflate: false });
  socket.on("error", () => undefined);
  return socket;
}
