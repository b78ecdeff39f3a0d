import { once } from "node:events";
import net from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import WebSocket from "ws";
import { CallerTime } from "../../../src/rpc/server/callerTime.ts";
import { CLOSING_LIMIT_MS, HEARTBEAT_MS, IN_FLIGHT_MESSAGES } from "../../../src/rpc/server/limits.ts";
import { openWebSocketServer } from "../../../src/rpc/server/websocket.ts";
import { createHandClock } from "../../builders/handClock.ts";
import { fewTurns, settling, takeTimeouts } from "../../builders/handTimeouts.ts";
import { MORE_THAN_KERNELS_TAKE } from "../../kernelBuffers.ts";
import { itIfThorough } from "../../thorough.ts";
import { aToyDispatcher } from "../toyMethods.ts";
import {
  ask,
  aWebSocketClient,
  aWebSocketServer,
  sendRaw,
  WEB_SOCKET_DEFAULTS,
  WEB_SOCKET_PARTS,
} from "./servers.ts";

const CHAIN_ID = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}';
const CHAIN_ID_ANSWER = '{"jsonrpc":"2.0","id":1,"result":"0x1c03"}';

function errorText(code: number, message: string, id = "null"): string {
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":${code},"message":"${message}"}}`;
}

type ServerOptions = Parameters<typeof aWebSocketServer> extends [unknown, ...infer Rest] ? Rest : never;

async function aToyServer(...options: ServerOptions) {
  const { dispatcher, backend } = aToyDispatcher();
  return { server: await aWebSocketServer(dispatcher, ...options), backend };
}

