import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  type DescriptorCopier,
  startDescriptorCopier,
} from "../../../src/callers/threads/descriptorCopier.ts";
import { openSharedListener } from "../../../src/callers/threads/sharedListener.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { durationClock } from "../../../src/primitives/clock.ts";
import { CallerTime } from "../../../src/rpc/server/callerTime.ts";
import { type IpcParts, type IpcSettings, openIpcServer } from "../../../src/rpc/server/ipc.ts";
import type { IpcTimes } from "../../../src/rpc/server/ipcTransport.ts";
import { IN_FLIGHT_MESSAGES, IPC_MESSAGE_BYTES } from "../../../src/rpc/server/limits.ts";
import { MessageReader } from "../../../src/rpc/server/messageReader.ts";
import type { OpenServer } from "../../../src/rpc/server/server.ts";
import { UnreadLimits } from "../../../src/rpc/server/unreadLimits.ts";
import { HANG_MS } from "../../hang.ts";
import { itIfThorough } from "../../thorough.ts";
import { aToyDispatcher } from "../toyMethods.ts";

const CHAIN_ID = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}';
const CHAIN_ID_ANSWER = '{"jsonrpc":"2.0","id":1,"result":"0x1c03"}';
/** For clients that share a process with the server. */
const PATIENT: IpcTimes = { stillMs: HANG_MS, arrivalMs: HANG_MS };
/** Far more than the kernel takes from one who sends to a Unix socket that nobody reads. */
const LARGE = 4_000_000;

let folder: string;
let copier: DescriptorCopier;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ibex-ipc-"));
  copier = startDescriptorCopier();
});

afterAll(() => {
  copier.close();
  rmSync(folder, { recursive: true });
});

interface ToyServer {
  readonly server: OpenServer;
  readonly path: string;
  readonly backend: ReturnType<typeof aToyDispatcher>["backend"];
}

async function aToyServer(
  settings: Partial<IpcSettings> = {},
  parts: Partial<IpcParts> & { readonly unreadLimitBytes?: number } = {},
): Promise<ToyServer> {
  const { dispatcher, backend } = aToyDispatcher();
  const path = join(folder, `${++made}.ipc`);
  const listener = await openSharedListener({ path }, { threads: 1, spares: 0 }, copier);
  const clock = durationClock;
  const unread = new UnreadLimits({ clock, logger: silentLogger }, parts.unreadLimitBytes);
  const reader = new MessageReader(clock);
  const opened = await openIpcServer(
    {
      path,
      maxConnections: 80,
      maxConnectionsPerAddress: 80,
      proxyAddresses: [],
      timeoutMs: 300_000,
      ...settings,
    },
    {
      socket: { descriptor: await listener.descriptor(0) },
      dispatcher,
      reader,
      callerTime: new CallerTime(),
      clock,
      unread,
      logger: silentLogger,
      times: PATIENT,
      ...parts,
    },
  );
  if (!opened.ok) throw new Error(opened.error.message);
  onTestFinished(async () => {
    await opened.value.close();
    reader.close();
    listener.close();
    expect(existsSync(path)).toBe(false);
  });
  return { server: opened.value, path, backend };
}

let made = 0;

/** A connected client, which reads lines. */
class Client {
  readonly socket: net.Socket;
  private received = "";
  private wake: () => void = () => undefined;

