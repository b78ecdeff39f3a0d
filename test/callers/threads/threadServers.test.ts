import { once } from "node:events";
import net from "node:net";
import tls from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import { fitToOpenFiles } from "../../../src/callers/fitToOpenFiles.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { TOKEN_CHECK_MS } from "../../../src/rpc/server/limits.ts";
import type { RpcServer } from "../../../src/rpc/server/server.ts";
import { HANDSHAKES, HANDSHAKES_BURST_MS } from "../../../src/rpc/server/tls/handshakeLimits.ts";
import { aChainSpec, rpcPorts } from "../../builders/anRpcBackend.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { createHandClock } from "../../builders/handClock.ts";
import { takeTimeouts } from "../../builders/handTimeouts.ts";
import { chainOf } from "../../builders/recordedChain.ts";
import { aCertificateFor } from "../../builders/tlsFiles.ts";
import { MORE_THAN_KERNELS_TAKE } from "../../kernelBuffers.ts";
import { settingsOf } from "../../node/settingsOf.ts";
import { ask } from "../../rpc/server/servers.ts";
import { threadServersOf } from "./threadServers.ts";

it("answers a large request that waits to be read when the servers close", async () => {
  const hand = createHandClock(0);
  let readings = 0;
  // The first slice takes a second, and all that follow no time.
  const clock = { nowMs: () => hand.nowMs() + Math.min(readings++, 2) * 1000, at: hand.at };
  const chain = chainOf([aStoredBlock({ number: 0 })]);
  const spec = aChainSpec(chain, { chainId: 7171n, fork: "london" });
  const { http } = settingsOf("/", { "rpc-http-enabled": "true", "rpc-http-port": "0" });
  const servers = await threadServersOf({ http, webSocket: undefined }, rpcPorts({ chain, spec }), clock);
  readings = 0;
  const server = expectDefined(servers.http, "the HTTP server");
  const body = '{"id":1,"method":"eth_chainId"}'.padEnd(200_000);
  const answer = '{"jsonrpc":"2.0","id":1,"result":"0x1c03"}';
  expect((await ask(server, { body })).body).toBe(answer);
  const waiting = ask(server, { body });
  await expect.poll(() => hand.nextAlarmMs).toBeDefined();
  const closed = servers.close();
  hand.advanceBy(60_000);
  expect((await waiting).body).toBe(answer);
  await closed;
});

it("asks for no spare descriptors on the only thread, which shares its connections with nobody", async () => {
  const chain = chainOf([aStoredBlock({ number: 0 })]);
  const spec = aChainSpec(chain, { chainId: 7171n, fork: "london" });
  const { http, webSocket } = settingsOf("/", {
    "rpc-http-enabled": "true",
    "rpc-http-port": "0",
    "rpc-ws-enabled": "true",
    "rpc-ws-port": "0",
  });
  const { descriptorsAsked } = await threadServersOf({ http, webSocket }, rpcPorts({ chain, spec }));
  expect(descriptorsAsked()).toBe(0);
});

it("leaves a quarter of the connections to other addresses when the limit is low", async () => {
  const chain = chainOf([aStoredBlock({ number: 0 })]);
  const spec = aChainSpec(chain, { chainId: 7171n, fork: "london" });
  const options = { "rpc-http-enabled": "true", "rpc-http-port": "0", "rpc-proxy-addresses": "none" };
  const { http: configured } = settingsOf("/", options);
  const fitted = fitToOpenFiles(
    { http: configured, webSocket: undefined, explorer: undefined },
    { maxConnections: 8, threads: 1, logger: silentLogger },
  );
  const { http } = await threadServersOf(fitted, rpcPorts({ chain, spec }));
  const server = expectDefined(http, "the HTTP server");
  for (let count = 0; count < 12; count++) {
    const socket = net.connect({ port: server.port, host: "127.0.0.1" });
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => undefined);
    await new Promise((resolve) => socket.once("connect", resolve));
  }
  await expect.poll(() => server.connectionCount).toBe(6);
});

