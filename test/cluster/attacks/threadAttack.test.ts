import { once } from "node:events";
import net from "node:net";
import { describe, expect } from "vitest";
import WebSocket from "ws";
import { toHex } from "../../../src/primitives/hex.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { itIfThorough } from "../../thorough.ts";
import { logOf, pause, until } from "../harness/nodeProcess.ts";
import { OwnTime } from "../harness/ownTime.ts";
import { Client, startThreadedNode, type ThreadedNode } from "../harness/threadedNode.ts";

/**
 * Callers on all threads who leave their answers unread, subscribe without end, and open and close connections at every stage of a
 * request, while threads end and stand still. What they held is free when they are gone, and blocks were made as long as the node had
 * time for them.
 */

const THREADS = 3;
const ATTACK_MS = 9_000;
/** Bytes in each of some transactions, so that a batch of blocks is a large answer. */
const PADDING = 100_000;
const BLOCKS_OF_BATCH = 200;

const call = (method: string, ...params: readonly unknown[]): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
const post = (body: string): string =>
  `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** A batch whose answer is of some 40 MB. */
let largeBatch = "";

type Attack = (node: ThreadedNode, isOver: () => boolean) => Promise<void>;

/** Asks for large answers over HTTP, and reads none of them. */
const neverReads: Attack = async (node, isOver) => {
  while (!isOver()) {
    const socket = net.connect(node.httpPort, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.pause();
    socket.write(post(largeBatch));
    await pause(2000);
    socket.destroy();
  }
};

/** The same over WebSocket. */
const neverReadsFrames: Attack = async (node, isOver) => {
  while (!isOver()) {
    const socket = new WebSocket(node.wsUrl);
    socket.on("error", () => undefined);
    if (await opens(socket)) {
      socket.pause();
      for (let count = 0; count < 4; count++) socket.send(largeBatch);
      await pause(2000);
    }
    socket.terminate();
  }
};

/** Subscribes to everything as often as it may, and leaves. */
const subscribes: Attack = async (node, isOver) => {
  const addresses = Array.from({ length: 500 }, (_, index) => `0x${index.toString(16).padStart(40, "0")}`);
  while (!isOver()) {
    const socket = new WebSocket(node.wsUrl);
    socket.on("error", () => undefined);
    if (await opens(socket)) {
      for (let count = 0; count < 50; count++) {
        socket.send(call("eth_subscribe", "logs", { address: addresses }));
        for (const kind of ["newHeads", "newPendingTransactions", "droppedPendingTransactions", "syncing"])
          socket.send(call("eth_subscribe", kind));
        if (socket.readyState !== WebSocket.OPEN) break;
      }
      await pause(500);
    }
    socket.terminate();
  }
};

/** Opens connections and closes them after nothing, half a request, or a request whose answer nobody waits for. */
const opensAndCloses: Attack = async (node, isOver) => {
  const { raw } = aTransaction({ nonce: 1_000_000n, privateKey: account(4).privateKey });
  const request = post(call("eth_getTransactionCount", toHex(account(0).address), "pending"));
  const sent = [
    "",
    request.slice(0, 30),
    request.slice(0, -10),
    request,
    post(call("eth_sendRawTransaction", toHex(raw))),
    post(call("eth_getLogs", { fromBlock: "0x0", toBlock: "latest" })),
    post(call("debug_traceBlockByNumber", "latest")),
    post(call("web3_sha3", `0x${"0".repeat(200_000)}`)),
    post(call("eth_newFilter", {})),
  ];
  for (let round = 0; !isOver(); round++) {
    const socket = net.connect(round % 4 === 0 ? node.wsPort : node.httpPort, "127.0.0.1");
    socket.on("error", () => undefined);
    const text = sent[round % sent.length] ?? "";
    if (text !== "") socket.write(text);
    await pause(round % 3 === 0 ? 2 : 20);
    socket.destroy();
  }
};

/** Ends one thread after another, and holds others up. */
const endsThreads: Attack = async (node, isOver) => {
  for (let round = 0; !isOver(); round++) {
    await pause(2000);
    if (round % 2 === 0) node.endThread(round % THREADS);
    else node.holdThread(round % THREADS, 1500);
  }
};

async function opens(socket: WebSocket): Promise<boolean> {
  return Promise.race([once(socket, "open").then(() => true), once(socket, "close").then(() => false)]).catch(
    () => false,
  );
}

const ATTACKS: readonly (readonly [attack: Attack, callers: number])[] = [
  [neverReads, 8],
  [neverReadsFrames, 8],
  [subscribes, 6],
  [opensAndCloses, 16],
  [endsThreads, 1],
];

/** Makes some large transactions, and the batch that asks for their block again and again. */
async function prepare(node: ThreadedNode): Promise<void> {
  const data = new Uint8Array(PADDING);
  const { raw } = aTransaction({ nonce: 0n, data, gasLimit: 2_000_000n, privateKey: account(5).privateKey });
  const hash = await node.rpc<string>("eth_sendRawTransaction", [toHex(raw)]);
  const receipt = await until(
    async () =>
      (await node.rpc<{ blockNumber: string } | null>("eth_getTransactionReceipt", [hash])) ?? undefined,
    "the receipt",
  );
  const one = { jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber", params: [receipt.blockNumber, true] };
  largeBatch = JSON.stringify(Array.from({ length: BLOCKS_OF_BATCH }, () => one));
}

describe("hostile callers on all threads", () => {
  itIfThorough("hold nothing when they are gone, and no block waits for them", async () => {
    const node = await startThreadedNode(THREADS, [
      "--rpc-http-api=ETH,NET,WEB3,DEBUG,TXPOOL",
      "--rpc-max-connections-per-address=1000",
    ]);
    await prepare(node);
    const own = new OwnTime(node);
    const endsAtMs = Date.now() + ATTACK_MS;
    const isOver = (): boolean => Date.now() > endsAtMs;
    const before = Number(await node.rpc<string>("eth_blockNumber"));
    await Promise.all(
      ATTACKS.flatMap(([attack, callers]) => Array.from({ length: callers }, () => attack(node, isOver))),
    );
    const least = own.leastBlocks();
    await until(
      async () => (Object.keys(await node.held()).length === 0 ? true : undefined),
      "counters that are all zero",
    );
    const clients = Array.from({ length: 30 }, () => new Client(node.httpPort));
    const numbers = await Promise.all(clients.map((client) => client.ask<string>("eth_blockNumber")));
    expect(Math.min(...numbers.map(Number))).toBeGreaterThanOrEqual(before + least);
    for (const client of clients) client.close();
    // No thread ended but those that the test ended.
    const ended = logOf(node).filter(({ message }) => message.startsWith("an RPC worker thread exited"));
    expect(ended.length).toBeGreaterThan(0);
    expect(JSON.stringify(ended)).not.toContain("OUT_OF_MEMORY");
    expect(await node.stop()).toBe(0);
  });
});
