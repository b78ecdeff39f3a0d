import { once } from "node:events";
import net from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { RpcServer } from "../../../src/rpc/server/server.ts";
import { allOfHosts, createHostMemory, shareHosts } from "../../../src/rpc/server/sharedHosts.ts";
import { fewTurns } from "../../builders/handTimeouts.ts";
import { aToyDispatcher } from "../toyMethods.ts";
import { anHttpServer, ask, aWebSocketClient, aWebSocketServer, PATIENT } from "./servers.ts";

/** Connections whose requests start to arrive and then stall. */

const BODY = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}';
const HALF_HEADERS = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Le";
const HALF_BODY = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY.slice(0, 9)}`;
const HALF_HANDSHAKE = "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upg";
const QUICK = { headersMs: 300, bodyPauseMs: 300, checkMs: 50, handshakeMs: 300 };

interface Opened {
  readonly socket: net.Socket;
  readonly isOpen: () => boolean;
  /** Everything received before the end. */
  readonly ended: Promise<string>;
}

async function connected(server: RpcServer, sent: string, localAddress?: string): Promise<Opened> {
  const socket = net.connect({ port: server.port, host: "127.0.0.1", ...(localAddress && { localAddress }) });
  onTestFinished(() => void socket.destroy());
  let isOpen = true;
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
  });
  socket.on("error", () => undefined);
  const ended = new Promise<string>((resolve) => {
    socket.on("close", () => {
      isOpen = false;
      resolve(received);
    });
  });
  await once(socket, "connect");
  if (sent !== "") socket.write(sent);
  return { socket, isOpen: () => isOpen, ended };
}

async function many(
  server: RpcServer,
  count: number,
  sent: string,
  localAddress?: string,
): Promise<Opened[]> {
  const all: Opened[] = [];
  for (let index = 0; index < count; index++) all.push(await connected(server, sent, localAddress));
  return all;
}

const openAmong = (all: readonly Opened[]): number => all.filter(({ isOpen }) => isOpen()).length;
const chainIdOf = async (server: RpcServer, localAddress?: string) =>
  (await ask(server, { body: BODY, ...(localAddress && { localAddress }) })).status;

describe("half-sent requests", () => {
  it.each([
    ["nothing sent", ""],
    ["half of the headers", HALF_HEADERS],
    ["half of the body", HALF_BODY],
  ])("keep no other client out, a hundred of them with %s", async (_, sent) => {
    const server = await anHttpServer(aToyDispatcher().dispatcher, { maxConnections: 80 });
    const all = await many(server, 100, sent);
    for (let count = 0; count < 10; count++) expect(await chainIdOf(server)).toBe(200);
    await expect.poll(() => openAmong(all)).toBeLessThan(80);
    expect(server.connectionCount).toBeLessThanOrEqual(80);
  });

  it("keep no client out of WebSocket, and cut no open connection", async () => {
    const server = await aWebSocketServer(aToyDispatcher().dispatcher, { maxConnections: 80 });
    const member = await aWebSocketClient(server);
    await many(server, 100, HALF_HANDSHAKE);
    const late = await aWebSocketClient(server);
    for (const client of [member, late]) {
      client.send(BODY);
      expect(await client.next()).toContain("0x1c03");
    }
  });

  it("are ended in favour of new connections, the oldest first", async () => {
    const server = await anHttpServer(aToyDispatcher().dispatcher, { maxConnections: 3 });
    const [first, second, third] = await many(server, 3, HALF_HEADERS);
    await many(server, 1, HALF_HEADERS);
    await first?.ended;
    expect([second?.isOpen(), third?.isOpen()]).toEqual([true, true]);
  });

  it("do not displace connections that are being answered, or are between two requests", async () => {
    const { dispatcher, backend } = aToyDispatcher();
    const server = await anHttpServer(dispatcher, { maxConnections: 2 });
    const hold = '{"id":1,"method":"toy_hold"}';
    const request = (body: string) =>
      `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const busy = await connected(server, request(hold));
    await expect.poll(() => backend.held.length).toBe(1);
    const idle = await connected(server, request(BODY));
    await once(idle.socket, "data");
    const refused = await connected(server, HALF_HEADERS);
    expect(await refused.ended).toBe("");
    expect([busy.isOpen(), idle.isOpen()]).toEqual([true, true]);
    backend.held[0]?.("done");
    await once(busy.socket, "data");
  });

  it("time out soon, with a status when something was sent", async () => {
    const { dispatcher } = aToyDispatcher();
    const server = await anHttpServer(dispatcher, {}, { arrivalTimes: QUICK });
    const [silent, headers, body] = await Promise.all(
      ["", HALF_HEADERS, HALF_BODY].map((sent) => connected(server, sent)),
    );
    expect(await silent?.ended).toBe("");
    expect(await headers?.ended).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/);
    expect(await body?.ended).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/);
    const handshakes = await aWebSocketServer(dispatcher, {}, { arrivalTimes: QUICK });
    await (await connected(handshakes, HALF_HANDSHAKE)).ended;
  });

  it("do not time out while their bodies keep arriving", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const arrivalTimes = { ...PATIENT, bodyPauseMs: 600, checkMs: 100 };
    const server = await anHttpServer(aToyDispatcher().dispatcher, {}, { arrivalTimes });
    const { socket } = await connected(server, HALF_BODY);
    const rest = BODY.slice(9);
    const answered = once(socket, "data");
    for (let at = 0; at < rest.length; at += 5) {
      await fewTurns();
      // The first check finds the bytes before, and the other five a pause that is one check too short.
      vi.advanceTimersByTime(600);
      socket.write(rest.slice(at, at + 5));
    }
    expect(String((await answered)[0])).toContain("200 OK");
  });
});

