import { Agent, type IncomingMessage, request } from "node:http";
import net from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { type LogFields, type Logger, silentLogger } from "../../../src/observability/logger.ts";
import { ok } from "../../../src/primitives/result.ts";
import { createDispatcher, type Dispatcher } from "../../../src/rpc/dispatcher.ts";
import { NAMESPACES } from "../../../src/rpc/method.ts";
import { METHODS } from "../../../src/rpc/methods/registry.ts";
import type { RpcServer } from "../../../src/rpc/server/server.ts";
import { createSubscriptionMethods } from "../../../src/rpc/subscriptions/subscriptions.ts";
import { decodeTransaction } from "../../../src/types/transaction.ts";
import { aChainSpec, anRpcBackend, poolOf } from "../../builders/anRpcBackend.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { chainOf } from "../../builders/recordedChain.ts";
import { createChance, mutatedRequests } from "../mutations.ts";
import { problemsOf } from "../responseProblems.ts";
import { anHttpServer, ask, aWebSocketClient, aWebSocketServer, type WebSocketClient } from "./servers.ts";

/** A dispatcher of all methods over a small chain, and the errors logged inside of methods. */
function everyMethod(): { readonly dispatcher: Dispatcher; readonly failures: LogFields[] } {
  const failures: LogFields[] = [];
  const logger: Logger = { ...silentLogger, error: (fields) => failures.push(fields) };
  const chain = chainOf([
    aStoredBlock(),
    aStoredBlock({ number: 1, transactions: [aTransaction(), aTransaction({ type: 0, nonce: 1n })] }),
    aStoredBlock({ number: 2 }),
  ]);
  const backend = anRpcBackend({
    chain,
    spec: aChainSpec(chain, { chainId: 1337n, fork: "london" }),
    simulator: { run: async () => ({ kind: "returned", data: new Uint8Array(32), gas: 21_000n }) },
    submit: async (raw) => {
      const decoded = decodeTransaction(raw);
      return decoded.ok ? ok(decoded.value.hash) : decoded;
    },
  });
  const subscriptions = createSubscriptionMethods({
    chain,
    pool: poolOf([]),
    onSyncChanged: () => () => undefined,
    logger,
  });
  const dispatcher = createDispatcher(
    { methods: [...METHODS, ...subscriptions], modules: new Set(NAMESPACES) },
    { backend, logger },
  );
  return { dispatcher, failures };
}

const HTTP_REQUESTS = 1_500;
const WEB_SOCKET_MESSAGES = 1_500;
const BROKEN_CONNECTIONS = 300;
const SEED = Number(process.env["IBEX_SEED"] ?? Math.floor(Math.random() * 2 ** 32));

describe(`mangled requests (IBEX_SEED=${SEED})`, () => {
  it("always get a valid JSON-RPC answer over HTTP, and break no method", async () => {
    const { dispatcher, failures } = everyMethod();
    const server = await anHttpServer(dispatcher);
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    onTestFinished(() => agent.destroy());
    const requests = mutatedRequests(SEED);
    for (let count = 0; count < HTTP_REQUESTS; count += 50) {
      const bodies = Array.from({ length: 50 }, () => requests.next().value);
      for (const [index, { status, body }] of (
        await Promise.all(bodies.map((bytes) => post(server, agent, bytes)))
      ).entries()) {
        const about = `request ${count + index}: ${bodies[index]?.toString("latin1").slice(0, 500)}`;
        expect([200, 400], about).toContain(status);
        if (body !== "") expect(problemsOf(JSON.parse(body)), about).toEqual([]);
        else expect(status, about).toBe(200);
      }
    }
    expect(failures).toEqual([]);
  });

  it("leave a WebSocket connection working", async () => {
    const { dispatcher, failures } = everyMethod();
    const server = await aWebSocketServer(dispatcher);
    const client = await aWebSocketClient(server);
    const requests = mutatedRequests(SEED + 1);
    for (let count = 0; count < WEB_SOCKET_MESSAGES; count++) {
      client.socket.send(requests.next().value);
      if (count % 50 === 49) await expectAnswering(client, `sentinel ${count}`);
    }
    expect(client.socket.readyState).toBe(client.socket.OPEN);
    expect(failures).toEqual([]);
  });

  it("and connections that break off anywhere leave both servers open", async () => {
    const { dispatcher } = everyMethod();
    const servers = [await anHttpServer(dispatcher), await aWebSocketServer(dispatcher)];
    const chance = createChance(SEED + 2);
    const requests = mutatedRequests(SEED + 3);
    for (let count = 0; count < BROKEN_CONNECTIONS; count++) {
      const body = requests.next().value;
      const head = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length + chance.below(3) - 1}\r\n\r\n`;
      const upgrade =
        "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
      const whole = Buffer.concat([Buffer.from(chance.pick([head, upgrade, ""])), body]);
      await breakOff(chance.pick(servers), whole.subarray(0, chance.below(whole.length + 1)));
    }
    for (const server of servers) expect([201, 400]).toContain((await ask(server, { method: "GET" })).status);
  });
});

function post(
  server: RpcServer,
  agent: Agent,
  body: Buffer,
): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: "127.0.0.1",
        port: server.port,
        method: "POST",
        agent,
        headers: { "content-length": body.length },
      },
      (response: IncomingMessage) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () =>
          resolve({ status: response.statusCode, body: Buffer.concat(chunks).toString("utf8") }),
        );
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** Sends a valid call and reads until its answer comes. */
async function expectAnswering(client: WebSocketClient, id: string): Promise<void> {
  client.send({ jsonrpc: "2.0", id, method: "eth_chainId" });
  for (;;) {
    const answer = await client.nextJson<{ id?: unknown; result?: unknown }>();
    if (answer.id !== id) continue;
    expect(answer.result).toBe("0x539");
    return;
  }
}

/**
 * Sends bytes, ends the connection, and waits until the server has closed it too. It may be reset after the answer: what is no
 * HTTP is not read to its end.
 */
async function breakOff(server: RpcServer, bytes: Buffer): Promise<void> {
  const socket = net.connect(server.port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.resume();
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.end(bytes);
  await closed;
}