describe("a message", () => {
  const cases: readonly (readonly [name: string, message: string, answer: string])[] = [
    ["a call", CHAIN_ID, CHAIN_ID_ANSWER],
    [
      "a call that is answered later",
      '{"id":"x","method":"toy_later"}',
      '{"jsonrpc":"2.0","id":"x","result":"later"}',
    ],
    [
      "thirty digits of id",
      '{"id":123456789012345678901234567890,"method":"eth_chainId"}',
      '{"jsonrpc":"2.0","id":123456789012345678901234567890,"result":"0x1c03"}',
    ],
    ["nothing", "", errorText(-32600, "Invalid Request")],
    ["white space", " ", errorText(-32603, "Internal error")],
    ["incomplete JSON", "{bla", errorText(-32603, "Internal error")],
    ["a number", "5", errorText(-32603, "Internal error")],
    ["null", "null", errorText(-32603, "Internal error")],
    ["an empty object", "{}", errorText(-32600, "Invalid Request")],
    ["no method", '{"id":5}', errorText(-32600, "Invalid Request", "5")],
    ["no method and a text for an id", '{"id":"5"}', errorText(-32600, "Invalid Request")],
    ["a list for an id", '{"id":[1],"method":"eth_chainId"}', errorText(-32600, "Invalid Request")],
    ["an unknown method", '{"id":1,"method":"nosuch"}', errorText(-32601, "Method not found", "1")],
    [
      "a method of a module that is off",
      '{"id":1,"method":"debug_traceCall"}',
      errorText(-32604, "Method not enabled", "1"),
    ],
    ["a method that throws", '{"id":1,"method":"toy_throws"}', errorText(-32603, "Internal error", "1")],
    ["an empty batch", "[]", "[]"],
    ["a batch of notifications", `[{"method":"eth_chainId"}]`, "[]"],
    [
      "a batch",
      `[${CHAIN_ID},5,{"method":"eth_chainId"},{"id":"x","method":"toy_later"}]`,
      `[${CHAIN_ID_ANSWER},${errorText(-32600, "Invalid Request")},{"jsonrpc":"2.0","id":"x","result":"later"}]`,
    ],
  ];

  it.each(cases)("%s", async (_name, message, answer) => {
    const { server } = await aToyServer();
    const client = await aWebSocketClient(server);
    client.send(message);
    expect(await client.next()).toBe(answer);
  });

  it("counts as its sender's time, however little each of many takes", async () => {
    let nowMs = 0;
    const callerTime = new CallerTime(() => {
      nowMs += 0.1;
      return nowMs;
    });
    const { server } = await aToyServer({}, { callerTime });
    const client = await aWebSocketClient(server);
    for (let n = 0; n < 1000; n++) client.send("5");
    for (let n = 0; n < 1000; n++) expect(await client.next()).toBe(errorText(-32603, "Internal error"));
    expect(callerTime.isFree("127.0.0.1")).toBe(false);
    expect(callerTime.isFree("127.0.0.2")).toBe(true);
  });

  it("gets no answer and is not executed without an id", async () => {
    const { server, backend } = await aToyServer();
    const client = await aWebSocketClient(server);
    client.send('{"method":"eth_chainId"}');
    client.send('{"id":1,"method":"net_version"}');
    expect(await client.next()).toBe('{"jsonrpc":"2.0","id":1,"result":"7171"}');
    expect(backend.calls).toEqual([]);
  });

  it("may be binary, or fragmented", async () => {
    const { server } = await aToyServer();
    const client = await aWebSocketClient(server);
    client.socket.send(Buffer.from(CHAIN_ID));
    expect(await client.next()).toBe(CHAIN_ID_ANSWER);
    client.socket.send(CHAIN_ID.slice(0, 10), { fin: false });
    client.socket.send(CHAIN_ID.slice(10), { fin: true });
    expect(await client.next()).toBe(CHAIN_ID_ANSWER);
  });

  it("is answered when its answer is ready, before earlier ones that are not", async () => {
    const { server, backend } = await aToyServer();
    const client = await aWebSocketClient(server);
    client.send('{"id":"slow","method":"toy_hold"}');
    client.send(CHAIN_ID);
    expect(await client.next()).toBe(CHAIN_ID_ANSWER);
    backend.held[0]?.("done");
    expect(await client.next()).toBe('{"jsonrpc":"2.0","id":"slow","result":"done"}');
  });

  it("gets the same answer when it comes in pieces, alone and in a batch", async () => {
    const { server } = await aToyServer();
    const client = await aWebSocketClient(server);
    const body = `{"jsonrpc":"2.0","id":1,"result":["${"é".repeat(2_000_000)}"]}`;
    client.send('{"id":1,"method":"toy_pieces"}');
    expect((await client.next()) === body).toBe(true);
    client.send(`[${CHAIN_ID},{"id":1,"method":"toy_pieces"},${CHAIN_ID}]`);
    expect((await client.next()) === `[${CHAIN_ID_ANSWER},${body},${CHAIN_ID_ANSWER}]`).toBe(true);
  });

  it("may have four times the largest frame; a larger one ends the connection", async () => {
    const { server } = await aToyServer({ maxFrameBytes: 100 });
    const client = await aWebSocketClient(server);
    client.send(CHAIN_ID + " ".repeat(400 - CHAIN_ID.length));
    expect(await client.next()).toBe(CHAIN_ID_ANSWER);
    client.send(CHAIN_ID + " ".repeat(401 - CHAIN_ID.length));
    expect(await client.closed).toBe(1009);
  });
});