describe("connections of one address", () => {
  const [one, other] = ["127.0.0.2", "127.0.0.3"];
  const limits = { maxConnections: 20, maxConnectionsPerAddress: 5, proxyAddresses: [] };

  it("are bounded, without effect on other addresses", async () => {
    const { dispatcher, backend } = aToyDispatcher();
    const server = await anHttpServer(dispatcher, limits);
    const hold = '{"id":1,"method":"toy_hold"}';
    const busy = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${hold.length}\r\n\r\n${hold}`;
    const all = await many(server, 5, busy, one);
    await expect.poll(() => backend.held.length).toBe(5);
    expect(await (await connected(server, busy, one)).ended).toBe("");
    expect(openAmong(all)).toBe(5);
    expect(await chainIdOf(server, other)).toBe(200);
  });

  it("replace each other while their requests are incomplete", async () => {
    const server = await anHttpServer(aToyDispatcher().dispatcher, limits);
    const others = await many(server, 5, HALF_HEADERS, other);
    const all = await many(server, 30, HALF_HEADERS, one);
    expect(await chainIdOf(server, one)).toBe(200);
    await expect.poll(() => openAmong(all)).toBeLessThanOrEqual(5);
    expect(openAmong(others)).toBe(5);
  });

  it("are not counted for proxies, whether listed or on this host", async () => {
    for (const proxyAddresses of [["localhost"], ["10.0.0.1", one], [`0:0:0:0:0:FFFF:${one}`]]) {
      const server = await anHttpServer(aToyDispatcher().dispatcher, { ...limits, proxyAddresses });
      const all = await many(server, 15, HALF_HEADERS, one);
      expect(await chainIdOf(server, one)).toBe(200);
      expect(openAmong(all)).toBe(15);
    }
  });

  it("are also bounded for web pages of foreign origins on this host", async () => {
    const few = { ...limits, maxConnections: 6, proxyAddresses: ["localhost"] };
    const server = await aWebSocketServer(aToyDispatcher().dispatcher, few);
    const handshake = (rest: string) =>
      `GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n` +
      `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${rest}\r\n`;
    const pages = await many(server, 8, handshake("Origin: http://evil.example\r\n"));
    await expect.poll(() => openAmong(pages)).toBe(5);
    expect(await (pages.at(-1) as Opened).ended).toContain("503 Service Unavailable");
    const program = await connected(server, handshake(""));
    await expect.poll(() => server.connectionCount).toBe(6);
    expect(program.isOpen()).toBe(true);
    // A page that disconnects makes room for another one.
    pages[0]?.socket.destroy();
    await expect.poll(() => server.connectionCount).toBe(5);
    const later = await connected(server, handshake("Origin: http://evil.example\r\n"));
    await expect.poll(() => server.connectionCount).toBe(6);
    expect(later.isOpen()).toBe(true);
  });

  it("are bounded for foreign pages on all threads together, also when one closes while it is upgraded", async () => {
    const [all, pagesOfAll] = [createHostMemory(2), createHostMemory(2)];
    const servers = await Promise.all(
      [0, 1].map((index) =>
        aWebSocketServer(
          aToyDispatcher().dispatcher,
          { ...limits, maxConnections: 20, proxyAddresses: ["localhost"] },
          { shared: shareHosts(all, index), sharedPages: shareHosts(pagesOfAll, index) },
        ),
      ),
    );
    const [first, second] = servers as [RpcServer, RpcServer];
    const page =
      "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" +
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: http://evil.example\r\n\r\n";
    const opened = [...(await many(first, 3, page)), ...(await many(second, 5, page))];
    await expect.poll(() => openAmong(opened)).toBe(5);
    const malformed = await connected(
      second,
      page.replace("Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: x"),
    );
    await malformed.ended;
    for (const { socket } of opened) socket.destroy();
    await expect.poll(() => [allOfHosts(all), allOfHosts(pagesOfAll)]).toEqual([0, 0]);
  });
});
