import { once } from "node:events";
import { describe, expect } from "vitest";
import WebSocket from "ws";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { itIfThorough } from "../../thorough.ts";
import { contractIn, LOGGER } from "../harness/contracts.ts";
import { liveMemoryOf, MEASURABLE } from "../harness/liveMemory.ts";
import { type NodeProcess, startNodeProcess, until } from "../harness/nodeProcess.ts";

const SUBSCRIBERS = 2_000;
const OPENING_AT_ONCE = 100;
const BLOCKS = 10;
const TRANSFERS_PER_BLOCK = 100;
const LOGS_PER_BLOCK = 5;
/** Live objects on all threads of the node; each connection has two subscriptions. */
const KB_PER_CONNECTION = 50;

/** One subscriber's notifications in order: `0x5` for a head, `0x5:0x0` for a log. */
interface Subscriber {
  readonly socket: WebSocket;
  readonly received: string[];
}

interface LogPosition {
  readonly blockNumber: string;
  readonly logIndex: string;
}

async function subscribe(
  url: string,
  address: string,
  onHead: (number: string) => void,
): Promise<Subscriber> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const closed = once(socket, "close").then(([code]) => {
    throw new Error(`the node closed a subscriber's connection with ${code}`);
  });
  closed.catch(() => undefined);
  await Promise.race([once(socket, "open"), closed]);
  for (const params of [["newHeads"], ["logs", { address }]]) {
    socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params }));
    await Promise.race([once(socket, "message"), closed]);
  }
  const received: string[] = [];
  socket.on("message", (data: Buffer) => {
    const text = data.toString("latin1");
    const [, head] = /"result":\{"number":"(0x[0-9a-f]+)"/.exec(text) ?? [];
    if (head !== undefined) onHead(head);
    const [, index, number] = /"logIndex":"(0x[0-9a-f]+)".*"blockNumber":"(0x[0-9a-f]+)"/.exec(text) ?? [];
    received.push(head ?? `${number}:${index}`);
  });
  return { socket, received };
}

/** Sends the transactions for one block, transfers and one that logs, and waits until they are in one. */
async function fillBlock(node: NodeProcess, round: number, to: string): Promise<void> {
  const transfers = Array.from({ length: TRANSFERS_PER_BLOCK }, (_, index) =>
    aTransaction({
      privateKey: account(1).privateKey,
      to: account(2).address,
      nonce: BigInt(round * TRANSFERS_PER_BLOCK + index),
    }),
  );
  const logging = aTransaction({
    privateKey: account(3).privateKey,
    nonce: BigInt(round),
    to: addressFromHex(to),
    value: 0n,
    data: bigintToFixedBytes(BigInt(LOGS_PER_BLOCK), 32),
  });
  const all = [...transfers, logging];
  const batch = all.map(({ raw }) => ({
    jsonrpc: "2.0",
    id: 1,
    method: "eth_sendRawTransaction",
    params: [toHex(raw)],
  }));
  await (await fetch(node.httpUrl, { method: "POST", body: JSON.stringify(batch) })).text();
  await until(
    async () => (await node.rpc("eth_getTransactionReceipt", [toHex(logging.hash)])) ?? undefined,
    "the block that logs",
  );
}

describe("thousands of subscribers", () => {
  itIfThorough("get every block and its logs in order, for little memory each", async () => {
    const node = await startNodeProcess({
      ...MEASURABLE,
      options: [`--rpc-ws-max-active-connections=${SUBSCRIBERS}`],
    });
    const logger = await contractIn(node, LOGGER);
    const receivers = new Map<string, number>();
    const onHead = (number: string): void => {
      receivers.set(number, (receivers.get(number) ?? 0) + 1);
    };
    const before = await liveMemoryOf(node);
    const subscribers: Subscriber[] = [];
    while (subscribers.length < SUBSCRIBERS) {
      const some = Array.from({ length: OPENING_AT_ONCE }, () => subscribe(node.wsUrl, logger, onHead));
      subscribers.push(...(await Promise.all(some)));
    }
    const { heapMb } = await liveMemoryOf(node);
    const kbPerConnection = ((heapMb - before.heapMb) * 1024) / SUBSCRIBERS;

    const first = Number(await node.rpc<string>("eth_blockNumber")) + 1;
    for (let round = 0; round < BLOCKS; round++) await fillBlock(node, round, logger);
    const last = Number(await node.rpc<string>("eth_blockNumber"));
    const numbers = Array.from(
      { length: last - first + 1 },
      (_, index) => `0x${(first + index).toString(16)}`,
    );
    await until(
      async () => (receivers.get(numbers.at(-1) ?? "") === SUBSCRIBERS ? true : undefined),
      "the notification of all about the last block",
    );

    const expected: string[] = [];
    for (const number of numbers) {
      const logs = await node.rpc<LogPosition[]>("eth_getLogs", [
        { fromBlock: number, toBlock: number, address: logger },
      ]);
      expected.push(...logs.map(({ blockNumber, logIndex }) => `${blockNumber}:${logIndex}`), number);
    }
    expect(expected.length).toBe(numbers.length + BLOCKS * LOGS_PER_BLOCK);
    const ofThese = (received: readonly string[]): string => {
      const start = received.indexOf(`0x${(first - 1).toString(16)}`) + 1;
      return received.slice(start, start + expected.length).join(" ");
    };
    const wrong = subscribers
      .map(({ received }) => ofThese(received))
      .filter((text) => text !== expected.join(" "));
    expect(wrong).toEqual([]);

    for (const { socket } of subscribers) socket.terminate();
    expect(await node.stop()).toBe(0);
    expect(kbPerConnection).toBeLessThan(KB_PER_CONNECTION);
  });
});
