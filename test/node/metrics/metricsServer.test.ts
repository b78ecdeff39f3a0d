import { once } from "node:events";
import net from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { MetricsServerSettings } from "../../../src/config/settings.ts";
import { openMetricsServer } from "../../../src/node/metrics/metricsServer.ts";
import { METRIC_CATEGORIES } from "../../../src/observability/categories.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { Metrics } from "../../../src/observability/registry.ts";
import { CLOSING_LIMIT_MS, PIPELINE_LIMIT } from "../../../src/rpc/server/limits.ts";
import type { RpcServer } from "../../../src/rpc/server/server.ts";
import { settling, takeTimeouts } from "../../builders/handTimeouts.ts";
import { ask, sendRaw } from "../../rpc/server/servers.ts";

const SETTINGS: MetricsServerSettings = {
  host: "127.0.0.1",
  port: 0,
  hostAllowlist: ["localhost", "127.0.0.1"],
  idleTimeoutMs: 60_000,
};

/** Two gauges. */
function someMetrics(): Metrics {
  const metrics = new Metrics(
    { categories: new Set(METRIC_CATEGORIES), hasTimers: true },
    { clock: { nowMs: () => 0 }, stopwatchMs: () => 0 },
  );
  metrics.gauge({ category: "ETHEREUM", name: "blockchain_height", help: "Height" }, () => 7);
  metrics.gauge({ category: "ETHEREUM", name: "peer_count", help: "Peers" }, () => 0);
  return metrics;
}

/** A scrape waits for them until the test ends. */
function slowMetrics(): Metrics {
  const metrics = someMetrics();
  metrics.beforeRead(() => new Promise((resolve) => onTestFinished(() => resolve())));
  return metrics;
}

async function aServer(
  settings: Partial<MetricsServerSettings> = {},
  metrics = someMetrics(),
): Promise<RpcServer> {
  const opened = await openMetricsServer({ ...SETTINGS, ...settings }, { metrics, logger: silentLogger });
  if (!opened.ok) throw new Error(opened.error.message);
  onTestFinished(() => opened.value.close());
  return opened.value;
}

const HEIGHT =
  "# HELP ethereum_blockchain_height Height\n# TYPE ethereum_blockchain_height gauge\nethereum_blockchain_height 7\n";
const PEERS = "# HELP ethereum_peer_count Peers\n# TYPE ethereum_peer_count gauge\nethereum_peer_count 0\n";

