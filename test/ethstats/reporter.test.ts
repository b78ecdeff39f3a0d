import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EthstatsReporter, type EthstatsSettings } from "../../src/ethstats/reporter.ts";
import { aStoredBlock } from "../builders/aStoredBlock.ts";
import { createHandClock, type HandClock } from "../builders/handClock.ts";
import { type LoggedLine, loggedLines } from "../builders/loggedLines.ts";
import { chainOf } from "../builders/recordedChain.ts";
import { aCertificateFor } from "../builders/tlsFiles.ts";
import { EthstatsServer } from "./ethstatsServer.ts";

let server: EthstatsServer;
let port: number;
let clock: HandClock;
let log: ReturnType<typeof loggedLines>;
let reporter: EthstatsReporter | undefined;

beforeEach(async () => {
  clock = createHandClock(0);
  log = loggedLines("TRACE");
  server = new EthstatsServer();
  port = await server.listen();
});

afterEach(async () => {
  reporter?.stop();
  await server.close();
});

function start(choices: Partial<EthstatsSettings> = {}): void {
  const settings = {
    ...{ nodeName: "node", secret: server.secret, contact: "", host: "127.0.0.1", port },
    ...{ isSecure: false, authorities: undefined },
    ...choices,
  };
  reporter = new EthstatsReporter(settings, {
    chain: chainOf([0, 1, 2].map((number) => aStoredBlock({ number }))),
    identity: () => ({ id: "0xabcd", port: 1, clientVersion: "ibex", chainId: 7n, protocols: [] }),
    stats: () => ({ isMining: false, isSyncing: true, peers: 0, pendingTransactions: 0, gasPriceWei: 0n }),
    platform: "linux",
    architecture: "x64",
    clock,
    nowMs: () => 0,
    logger: log.logger.child("metrics"),
  });
  reporter.start();
}

function losses(): readonly LoggedLine[] {
  return log.lines.filter(({ message }) => message === "not reporting to the ethstats server");
}

/** Waits until so many connections were lost. */
async function lost(times: number): Promise<LoggedLine> {
  while (losses().length < times) await new Promise((resolve) => setTimeout(resolve, 5));
  return losses()[times - 1] as LoggedLine;
}

describe("reports to an ethstats server", () => {
  it("arrive, and go on after the server has come back", async () => {
    start();
    await server.until(() => server.named("stats").length === 1 && server.named("latency").length === 1);
    expect(server.named("block")[0]).toMatchObject({ id: "0xabcd", block: { number: 2 } });
    server.say("history", { list: [1, 2] });
    await server.until(() => server.named("history").length === 1);
    server.socket?.send(JSON.stringify("primus::ping::5"));
    await server.until(() => server.texts.length === 1);
    server.socket?.close();
    expect(await lost(1)).toMatchObject({ reason: "it closed the connection", retryInMs: 10_000 });
    clock.advanceBy(10_000);
    await server.until(() => server.named("stats").length === 2);
    expect(server.connections).toBe(2);
  });

  it("are tried again after pauses that double, up to five minutes, while the server is absent", async () => {
    await server.close();
    start();
    const pauses: unknown[] = [];
    for (let attempt = 1; attempt <= 7; attempt++) {
      pauses.push((await lost(attempt))["retryInMs"]);
      clock.advanceBy(300_000);
    }
    expect(pauses).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
    server = new EthstatsServer();
    await server.listen();
  });

  it("say that the secret may be wrong, without showing it", async () => {
    start({ secret: "the-wrong-one" });
    const { reason } = await lost(1);
    expect(reason).toBe("it closed the connection without accepting the node: is the secret right?");
    expect(JSON.stringify(log.lines)).not.toContain("the-wrong-one");
  });

  it("survive a message of megabytes, garbage, and a flood, each by a new connection", async () => {
    start();
    await server.until(() => server.named("stats").length === 1);
    server.socket?.send("x".repeat(5 * 1024 * 1024));
    expect((await lost(1))["reason"]).toContain("Max payload size exceeded");
    clock.advanceBy(10_000);
    await server.until(() => server.connections === 2 && server.named("stats").length === 2);
    for (let message = 0; message < 1000; message++) server.socket?.send("{");
    expect((await lost(2))["reason"]).toBe("it sends more than an ethstats server needs to");
    clock.advanceBy(10_000);
    await server.until(() => server.connections === 3 && server.named("stats").length === 3);
    for (let ping = 0; ping < 1000; ping++) server.socket?.ping("x");
    expect((await lost(3))["reason"]).toBe("it sends more than an ethstats server needs to");
  });

  it.each([
    ["binary messages", () => server.socket?.send(Buffer.alloc(1))],
    ["pongs that nobody asked for", () => server.socket?.pong()],
  ])("end the connection to a server that floods them with %s", async (_, flood) => {
    start();
    await server.until(() => server.named("stats").length === 1);
    for (let message = 0; message < 500; message++) flood();
    expect((await lost(1))["reason"]).toBe("it sends more than an ethstats server needs to");
  });

  it("stop with the node", async () => {
    start();
    await server.until(() => server.named("stats").length === 1);
    reporter?.stop();
    await server.until(() => server.socket?.readyState === 3);
    clock.advanceBy(1_000_000);
    expect(losses()).toEqual([]);
    expect(server.connections).toBe(1);
  });
});

describe("an ethstats server without ws:// or wss://", () => {
  it("is tried encrypted first, then in plain text", async () => {
    start({ isSecure: undefined });
    expect(await lost(1)).toMatchObject({ encrypted: true });
    expect(server.connections).toBe(0);
    clock.advanceBy(10_000);
    await server.until(() => server.named("stats").length === 1);
  });
});

describe("an encrypted ethstats server", () => {
  it("is trusted by the certificate that is named, and by no other", async () => {
    await server.close();
    const own = aCertificateFor("ethstats");
    server = new EthstatsServer(own);
    port = await server.listen();
    start({ isSecure: true, authorities: aCertificateFor("another").certificate });
    expect((await lost(1))["reason"]).toMatch(/certificate/);
    reporter?.stop();
    start({ isSecure: true, authorities: own.certificate });
    await server.until(() => server.named("stats").length === 1);
  });
});
