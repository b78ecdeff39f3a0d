import net from "node:net";
import tls from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import { openRpcServers } from "../../src/node/rpcServers.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { HEARTBEAT_MS } from "../../src/rpc/server/limits.ts";
import type { RpcServer } from "../../src/rpc/server/server.ts";
import { HANDSHAKES_BURST_MS } from "../../src/rpc/server/tls/handshakeLimits.ts";
import { aChainSpec, rpcPorts } from "../builders/anRpcBackend.ts";
import { aStoredBlock } from "../builders/aStoredBlock.ts";
import { createHandClock } from "../builders/handClock.ts";
import { chainOf } from "../builders/recordedChain.ts";
import { aCertificateFor } from "../builders/tlsFiles.ts";
import { IN_REAL_TIME } from "../realTime.ts";
import { ask } from "../rpc/server/servers.ts";
import { settingsOf } from "./settingsOf.ts";

it("answers a large request that waits to be read when the servers close", async () => {
  const hand = createHandClock(0);
  let readings = 0;
  // The first slice takes a second, and all that follow no time.
  const clock = { nowMs: () => hand.nowMs() + Math.min(readings++, 3) * 1000, at: hand.at };
  const chain = chainOf([aStoredBlock({ number: 0 })]);
  const spec = aChainSpec(chain, { chainId: 7171n, fork: "london" });
  const { http } = settingsOf("/", { "rpc-http-enabled": "true", "rpc-http-port": "0" });
  const opened = await openRpcServers(
    { http, webSocket: undefined, explorer: undefined },
    rpcPorts({ chain, spec }),
    {
      maxConnections: undefined,
      clock,
      logger: silentLogger,
      metrics: undefined,
    },
  );
  if (!opened.ok) throw new Error(opened.error.message);
  readings = 0;
  const server = expectDefined(opened.value.http, "the HTTP server");
  const body = '{"id":1,"method":"eth_chainId"}'.padEnd(200_000);
  const answer = '{"jsonrpc":"2.0","id":1,"result":"0x1c03"}';
  expect((await ask(server, { body })).body).toBe(answer);
  const waiting = ask(server, { body });
  await expect.poll(() => hand.nextAlarmMs).toBeDefined();
  const closed = opened.value.close();
  hand.advanceBy(60_000);
  expect((await waiting).body).toBe(answer);
  await closed;
});

it("leaves a quarter of the connections to other addresses when the limit is low", async () => {
  const chain = chainOf([aStoredBlock({ number: 0 })]);
  const spec = aChainSpec(chain, { chainId: 7171n, fork: "london" });
  const options = { "rpc-http-enabled": "true", "rpc-http-port": "0", "rpc-proxy-addresses": "none" };
  const { http } = settingsOf("/", options);
  const opened = await openRpcServers(
    { http, webSocket: undefined, explorer: undefined },
    rpcPorts({ chain, spec }),
    {
      maxConnections: 8,
      clock: createHandClock(0),
      logger: silentLogger,
      metrics: undefined,
    },
  );
  if (!opened.ok) throw new Error(opened.error.message);
  onTestFinished(() => opened.value.close());
  const server = expectDefined(opened.value.http, "the HTTP server");
  for (let count = 0; count < 12; count++) {
    const socket = net.connect({ port: server.port, host: "127.0.0.1" });
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => undefined);
    await new Promise((resolve) => socket.once("connect", resolve));
  }
  await expect.poll(() => server.connectionCount).toBe(6);
});

describe("the handshakes of a thread", IN_REAL_TIME, () => {
  it("have their share of its time for both ports together", async () => {
    const clock = createHandClock(0);
    const chain = chainOf([aStoredBlock({ number: 0 })]);
    const spec = aChainSpec(chain, { chainId: 7171n, fork: "london" });
    const { certificateFile, keyFile } = aCertificateFor("localhost");
    const options = Object.fromEntries(
      ["rpc-http", "rpc-ws"].flatMap((port) => [
        [`${port}-enabled`, "true"],
        [`${port}-port`, "0"],
        [`${port}-tls-enabled`, "true"],
        [`${port}-tls-certificate-file`, certificateFile],
        [`${port}-tls-key-file`, keyFile],
      ]),
    );
    const { http, webSocket } = settingsOf("/", options);
    const opened = await openRpcServers({ http, webSocket, explorer: undefined }, rpcPorts({ chain, spec }), {
      maxConnections: undefined,
      clock,
      logger: silentLogger,
      metrics: undefined,
    });
    if (!opened.ok) throw new Error(opened.error.message);
    onTestFinished(() => opened.value.close());
    let secured = 0;
    const begin = (server: RpcServer | undefined): Promise<void> => {
      const { port } = expectDefined(server, "a server");
      const socket = tls.connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
      onTestFinished(() => void socket.destroy());
      return new Promise((resolve, reject) => {
        socket.once("error", reject);
        socket.once("secureConnect", () => {
          secured++;
          resolve();
        });
      });
    };
    const onHttp = Array.from({ length: 2 * HANDSHAKES_BURST_MS }, () => begin(opened.value.http));
    await Promise.race(onHttp);
    // What was saved up is spent, and the others wait for their turns.
    await expect.poll(() => clock.nextAlarmMs).toBeLessThan(HEARTBEAT_MS);
    const before = secured;
    const onWebSocket = begin(opened.value.webSocket).then(() => secured);
    const passing = setInterval(() => clock.advanceBy(1), 1);
    onTestFinished(() => clearInterval(passing));
    // Those of this address have one queue, in their order.
    expect(await onWebSocket).toBeGreaterThan(before + HANDSHAKES_BURST_MS / 2);
    await Promise.all(onHttp);
  });
});
