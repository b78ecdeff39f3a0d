import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { MetricsPush } from "../../../src/node/metrics/metricsPush.ts";
import { METRIC_CATEGORIES } from "../../../src/observability/categories.ts";
import { type Logger, silentLogger } from "../../../src/observability/logger.ts";
import { Metrics } from "../../../src/observability/registry.ts";
import { createHandClock, type HandClock } from "../../builders/handClock.ts";

interface Received {
  readonly line: string;
  readonly type: string | undefined;
  readonly body: string;
}

/** A push gateway that records its requests; `status` is its response. */
async function aGateway() {
  const received: Received[] = [];
  const answer = { status: 200 };
  const server: Server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("end", () => {
      received.push({
        line: `${request.method} ${request.url}`,
        type: request.headers["content-type"],
        body,
      });
      response.writeHead(answer.status).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    received,
    answer,
  };
}

function aPusher(port: number) {
  const clock = createHandClock(0);
  const logged: string[] = [];
  const collect = (_: unknown, message: string): void => void logged.push(message);
  const logger: Logger = { ...silentLogger, warn: collect, info: collect };
  const metrics = new Metrics(
    { categories: new Set(METRIC_CATEGORIES), hasTimers: true },
    { clock, stopwatchMs: () => clock.nowMs() },
  );
  let height = 0;
  metrics.gauge({ category: "ETHEREUM", name: "blockchain_height", help: "Height" }, () => ++height);
  const push = new MetricsPush(
    { host: "127.0.0.1", port, intervalMs: 10_000, job: "a job/1" },
    { metrics, clock, logger },
  );
  return { clock, logged, push };
}

/** Advances the clock to each timer in turn, after pending callbacks have run, until `condition` holds. */
async function advanceUntil(clock: HandClock, condition: () => boolean): Promise<void> {
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    if (condition()) return;
    clock.advanceTo(clock.nextAlarmMs ?? clock.nowMs());
  }
}

const text = (height: number): string =>
  `# HELP ethereum_blockchain_height Height\n# TYPE ethereum_blockchain_height gauge\nethereum_blockchain_height ${height}\n`;

describe("pushing metrics", () => {
  it("begins after half an interval, continues with whole ones, and deletes the group at the stop", async () => {
    const gateway = await aGateway();
    const { clock, push, logged } = aPusher(gateway.port);
    expect(clock.nextAlarmMs).toBe(5_000);
    clock.advanceTo(5_000);
    expect(clock.nextAlarmMs).toBe(15_000);
    await advanceUntil(clock, () => gateway.received.length === 2);
    expect(gateway.received).toEqual(
      [1, 2].map((height) => ({
        line: "POST /metrics/job/a%20job%2F1",
        type: "text/plain; version=0.0.4; charset=utf-8",
        body: text(height),
      })),
    );
    await push.stop();
    expect(gateway.received.map(({ line }) => line.split(" ")[0])).toEqual(["POST", "POST", "DELETE"]);
    expect(clock.nextAlarmMs).toBeUndefined();
    expect(logged).toEqual([]);
  });

  it("logs once that the gateway fails, keeps trying, and logs when it is back", async () => {
    const gateway = await aGateway();
    const { clock, push, logged } = aPusher(gateway.port);
    gateway.answer.status = 503;
    await advanceUntil(clock, () => gateway.received.length === 3);
    expect(logged).toEqual(["metrics cannot be pushed; the node keeps trying"]);
    gateway.answer.status = 202;
    await advanceUntil(clock, () => logged.length === 2);
    expect(logged[1]).toBe("metrics are pushed again");
    await push.stop();
  });

  it("does not delay the stop when there is no gateway", async () => {
    const gateway = await aGateway();
    const { push, logged } = aPusher(1);
    await push.stop();
    expect(logged).toEqual(["the push gateway keeps the last metrics"]);
    expect(gateway.received).toEqual([]);
  });
});