it("counts what HTTP and GraphQL hold together, until each is read", async () => {
  const transactions = Array.from({ length: 20 }, (_, nonce) =>
    aTransaction({ nonce: BigInt(nonce), data: new Uint8Array(100_000) }),
  );
  const chain = chainOf([aStoredBlock({ number: 0 }), aStoredBlock({ number: 1, transactions })]);
  const spec = aChainSpec(chain, { chainId: 7171n, fork: "london" });
  const settings = settingsOf("/", {
    "rpc-http-enabled": "true",
    "rpc-http-port": "0",
    "graphql-http-enabled": "true",
    "graphql-http-port": "0",
  });
  const { http, graphQl, totals } = await threadServersOf(
    { http: settings.http, webSocket: undefined, graphQl: settings.graphQl },
    rpcPorts({ chain, spec }),
  );
  const call = '{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["0x1",true]}';
  // Each answer has four megabytes.
  const calls = MORE_THAN_KERNELS_TAKE / 1024 / 1024;
  const batch = `[${Array.from({ length: calls }, () => call).join(",")}]`;
  const stalled = net.connect(expectDefined(http, "the HTTP server").port, "127.0.0.1");
  onTestFinished(() => void stalled.destroy());
  stalled.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${batch.length}\r\n\r\n${batch}`);
  await once(stalled, "readable");
  await expect.poll(() => totals.httpAnswers.own).toBeGreaterThan(0);
  const query = "{block(number:1){transactions{inputData}}}";
  const graphQlServer = expectDefined(graphQl, "the GraphQL server");
  expect((await ask(graphQlServer, { path: "/graphql", body: query })).body.length).toBeGreaterThan(
    4_000_000,
  );
  // Each goes around the loop of the server several times, after which that answer is held no more.
  for (let n = 0; n < 50; n++) await ask(graphQlServer, { method: "GET", path: "/" });
  expect(totals.httpAnswers.own).toBeGreaterThan(0);
  stalled.destroy();
  await expect.poll(() => totals.httpAnswers.own).toBe(0);
});

describe("the handshakes of a thread", () => {
  it("have their share of its time for both ports together", async () => {
    const clock = createHandClock(0);
    // No handshake runs out of its own time, however long those take that need no turn.
    takeTimeouts();
    const chain = chainOf([aStoredBlock({ number: 0 })]);
    const spec = aChainSpec(chain, { chainId: 7171n, fork: "london" });
    const servers = await threadServersOf(
      settingsOf("/", withTls("rpc-http", "rpc-ws")),
      rpcPorts({ chain, spec }),
      clock,
    );
    const begin = (server: RpcServer): Promise<void> => {
      const socket = tls.connect({ port: server.port, host: "127.0.0.1", rejectUnauthorized: false });
      onTestFinished(() => void socket.destroy());
      return new Promise((resolve, reject) => {
        socket.once("error", reject);
        socket.once("secureConnect", () => resolve());
      });
    };
    const onHttp = expectDefined(servers.http, "the HTTP server");
    const onWebSocket = expectDefined(servers.webSocket, "the WebSocket server");
    const all = Array.from({ length: 2 * HANDSHAKES_BURST_MS }, () => begin(onHttp));
    // What was saved up is spent, and there is an alarm for the next turn.
    await expect.poll(() => clock.nextAlarmMs).toBeLessThan(TOKEN_CHECK_MS);
    let isSecure = false;
    const secure = begin(onWebSocket).then(() => {
      isSecure = true;
    });
    // These need no turn.
    for (let count = 0; count < 50; count++)
      expect((await fetch(`http://127.0.0.1:${onWebSocket.port}`)).status).toBe(400);
    expect(isSecure).toBe(false);
    const passing = setInterval(() => clock.advanceBy(10), 1);
    onTestFinished(() => clearInterval(passing));
    await secure;
    await Promise.all(all);
  });
});

it("counts handshakes that begin among the connections that open files allow", async () => {
  const chain = chainOf([aStoredBlock({ number: 0 })]);
  const spec = aChainSpec(chain, { chainId: 7171n, fork: "london" });
  const { http: configured } = settingsOf("/", { ...withTls("rpc-http"), "rpc-proxy-addresses": "none" });
  const { maxConnections } = expectDefined(configured, "the settings of HTTP");
  const fitted = fitToOpenFiles(
    { http: configured, webSocket: undefined, explorer: undefined },
    { maxConnections: (maxConnections + HANDSHAKES) / 8, threads: 1, logger: silentLogger },
  );
  const { http } = await threadServersOf(fitted, rpcPorts({ chain, spec }));
  const { port } = expectDefined(http, "the HTTP server");
  const silent: net.Socket[] = [];
  for (let count = 0; count < HANDSHAKES / 2; count++) {
    const socket = net.connect({ port, host: "127.0.0.1", localAddress: `127.0.0.${1 + (count % 4)}` });
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => undefined);
    await new Promise((resolve) => socket.once("connect", resolve));
    silent.push(socket);
  }
  await expect.poll(() => silent.filter(({ destroyed }) => !destroyed).length).toBe(HANDSHAKES / 8);
});

function withTls(...ports: readonly ("rpc-http" | "rpc-ws")[]): Readonly<Record<string, string>> {
  const { certificateFile, keyFile } = aCertificateFor("localhost");
  return Object.fromEntries(
    ports.flatMap((port) => [
      [`${port}-enabled`, "true"],
      [`${port}-port`, "0"],
      [`${port}-tls-enabled`, "true"],
      [`${port}-tls-certificate-file`, certificateFile],
      [`${port}-tls-key-file`, keyFile],
    ]),
  );
}