describe("the port", () => {
  it("accepts an upgrade on any path and for any allowed host", async () => {
    const { server } = await aToyServer();
    for (const path of ["/", "/ws/", "/a/b?c=d"]) {
      const client = await aWebSocketClient(server, { path, headers: { host: "localhost:1" } });
      client.send(CHAIN_ID);
      expect(await client.next()).toBe(CHAIN_ID_ANSWER);
    }
  });

  it("accepts the sub-protocol that a client library requests by mistake, and no other", async () => {
    const { server } = await aToyServer();
    const headers = (protocol: string) =>
      "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
      `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`;
    const firstBytes = async (protocol: string) => {
      const socket = net.connect(server.port, "127.0.0.1");
      onTestFinished(() => void socket.destroy());
      socket.write(headers(protocol));
      const [bytes] = (await once(socket, "data")) as [Buffer];
      return bytes.toString("latin1");
    };
    expect(await firstBytes("undefined")).toMatch(/^HTTP\/1.1 101 .*Sec-WebSocket-Protocol: undefined\r\n/s);
    const other = await firstBytes("graphql-ws");
    expect(other).toMatch(/^HTTP\/1.1 101 /);
    expect(other).not.toMatch(/Sec-WebSocket-Protocol/);
  });

  it.each([
    ["another host", { host: "evil.example" }, 403],
    ["an invalid port", { host: "localhost:x" }, 400],
  ])("refuses an upgrade with %s", async (_name, headers, status) => {
    const { server } = await aToyServer();
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/`, { headers });
    const [error] = (await once(socket, "error")) as [Error];
    expect(error.message).toContain(`${status}`);
  });

  it("refuses upgrades of clients that reset the connection meanwhile, and goes on", async () => {
    const { server } = await aToyServer();
    const upgrade =
      "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    for (let count = 0; count < 50; count++) {
      const socket = net.connect(server.port, "127.0.0.1");
      socket.on("error", () => undefined);
      await once(socket, "connect");
      socket.write(upgrade, () => socket.resetAndDestroy());
      await once(socket, "close");
    }
    expect((await ask(server)).status).toBe(400);
  });

  it("answers plain HTTP with an explanation", async () => {
    const { server } = await aToyServer();
    expect(await ask(server, { body: CHAIN_ID })).toMatchObject({
      status: 400,
      body: "Websocket endpoint can't handle HTTP requests",
    });
    expect(await ask(server, { path: "/login", body: "{}" })).toMatchObject({
      status: 400,
      reason: "Authentication not enabled",
      body: "",
    });
    expect(await ask(server, { headers: { host: "evil.example" }, body: CHAIN_ID })).toMatchObject({
      status: 403,
      body: '{"message":"Host not authorized."}',
    });
  });

  it("closes a connection above the limit", async () => {
    const { server } = await aToyServer({ maxConnections: 1 });
    const first = await aWebSocketClient(server);
    expect(await sendRaw(server, "GET / HTTP/1.1\r\n\r\n")).toBe("");
    first.socket.terminate();
    await expect
      .poll(() => sendRaw(server, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
      .toMatch(/400/);
  });

  it("closes a connection with invalid frames, and goes on answering others", async () => {
    const { server } = await aToyServer();
    const client = await aWebSocketClient(server);
    const broken = await aWebSocketClient(server);
    (broken.socket as unknown as { _socket: net.Socket })._socket.write(Buffer.from([0xff, 0xff, 0, 1, 2]));
    expect(await broken.closed).toBe(1002);
    client.send(CHAIN_ID);
    expect(await client.next()).toBe(CHAIN_ID_ANSWER);
  });

  it("is refused when it is in use", async () => {
    const { server } = await aToyServer();
    const { dispatcher } = aToyDispatcher();
    const again = await openWebSocketServer(
      { ...WEB_SOCKET_DEFAULTS, port: server.port },
      { ...WEB_SOCKET_PARTS, dispatcher },
    );
    expect(again).toMatchObject({ ok: false, error: { code: "addressInUse", fault: "local" } });
  });
});

describe("a client that does not keep up", () => {
  it("is cut when it only listens", async () => {
    const { server, backend } = await aToyServer();
    const listener = await aWebSocketClient(server);
    listener.send('{"id":1,"method":"toy_hold"}');
    await expect.poll(() => backend.contexts.length).toBe(1);
    const [context] = backend.contexts;
    listener.socket.pause();
    const notification = "x".repeat(1_000_000);
    let sent = 0;
    for (; sent < 200 && context?.isAbandoned() === false; sent++) {
      context.connection?.send(notification);
      await new Promise(setImmediate);
    }
    expect(sent).toBeGreaterThan(16);
    expect(sent).toBeLessThan(100);
    listener.socket.resume();
    expect(await listener.closed).toBe(1006);
  });

  it("is not cut for a large answer to its own request", async () => {
    const { server, backend } = await aToyServer();
    const client = await aWebSocketClient(server);
    client.send('{"id":1,"method":"toy_hold"}');
    await expect.poll(() => backend.contexts.length).toBe(1);
    client.socket.pause();
    client.send({ id: 2, method: "toy_big", params: [40_000_000] });
    await expect.poll(() => backend.calls).toContain("toy_big");
    await new Promise(setImmediate);
    for (const text of ["first", "second"]) backend.contexts[0]?.connection?.send(text);
    client.socket.resume();
    expect((await client.next()).length).toBeGreaterThan(40_000_000);
    expect([await client.next(), await client.next()]).toEqual(["first", "second"]);
  });

  it("is cut when unread answers exceed the common limit and its are the most", async () => {
    const { server, backend } = await aToyServer({ unreadLimitBytes: 20_000_000 });
    const [greedy, other] = [await aWebSocketClient(server), await aWebSocketClient(server)];
    for (let id = 0; id < 10; id++) greedy.send({ id, method: "toy_hold" });
    await expect.poll(() => backend.held.length).toBe(10);
    greedy.socket.pause();
    other.send({ id: 1, method: "toy_big", params: [4_000_000] });
    for (const release of backend.held) release("x".repeat(4_000_000));
    expect((await other.next()).length).toBeGreaterThan(4_000_000);
    await expect.poll(() => server.connectionCount).toBe(1);
    other.send(CHAIN_ID);
    expect(await other.next()).toBe(CHAIN_ID_ANSWER);
  });

  it("is cut while its batch is answered, when that and unread answers exceed the common limit", async () => {
    const { server, backend } = await aToyServer({ unreadLimitBytes: 20_000_000 });
    const [greedy, other] = [await aWebSocketClient(server), await aWebSocketClient(server)];
    greedy.send([
      { id: 1, method: "toy_big", params: [15_000_000] },
      { id: 2, method: "toy_hold" },
    ]);
    await expect.poll(() => backend.held.length).toBe(1);
    other.send({ id: 1, method: "toy_big", params: [8_000_000] });
    expect((await other.next()).length).toBeGreaterThan(8_000_000);
    await expect.poll(() => server.connectionCount).toBe(1);
    backend.held[0]?.("done");
    other.send(CHAIN_ID);
    expect(await other.next()).toBe(CHAIN_ID_ANSWER);
  });

  it("is cut when many clients leave answers in pieces unread", async () => {
    const { server } = await aToyServer({ unreadLimitBytes: 4.5 * MORE_THAN_KERNELS_TAKE });
    const clients = await Promise.all(Array.from({ length: 12 }, () => aWebSocketClient(server)));
    for (const client of clients) {
      client.socket.pause();
      client.send({ id: 1, method: "toy_output", params: [MORE_THAN_KERNELS_TAKE] });
    }
    await expect.poll(() => server.connectionCount).toBeLessThan(clients.length);
    expect(server.connectionCount).toBeGreaterThan(2);
  });

  it("has nothing begun while its last answer is being made, or is large and unread", async () => {
    const { server, backend } = await aToyServer();
    const client = await aWebSocketClient(server);
    client.socket.pause();
    client.send({ id: 1, method: "toy_stream", params: [MORE_THAN_KERNELS_TAKE] });
    client.send(CHAIN_ID);
    const pieces = MORE_THAN_KERNELS_TAKE / 2 ** 20 + 1;
    await expect.poll(() => backend.calls.length).toBe(pieces);
    const other = await aWebSocketClient(server);
    for (let id = 0; id < 20; id++) {
      other.send({ id, method: "net_version" });
      await other.next();
    }
    expect(backend.calls).not.toContain("eth_chainId");
    client.socket.resume();
    expect((await client.next()).length).toBeGreaterThan(MORE_THAN_KERNELS_TAKE);
    expect(await client.next()).toBe(CHAIN_ID_ANSWER);
  });

  itIfThorough("is not read from while it reads its answers too slowly, and gets every answer", async () => {
    const { server, backend } = await aToyServer();
    const client = await aWebSocketClient(server);
    const ANSWER_BYTES = 1_000_000;
    const COUNT = Math.ceil((3.5 * MORE_THAN_KERNELS_TAKE) / ANSWER_BYTES);
    client.socket.pause();
    for (let id = 0; id < COUNT; id++) client.send({ id, method: "toy_big", params: [ANSWER_BYTES] });
    await expect.poll(() => backend.calls.length).toBeGreaterThan(0);
    client.socket.resume();
    let farthestAhead = 0;
    const ids: number[] = [];
    while (ids.length < COUNT) {
      ids.push((await client.nextJson<{ id: number }>()).id);
      farthestAhead = Math.max(farthestAhead, backend.calls.length - ids.length);
    }
    expect(ids).toEqual(Array.from({ length: COUNT }, (_, id) => id));
    expect(farthestAhead).toBeLessThan(COUNT / 3);
  });

  it("has a bounded number of in-flight messages", async () => {
    const { server, backend } = await aToyServer();
    const client = await aWebSocketClient(server);
    for (let id = 0; id < IN_FLIGHT_MESSAGES + 5; id++) client.send({ id, method: "toy_hold" });
    await expect.poll(() => backend.held.length).toBe(IN_FLIGHT_MESSAGES);
    backend.held[0]?.("done");
    await client.next();
    await expect.poll(() => backend.held.length).toBe(IN_FLIGHT_MESSAGES + 1);
    for (const release of backend.held) release("done");
    await expect.poll(() => backend.held.length).toBe(IN_FLIGHT_MESSAGES + 5);
  });

  it("is closed when the answer to a batch exceeds the limit", async () => {
    const { server } = await aToyServer();
    const client = await aWebSocketClient(server);
    client.send(Array.from({ length: 100 }, (_, id) => ({ id, method: "toy_big", params: [1_000_000] })));
    expect(await client.closed).toBe(1009);
  });
});

describe("heartbeats", () => {
  it("cut a client that does not answer a ping", async () => {
    const clock = createHandClock(0);
    const { server } = await aToyServer({}, { clock });
    const alive = await aWebSocketClient(server);
    const dead = await aWebSocketClient(server, { autoPong: false });
    clock.advanceBy(HEARTBEAT_MS);
    await Promise.all([once(alive.socket, "ping"), once(dead.socket, "ping")]);
    alive.send(CHAIN_ID);
    expect(await alive.next()).toBe(CHAIN_ID_ANSWER);
    clock.advanceBy(HEARTBEAT_MS);
    expect(await dead.closed).toBe(1006);
    alive.send(CHAIN_ID);
    expect(await alive.next()).toBe(CHAIN_ID_ANSWER);
  });

  it("keep a client whose message arrives in small parts for minutes", async () => {
    const clock = createHandClock(0);
    const { server } = await aToyServer({}, { clock });
    const socket = net.connect(server.port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
    });
    socket.write(
      "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    let isClosed = false;
    socket.on("close", () => {
      isClosed = true;
    });
    await expect.poll(() => received).toContain("101 Switching Protocols");
    // One frame of text, whose mask changes nothing. A pong could only follow it.
    socket.write(Buffer.from([0x81, 0x80 | CHAIN_ID.length, 0, 0, 0, 0]));
    for (const letter of CHAIN_ID) {
      socket.write(letter);
      await fewTurns();
      clock.advanceBy(HEARTBEAT_MS);
    }
    await fewTurns();
    expect(isClosed).toBe(false);
    await expect.poll(() => received).toContain(CHAIN_ID_ANSWER);
  });

  it("tell a method whether its requester still waits", async () => {
    const clock = createHandClock(0);
    const { server, backend } = await aToyServer({ timeoutMs: 1000 }, { clock });
    const client = await aWebSocketClient(server);
    client.send('{"id":1,"method":"toy_hold"}');
    await expect.poll(() => backend.contexts.length).toBe(1);
    expect(backend.contexts[0]?.isAbandoned()).toBe(false);
    clock.advanceBy(1001);
    expect(backend.contexts[0]?.isAbandoned()).toBe(true);

    client.send('{"id":2,"method":"toy_hold"}');
    await expect.poll(() => backend.contexts.length).toBe(2);
    expect(backend.contexts[1]?.isAbandoned()).toBe(false);
    client.socket.terminate();
    await expect.poll(() => backend.contexts[1]?.isAbandoned()).toBe(true);
  });
});

describe("closing", () => {
  it("sends a close frame, and finishes when the clients have answered", async () => {
    const { server } = await aToyServer();
    const clients = [await aWebSocketClient(server), await aWebSocketClient(server)];
    // The time after which they would be cut does not pass.
    takeTimeouts();
    await server.close();
    expect(await Promise.all(clients.map(({ closed }) => closed))).toEqual([1001, 1001]);
  });

  it("cuts a client that does not answer within two seconds", async () => {
    const { server } = await aToyServer();
    const client = await aWebSocketClient(server);
    client.socket.pause();
    const timeouts = takeTimeouts();
    const closed = server.close();
    const closing = settling(closed);
    await timeouts.advanceBy(CLOSING_LIMIT_MS - 1);
    expect(closing.isSettled).toBe(false);
    await timeouts.advanceBy(1);
    await closed;
  });
});