  private constructor(socket: net.Socket) {
    this.socket = socket;
    socket.on("error", () => undefined);
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => {
      this.received += text;
      this.wake();
    });
    for (const end of ["end", "close"]) socket.on(end, () => this.wake());
  }

  static async open({ path }: Pick<ToyServer, "path">): Promise<Client> {
    const socket = net.connect({ path, allowHalfOpen: true });
    const client = new Client(socket);
    await once(socket, "connect");
    onTestFinished(() => void socket.destroy());
    return client;
  }

  send(...texts: readonly (string | object)[]): void {
    for (const text of texts) this.socket.write(typeof text === "string" ? text : JSON.stringify(text));
  }

  /** The next line; undefined when the connection ended before. */
  async next(): Promise<string | undefined> {
    for (;;) {
      const end = this.received.indexOf("\n");
      if (end >= 0) {
        const line = this.received.slice(0, end);
        this.received = this.received.slice(end + 1);
        return line;
      }
      if (this.socket.readableEnded || this.socket.destroyed) return undefined;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}

function errorText(code: number, message: string, id = "null"): string {
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":${code},"message":"${message}"}}`;
}

describe("a message over a Unix socket", () => {
  it.each<readonly [name: string, message: string, answer: string]>([
    ["a call", CHAIN_ID, CHAIN_ID_ANSWER],
    [
      "a call that is answered later",
      '{"id":"x","method":"toy_later"}',
      '{"jsonrpc":"2.0","id":"x","result":"later"}',
    ],
    ["malformed JSON", '{"a":}', errorText(-32700, "Parse error")],
    ["a word", "hello", errorText(-32700, "Parse error")],
    ["a number", "5", errorText(-32700, "Parse error")],
    ["an empty object", "{}", errorText(-32600, "Invalid Request")],
    ["an unknown method", '{"id":1,"method":"nosuch"}', errorText(-32601, "Method not found", "1")],
    ["an empty batch", "[]", errorText(-32600, "Invalid Request")],
    ["a batch of notifications", '[{"method":"eth_chainId"}]', "[]"],
    [
      "a batch",
      `[${CHAIN_ID},5,{"method":"eth_chainId"},{"id":"x","method":"toy_later"}]`,
      `[${CHAIN_ID_ANSWER},${errorText(-32600, "Invalid Request")},{"jsonrpc":"2.0","id":"x","result":"later"}]`,
    ],
    [
      "more lists in lists than Besu reads",
      `${"[".repeat(1001)}${"]".repeat(1001)}`,
      errorText(-32700, "Parse error"),
    ],
    [
      "more parts than one message may have",
      `[${"[],".repeat(200_001)}0]`,
      errorText(-32005, "The message has more than 200,000 lists, objects and members"),
    ],
  ])("is answered by Besu's line, and the connection goes on: %s", async (_name, message, answer) => {
    const client = await Client.open(await aToyServer());
    client.send(message);
    expect(await client.next()).toBe(answer);
    client.send("\n", CHAIN_ID);
    expect(await client.next()).toBe(CHAIN_ID_ANSWER);
  });

  it("gets no answer and is not executed without an id", async () => {
    const toy = await aToyServer();
    const client = await Client.open(toy);
    client.send('{"method":"eth_chainId"}{"id":2,"method":"net_version"}');
    expect(await client.next()).toBe('{"jsonrpc":"2.0","id":2,"result":"7171"}');
    expect(toy.backend.calls).toEqual([]);
  });

  it("may come with others in one piece, or byte by byte", async () => {
    const client = await Client.open(await aToyServer());
    client.send(CHAIN_ID + CHAIN_ID + CHAIN_ID);
    expect([await client.next(), await client.next(), await client.next()]).toEqual(
      Array(3).fill(CHAIN_ID_ANSWER),
    );
    for (const character of CHAIN_ID) {
      client.send(character);
      await new Promise(setImmediate);
    }
    expect(await client.next()).toBe(CHAIN_ID_ANSWER);
  });

  it("is read in slices, which count as the callers' time, where thousands come in one piece", async () => {
    let nowMs = 0;
    const callerTime = new CallerTime(() => nowMs++);
    const client = await Client.open(await aToyServer({}, { callerTime }));
    let cycles = 0;
    const count = (): void => {
      cycles++;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    onTestFinished(() => clearImmediate(counting));
    client.send("5\n".repeat(2000));
    for (let answers = 0; answers < 2000; answers++)
      expect(await client.next()).toBe(errorText(-32700, "Parse error"));
    // The clock goes on at each look, so that a slice has a few messages.
    expect(cycles).toBeGreaterThan(200);
    expect(callerTime.isFree("ipc")).toBe(false);
    client.send(CHAIN_ID);
    expect(await client.next()).toBe(CHAIN_ID_ANSWER);
  });

  it("counts as the callers' time, however little each of many takes", async () => {
    let nowMs = 0;
    const callerTime = new CallerTime(() => {
      nowMs += 0.01;
      return nowMs;
    });
    const client = await Client.open(await aToyServer({}, { callerTime }));
    for (let n = 0; n < 2000; n++) {
      client.send("5\n");
      expect(await client.next()).toBe(errorText(-32700, "Parse error"));
    }
    expect(callerTime.isFree("ipc")).toBe(false);
  });

  it("of the largest size is answered, and a larger one ends the connection with a reason, before its end", async () => {
    const toy = await aToyServer();
    const client = await Client.open(toy);
    const padding = (length: number) => " ".repeat(length - CHAIN_ID.length);
    client.send(`{${padding(IPC_MESSAGE_BYTES)}${CHAIN_ID.slice(1)}`);
    expect(await client.next()).toBe(CHAIN_ID_ANSWER);
    client.send(`{${padding(IPC_MESSAGE_BYTES + 100)}`);
    client.send(`{"a":"${"x".repeat(IPC_MESSAGE_BYTES)}`);
    expect(await client.next()).toBe(
      errorText(-32005, `The message has more than ${IPC_MESSAGE_BYTES} bytes`),
    );
    expect(await client.next()).toBe(undefined);
    await expect.poll(() => toy.server.connectionCount).toBe(0);
  });
});

describe("a client of a Unix socket", () => {
  it("that sends no more gets the answers to all that it sent, and then the end", async () => {
    const toy = await aToyServer();
    const client = await Client.open(toy);
    client.send('{"id":1,"method":"toy_hold"}');
    client.socket.end(CHAIN_ID);
    expect(await client.next()).toBe(CHAIN_ID_ANSWER);
    toy.backend.held[0]?.("done");
    expect(await client.next()).toBe('{"jsonrpc":"2.0","id":1,"result":"done"}');
    expect(await client.next()).toBe(undefined);
    await expect.poll(() => toy.server.connectionCount).toBe(0);
  });

  it("that ends in the middle of a message gets Besu's error", async () => {
    const client = await Client.open(await aToyServer());
    client.socket.end('{"id":1,');
    expect(await client.next()).toBe(errorText(-32700, "Parse error"));
    expect(await client.next()).toBe(undefined);
  });

  it("that stops in the middle of a message is ended, and one that is idle or waits for an answer is not", async () => {
    const toy = await aToyServer({}, { times: { stillMs: 200, arrivalMs: HANG_MS } });
    const idle = await Client.open(toy);
    idle.send(CHAIN_ID);
    await idle.next();
    const waiting = await Client.open(toy);
    waiting.send('{"id":1,"method":"toy_hold"}');
    const slow = await Client.open(toy);
    slow.send('{"id":1,');
    expect(await slow.next()).toBe(errorText(-32700, "Parse error"));
    expect(await slow.next()).toBe(undefined);
    idle.send(CHAIN_ID);
    expect(await idle.next()).toBe(CHAIN_ID_ANSWER);
    toy.backend.held[0]?.("done");
    expect(await waiting.next()).toBe('{"jsonrpc":"2.0","id":1,"result":"done"}');
  });

  it("that sends a message without end is ended when its time is over, however steadily it sends", async () => {
    const toy = await aToyServer({}, { times: { stillMs: HANG_MS, arrivalMs: 300 } });
    const client = await Client.open(toy);
    client.send("[");
    const drip = setInterval(() => client.send("1,"), 10);
    onTestFinished(() => clearInterval(drip));
    expect(await client.next()).toBe(errorText(-32700, "Parse error"));
    expect(await client.next()).toBe(undefined);
  });

  it("that never reads is not read from either, has few messages begun, and is ended", async () => {
    const toy = await aToyServer({}, { times: { stillMs: 500, arrivalMs: HANG_MS } });
    const client = await Client.open(toy);
    client.socket.pause();
    const COUNT = 20 * IN_FLIGHT_MESSAGES;
    for (let id = 0; id < COUNT; id++) client.send({ id, method: "toy_big", params: [LARGE] });
    await expect.poll(() => toy.backend.calls.length).toBeGreaterThan(0);
    await expect.poll(() => toy.server.connectionCount, { timeout: HANG_MS }).toBe(0);
    // Those begun at a time, and those whose answers the socket's buffer took.
    expect(toy.backend.calls.length).toBeLessThan(2 * IN_FLIGHT_MESSAGES);
  });

  it("that reads slowly gets every answer", async () => {
    const toy = await aToyServer();
    const client = await Client.open(toy);
    client.socket.pause();
    const COUNT = 40;
    for (let id = 0; id < COUNT; id++) client.send({ id, method: "toy_big", params: [LARGE / 10] });
    await expect.poll(() => toy.backend.calls.length).toBeGreaterThan(0);
    client.socket.resume();
    for (let id = 0; id < COUNT; id++) expect((await client.next())?.length).toBeGreaterThan(LARGE / 10);
  });

  it("is cut when unread answers of all exceed the common limit and its are the most", async () => {
    const toy = await aToyServer({}, { unreadLimitBytes: 20_000_000 });
    const [greedy, other] = [await Client.open(toy), await Client.open(toy)];
    for (let id = 0; id < 10; id++) greedy.send({ id, method: "toy_hold" });
    await expect.poll(() => toy.backend.held.length).toBe(10);
    greedy.socket.pause();
    other.send({ id: 1, method: "toy_big", params: [LARGE] });
    for (const release of toy.backend.held) release("x".repeat(LARGE));
    expect((await other.next())?.length).toBeGreaterThan(LARGE);
    await expect.poll(() => toy.server.connectionCount).toBe(1);
    other.send(CHAIN_ID);
    expect(await other.next()).toBe(CHAIN_ID_ANSWER);
  });

  it("gets large answers in one line", async () => {
    const client = await Client.open(await aToyServer());
    client.send({ id: 1, method: "toy_stream", params: [LARGE] }, CHAIN_ID);
    expect(await client.next()).toBe(`{"jsonrpc":"2.0","id":1,"result":${"7".repeat(LARGE)}}`);
    expect(await client.next()).toBe(CHAIN_ID_ANSWER);
  });
});

describe("connections to a Unix socket", () => {
  it("have a limit: a silent one gives way, and one that has called does not", async () => {
    const toy = await aToyServer({ maxConnections: 3, maxConnectionsPerAddress: 3 });
    const silent = await Client.open(toy);
    const callers = [await Client.open(toy), await Client.open(toy)];
    for (const caller of callers) {
      caller.send(CHAIN_ID);
      expect(await caller.next()).toBe(CHAIN_ID_ANSWER);
    }
    const third = await Client.open(toy);
    third.send(CHAIN_ID);
    expect(await third.next()).toBe(CHAIN_ID_ANSWER);
    expect(await silent.next()).toBe(undefined);
    const refused = await Client.open(toy);
    refused.send(CHAIN_ID);
    expect(await refused.next()).toBe(undefined);
    for (const caller of [...callers, third]) {
      caller.send(CHAIN_ID);
      expect(await caller.next()).toBe(CHAIN_ID_ANSWER);
    }
  });

  it("of a thousand clients that send nothing keep no caller out", async () => {
    const toy = await aToyServer();
    const silent = Array.from({ length: 1000 }, () => net.connect(toy.path).on("error", () => undefined));
    onTestFinished(() => {
      for (const socket of silent) socket.destroy();
    });
    await expect.poll(() => silent.filter(({ connecting }) => connecting).length).toBe(0);
    const caller = await Client.open(toy);
    caller.send(CHAIN_ID);
    expect(await caller.next()).toBe(CHAIN_ID_ANSWER);
    expect(toy.server.connectionCount).toBeLessThanOrEqual(80);
  });

  itIfThorough(
    "end with the server, after what is being answered, and at the latest when its time is over",
    async () => {
      const toy = await aToyServer();
      const [idle, answered, endless] = [
        await Client.open(toy),
        await Client.open(toy),
        await Client.open(toy),
      ];
      idle.send(CHAIN_ID);
      await idle.next();
      for (const client of [answered, endless]) client.send('{"id":1,"method":"toy_hold"}');
      await expect.poll(() => toy.backend.held.length).toBe(2);
      const closed = toy.server.close();
      expect(await idle.next()).toBe(undefined);
      toy.backend.held[0]?.("done");
      const lines = [await answered.next(), await endless.next()];
      expect(lines.filter((line) => line === '{"jsonrpc":"2.0","id":1,"result":"done"}')).toHaveLength(1);
      expect(lines).toContain(undefined);
      await closed;
      await expect.poll(() => toy.server.connectionCount).toBe(0);
    },
  );
});