describe("the metrics server", () => {
  it("answers as Besu does: 201 to a probe, the text, 404 elsewhere, 405 to other methods than GET", async () => {
    const server = await aServer();
    expect(await ask(server, { method: "GET" })).toMatchObject({ status: 201, body: "" });
    expect(await ask(server, { method: "GET", path: "/metrics" })).toMatchObject({
      status: 200,
      headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
      body: HEIGHT + PEERS,
    });
    expect(await ask(server, { method: "GET", path: "/metrics/" })).toMatchObject({ status: 404 });
    expect(await ask(server, { method: "GET", path: "/liveness" })).toMatchObject({ status: 404 });
    expect(await ask(server, { path: "/metrics", body: "{}" })).toMatchObject({ status: 405 });
  });

  it("returns only the samples selected with name[]", async () => {
    const server = await aServer();
    const get = async (query: string) =>
      (await ask(server, { method: "GET", path: `/metrics?${query}` })).body;
    expect(await get("name[]=ethereum_peer_count")).toBe(PEERS);
    expect(await get("name%5B%5D=ethereum_peer_count&name[]=ethereum_blockchain_height")).toBe(
      HEIGHT + PEERS,
    );
    expect(await get("name[]=absent")).toBe("");
    expect(await get("other=1")).toBe(HEIGHT + PEERS);
  });

  it("accepts only requests for a host on the allowlist", async () => {
    const server = await aServer();
    const asked = (host: string) => ask(server, { method: "GET", path: "/metrics", headers: { host } });
    expect(await asked("besu:9545")).toMatchObject({
      status: 403,
      body: '{"message":"Host not authorized.","reason":"The Host of the request, \'besu:9545\', is not in --host-allowlist."}',
      headers: { "content-type": "application/json; charset=utf-8" },
    });
    expect((await asked("LOCALHOST:1")).status).toBe(200);
    expect((await asked("a b")).status).toBe(400);
    expect(await sendRaw(server, "GET /metrics HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1.1 403 /);
    const open = await aServer({ hostAllowlist: ["*"] });
    expect(
      (await ask(open, { method: "GET", path: "/metrics", headers: { host: "besu:9545" } })).status,
    ).toBe(200);
  });

  it("answers each scrape while two hundred half requests of one host are there, from that host and from another", async () => {
    const server = await aServer();
    const half = Array.from({ length: 200 }, () => {
      const socket = net.connect({ port: server.port, host: "127.0.0.1", localAddress: "127.0.0.2" });
      socket.on("error", () => undefined);
      socket.write("GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Never-Ending: ");
      onTestFinished(() => void socket.destroy());
      return once(socket, "connect");
    });
    await Promise.all(half);
    for (const localAddress of ["127.0.0.1", "127.0.0.2"])
      for (let count = 0; count < 8; count++)
        expect((await ask(server, { method: "GET", path: "/metrics", localAddress })).status).toBe(200);
    expect(server.connectionCount).toBeLessThanOrEqual(32);
  });

  it("cuts a connection that pipelines scrapes without end, and answers others", async () => {
    const server = await aServer({}, slowMetrics());
    const scrape = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    expect(await sendRaw(server, scrape.repeat(PIPELINE_LIMIT + 2))).toBe("");
    expect(await ask(server, { method: "GET" })).toMatchObject({ status: 201 });
  });

  it("answers what is not HTTP with a bare status, as the port of JSON-RPC does", async () => {
    const server = await aServer();
    expect(await sendRaw(server, "not HTTP at all\r\n\r\n")).toBe(
      "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    );
  });

  it("closes an idle connection, and answers others in the meantime", async () => {
    const server = await aServer({ idleTimeoutMs: 2_000 });
    const stuck = net.connect(server.port, "127.0.0.1");
    stuck.write("GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Never-Ending: ");
    const cut = once(stuck, "close");
    expect((await ask(server, { method: "GET", path: "/metrics" })).status).toBe(200);
    await cut;
  });

  it("cuts silent connections at once when it closes, and unfinished requests after two seconds", async () => {
    const metrics = someMetrics();
    const large = "x".repeat(1000);
    metrics.gauges({ category: "NODE", name: "large", help: "Large", labels: ["n"] }, () =>
      Array.from({ length: 20_000 }, (_, index) => [[large + index], index] as const),
    );
    const server = await aServer({}, metrics);
    const reader = net.connect(server.port, "127.0.0.1");
    reader.write("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await once(reader, "readable");
    const closed = once(reader, "close");
    const silent = net.connect(server.port, "127.0.0.1");
    await once(silent, "connect");
    const unfinished = net.connect(server.port, "127.0.0.1");
    unfinished.write("GET /metrics HTTP/1.1\r\nHost: ");
    await expect.poll(() => server.connectionCount).toBe(3);
    // The server has read the beginning of that request, too, when it answers a later one.
    await ask(server, { method: "GET" });
    const timeouts = takeTimeouts();
    const silentCut = once(silent, "close");
    const closing = server.close();
    const state = settling(closing);
    await silentCut;
    await timeouts.advanceBy(CLOSING_LIMIT_MS - 1);
    expect(state.isSettled).toBe(false);
    await timeouts.advanceBy(1);
    await closing;
    reader.resume();
    await closed;
  });

  it("refuses a port that is in use", async () => {
    const { port } = await aServer();
    const opened = await openMetricsServer(
      { ...SETTINGS, port },
      { metrics: someMetrics(), logger: silentLogger },
    );
    expect(opened).toMatchObject({ ok: false, error: { code: "addressInUse" } });
  });

  it("answers 500 when a metric cannot be read, and keeps running", async () => {
    const metrics = someMetrics();
    let isBroken = true;
    metrics.gauge({ category: "NODE", name: "odd", help: "Odd" }, () => {
      if (isBroken) throw new Error("broken");
      return 1;
    });
    const server = await aServer({}, metrics);
    expect((await ask(server, { method: "GET", path: "/metrics" })).status).toBe(500);
    isBroken = false;
    expect((await ask(server, { method: "GET", path: "/metrics" })).status).toBe(200);
  });
});
