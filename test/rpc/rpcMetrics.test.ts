import { once } from "node:events";
import net from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { errorTypeOf } from "../../src/rpc/errors/errorMetricNames.ts";
import { ERRORS, RpcError, withDetail } from "../../src/rpc/errors/errors.ts";
import { createRpcMetrics, declareRpcCounts } from "../../src/rpc/rpcMetrics.ts";
import { CALLER_SERVERS } from "../../src/rpc/server/serverTable.ts";
import { aRegistry, readSample } from "../observability/aRegistry.ts";
import { anHttpServer, ask, aWebSocketClient, aWebSocketServer, sendRaw } from "./server/servers.ts";
import { aToyDispatcher } from "./toyMethods.ts";

function counted() {
  const registry = aRegistry();
  const metrics = createRpcMetrics(
    registry.stopwatchSeconds,
    declareRpcCounts(registry, () => 0),
  );
  const { dispatcher } = aToyDispatcher({ metrics });
  return {
    metrics,
    dispatcher,
    calls: (methodName: string) => readSample(registry, "besu_rpc_request_time_count", { methodName }),
    errors: (rpcMethod: string, errorType: string) =>
      readSample(registry, "besu_rpc_errors_count_total", { rpcMethod, errorType }),
    rejected: (reason: string) => readSample(registry, "rpc_requests_rejected_total", { reason }),
  };
}

describe("open connections", () => {
  it("have a gauge for each server that callers reach", async () => {
    const registry = aRegistry();
    declareRpcCounts(registry, (server) => CALLER_SERVERS.indexOf(server) + 1);
    const names = [
      "besu_rpc_active_http_connection_count",
      "besu_rpc_active_ws_connection_count",
      "rpc_ipc_connections",
      "rpc_graphql_connections",
    ];
    expect(await Promise.all(names.map((name) => readSample(registry, name, {})))).toEqual([1, 2, 3, 4]);
  });
});

describe("a call", () => {
  it("is counted under the name used, also each call of a batch, whether it answers synchronously or not", async () => {
    const { metrics, dispatcher, calls } = counted();
    const server = await anHttpServer(dispatcher, {}, { metrics });
    for (const method of ["eth_chainId", "toy_later"])
      await ask(server, { body: `{"id":1,"method":"${method}"}` });
    const batch = ["eth_chainId", "toy_send", "toy_later"].map((method) => ({
      id: 1,
      method,
      params: ["0x"],
    }));
    await ask(server, { body: JSON.stringify(batch) });
    expect(await Promise.all(["eth_chainId", "toy_later", "toy_send"].map(calls))).toEqual([2, 2, 1]);
    expect(await calls("eth_sendRawTransaction")).toBeUndefined();
  });

  it("that is refused or fails is counted under Besu's name of the error", async () => {
    const { metrics, dispatcher, errors } = counted();
    const server = await anHttpServer(dispatcher, {}, { metrics });
    const methods = [
      "toy_refuses",
      "toy_throws",
      "toy_rejects",
      "eth_getBalance",
      "net_nothing",
      "debug_metrics",
    ];
    for (const method of methods) await ask(server, { body: `{"id":1,"method":"${method}"}` });
    expect(await errors("toy_refuses", "BLOCK_NOT_FOUND")).toBe(1);
    expect(await errors("toy_throws", "INTERNAL_ERROR")).toBe(1);
    expect(await errors("toy_rejects", "INTERNAL_ERROR")).toBe(1);
    expect(await errors("eth_getBalance", "INVALID_PARAMS")).toBe(1);
    expect(await errors("unknown", "METHOD_NOT_FOUND")).toBe(1);
    expect(await errors("debug_metrics", "METHOD_NOT_ENABLED")).toBe(1);
  });

  it("over WebSocket is counted with those over HTTP", async () => {
    const { metrics, dispatcher, calls } = counted();
    const client = await aWebSocketClient(await aWebSocketServer(dispatcher, {}, { metrics }));
    client.send({ id: 1, method: "eth_chainId" });
    await client.next();
    expect(await calls("eth_chainId")).toBe(1);
  });
});

describe("refused requests and connections are counted by reason", () => {
  it("over HTTP: host, origin, body, batch and time", async () => {
    const { metrics, dispatcher, rejected } = counted();
    const settings = { maxBodyBytes: 200, maxBatchSize: 1 };
    const server = await anHttpServer(dispatcher, settings, { metrics });
    await ask(server, { headers: { host: "elsewhere" } });
    await ask(server, { headers: { origin: "http://elsewhere" } });
    await ask(server, { body: " ".repeat(201) });
    await ask(server, { body: "[{},{}]" });
    const hasty = await anHttpServer(dispatcher, { timeoutMs: 20 }, { metrics });
    await ask(hasty, { body: '{"id":1,"method":"toy_hold"}' });
    const reasons = ["host", "origin", "body", "batch", "timeout", "connections"];
    expect(await Promise.all(reasons.map(rejected))).toEqual([1, 1, 1, 1, 1, 0]);
  });

  it("connections above the limit, on both servers, and upgrades with a wrong host", async () => {
    const { metrics, dispatcher, rejected } = counted();
    for (const open of [anHttpServer, aWebSocketServer]) {
      const server = await open(dispatcher, { maxConnections: 1 }, { metrics });
      const first = net.connect(server.port, "127.0.0.1");
      onTestFinished(() => void first.destroy());
      await once(first, "connect");
      // The server may close the idle first connection to make room.
      await sendRaw(server, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    }
    expect(await rejected("connections")).toBe(2);
    const server = await aWebSocketServer(dispatcher, {}, { metrics });
    await sendRaw(server, "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n");
    expect(await rejected("host")).toBe(1);
  });
});

describe("Besu's name of an error", () => {
  it.each([
    [ERRORS.methodNotFound, "METHOD_NOT_FOUND"],
    [ERRORS.timeoutExpired, "TIMEOUT_ERROR"],
    [ERRORS.nonceTooLow, "NONCE_TOO_LOW"],
    [ERRORS.feeCapExceeded, "TX_FEECAP_EXCEEDED"],
    [ERRORS.unknownBlock, "UNKNOWN_BLOCK"],
    [new RpcError(3, "Execution reverted: no", "0x"), "REVERT_ERROR"],
    [withDetail(ERRORS.nonceTooHigh, "by two"), "NONCE_TOO_HIGH"],
    [new RpcError(-1, "unknown to Besu"), "INTERNAL_ERROR"],
  ])("%o is %s", (error, type) => {
    expect(errorTypeOf(error)).toBe(type);
  });
});
