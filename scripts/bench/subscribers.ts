import { connect, type Socket } from "node:net";
import { mined } from "./commonCalls.ts";
import { type Contender, startAnvil, startIbex } from "./contenders.ts";
import { createRpcClient, type RpcClient } from "./httpClient.ts";
import { pause } from "./pause.ts";
import { atQuantile, printRatio } from "./report.ts";
import { senderAddresses, tokenWorkload } from "./workload.ts";

const SUBSCRIBERS = 2_000;
const OPENING_AT_ONCE = 50;
/** Measured blocks, after some that run code that is not compiled yet. */
const BLOCKS = 20;
const WARM_UP_BLOCKS = 5;
const LOGS_PER_BLOCK = 5;
/** A head and the logs. */
const MESSAGES_PER_BLOCK = 1 + LOGS_PER_BLOCK;
/** Messages about one block are never that far apart. */
const QUIET_MS = 200;
const WAIT_MS = 10_000;

/**
 * How long after the first one the last of 2,000 subscribers has a block and its five logs, for which each has a connection. The
 * subscribers do little more than count, because they share the machine with the node.
 */
export async function measureSubscribers(): Promise<void> {
  const ours = await measure(await startIbex(undefined, [`--rpc-ws-max-active-connections=${SUBSCRIBERS}`]));
  const theirs = await measure(await startAnvil());
  console.log(
    `\n${SUBSCRIBERS} subscribers, from the first message about a block to the last, ${BLOCKS} blocks`,
  );
  for (const [name, quantile] of [
    ["median", 0.5],
    ["longest", 1],
  ] as const)
    printRatio(name, "ms", atQuantile(ours, quantile), atQuantile(theirs, quantile));
}

async function measure(contender: Contender): Promise<readonly number[]> {
  const client = createRpcClient(contender.port, 1);
  try {
    const [deployer = "0x"] = senderAddresses();
    const nonce = Number(await client.call<string>("eth_getTransactionCount", [deployer, "latest"]));
    const nonces = senderAddresses().map((_, index) => (index === 0 ? nonce : 0));
    const count = (WARM_UP_BLOCKS + BLOCKS) * LOGS_PER_BLOCK;
    const { setUp, bodies } = tokenWorkload(count, nonces);
    const calls = bodies.flatMap((body) => JSON.parse(body.toString()) as readonly object[]);
    const deployment = await client.call<string>("eth_sendRawTransaction", [setUp[0]]);
    const { contractAddress: address } = await mined(client, deployment);
    const counter = new MessageCounter();
    await openAll(contender.wsPort, address, counter);
    const spreadsMs: number[] = [];
    for (let block = 0; block < WARM_UP_BLOCKS + BLOCKS; block++) {
      const some = calls.slice(block * LOGS_PER_BLOCK, (block + 1) * LOGS_PER_BLOCK);
      const spreadMs = await spreadOfBlock(client, counter, JSON.stringify(some));
      if (block >= WARM_UP_BLOCKS) spreadsMs.push(spreadMs);
    }
    counter.closeAll();
    return spreadsMs;
  } finally {
    client.close();
    await contender.stop();
  }
}

/** Sends the transactions right after a head, so that one block has all of them. */
async function spreadOfBlock(client: RpcClient, counter: MessageCounter, body: string): Promise<number> {
  await counter.quiet();
  counter.reset();
  await waitUntil(() => counter.messages >= SUBSCRIBERS);
  await client.post(body);
  counter.reset();
  await waitUntil(() => counter.messages >= SUBSCRIBERS * MESSAGES_PER_BLOCK);
  const spreadMs = counter.lastAtMs - counter.firstAtMs;
  await counter.quiet();
  if (counter.messages !== SUBSCRIBERS * MESSAGES_PER_BLOCK)
    throw new Error(`${counter.messages} messages about one block came`);
  return spreadMs;
}

async function waitUntil(isDone: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + WAIT_MS;
  while (!isDone()) {
    if (performance.now() > deadlineMs) throw new Error("some messages did not come");
    await pause(5);
  }
}

/** Counts the messages on all connections, and notes when the first and the last came. */
class MessageCounter {
  messages = 0;
  firstAtMs = 0;
  lastAtMs = 0;
  private readonly sockets: Socket[] = [];

  reset(): void {
    this.messages = 0;
  }

  /** Resolves when no message has come for QUIET_MS. */
  async quiet(): Promise<void> {
    for (let before = -1; before !== this.messages; await pause(QUIET_MS)) before = this.messages;
  }

  add(socket: Socket): void {
    this.sockets.push(socket);
    const frames = new FrameCounter(() => socket.write(EMPTY_PONG));
    socket.on("data", (bytes: Buffer) => {
      const messages = frames.endedBy(bytes);
      if (messages === 0) return;
      this.lastAtMs = performance.now();
      if (this.messages === 0) this.firstAtMs = this.lastAtMs;
      this.messages += messages;
    });
  }

  closeAll(): void {
    for (const socket of this.sockets) socket.destroy();
  }
}

/** Masked with zeros. */
const EMPTY_PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
const PING = 9;
const TEXT = 1;

/** Counts text frames of a WebSocket connection that a server sends (RFC 6455 §5.2), by their heads alone. */
class FrameCounter {
  /** The start of a frame whose length has not come yet. */
  private head: Buffer = Buffer.alloc(0);
  private missing = 0;
  private opcode = 0;
  private readonly onPing: () => void;

  constructor(onPing: () => void) {
    this.onPing = onPing;
  }

  /** The text frames whose last byte is among these. */
  endedBy(bytes: Buffer): number {
    let rest = this.head.length === 0 ? bytes : Buffer.concat([this.head, bytes]);
    let ended = 0;
    for (;;) {
      if (this.missing > rest.length) {
        this.missing -= rest.length;
        this.head = Buffer.alloc(0);
        return ended;
      }
      if (this.missing > 0 && this.opcode === TEXT) ended++;
      if (this.missing > 0 && this.opcode === PING) this.onPing();
      rest = rest.subarray(this.missing);
      this.missing = 0;
      this.opcode = (rest[0] ?? 0) & 0x0f;
      const short = (rest[1] ?? 0) & 0x7f;
      const headLength = short < 126 ? 2 : 4;
      if (rest.length < headLength) {
        this.head = rest;
        return ended;
      }
      this.missing = headLength + (short < 126 ? short : rest.readUInt16BE(2));
    }
  }
}

async function openAll(port: number, address: string, counter: MessageCounter): Promise<void> {
  for (let opened = 0; opened < SUBSCRIBERS; opened += OPENING_AT_ONCE)
    await Promise.all(Array.from({ length: OPENING_AT_ONCE }, () => openOne(port, address, counter)));
}

async function openOne(port: number, address: string, counter: MessageCounter): Promise<void> {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  await answered(socket, () =>
    socket.write(
      "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString("base64")}\r\n\r\n`,
    ),
  );
  for (const params of [["newHeads"], ["logs", { address }]])
    await answered(socket, () =>
      socket.write(frame({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params })),
    );
  counter.add(socket);
}

function answered(socket: Socket, ask: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.once("data", () => {
      socket.off("error", reject);
      resolve();
    });
    ask();
  });
}

/** A text frame of fewer than 64 KiB with a mask of zeros. */
function frame(request: object): Buffer {
  const text = Buffer.from(JSON.stringify(request));
  const start =
    text.length < 126 ? [0x81, 0x80 | text.length] : [0x81, 0xfe, text.length >> 8, text.length & 0xff];
  return Buffer.concat([Buffer.from([...start, 0, 0, 0, 0]), text]);
}
