import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { itIfThorough } from "../../thorough.ts";
import { type LogLine, logOf, type NodeProcess, until } from "../harness/nodeProcess.ts";
import { CHAIN_ID, prepareNetwork, type ValidatorNetwork } from "../harness/validatorNetwork.ts";

let network: ValidatorNetwork;
let node: NodeProcess;

/** Three of four validators run, so that one round in four fails. */
beforeAll(async () => {
  network = await prepareNetwork({
    validators: 4,
    requestTimeoutSeconds: 1,
    options: ["--logging=TRACE", "--rpc-http-cors-origins=*"],
  });
  const [first] = await Promise.all(network.members.slice(0, 3).map((member) => network.start(member)));
  if (first === undefined) throw new Error("there are three");
  node = first;
});

afterAll(() => network.stopAll());

function line(message: string, facts: Readonly<Record<string, unknown>> = {}): Promise<LogLine> {
  const isIt = (one: LogLine): boolean =>
    one.message === message && Object.entries(facts).every(([name, value]) => one[name] === value);
  return until(async () => logOf(node).find(isIt), `the line "${message}"`);
}

function post(body: string): Promise<Response> {
  return fetch(node.httpUrl, { method: "POST", body });
}

describe("the log of a validator", () => {
  itIfThorough("shows rounds at DEBUG, and who asks for another one", async () => {
    const addresses = network.members.map(({ key }) => toHex(key.address));
    const first = await line("round begins", { round: 0 });
    expect(first).toMatchObject({
      level: "DEBUG",
      class: "consensus",
      isOwn: expect.any(Boolean),
      lastsMs: 1000,
    });
    expect(addresses).toContain(first["proposer"]);
    const request = await line("another round is requested", { round: 1, requests: 2 });
    expect(request).toMatchObject({ level: "DEBUG", quorum: 3 });
    expect(addresses).toContain(request["by"]);
    expect(await line("round begins", { round: 1 })).toMatchObject({
      proposer: expect.any(String),
      lastsMs: 2000,
    });
  });

  it("counts messages by kind for each block at DEBUG, and shows each at TRACE", async () => {
    const own = toHex(network.members[0]?.key.address ?? new Uint8Array());
    const counted = await until(
      async () =>
        logOf(node).find(
          (one) =>
            one.message === "consensus messages up to this block" &&
            (one["accepted"] as { readonly commit?: number }).commit !== undefined &&
            // On a busy machine, a block may need a round more.
            (one["sent"] as { readonly commit?: number }).commit === 1,
        ),
      "counted messages",
    );
    expect(counted).toMatchObject({ level: "DEBUG", number: expect.any(Number), sent: { commit: 1 } });
    const accepted = await line("a consensus message is accepted", { kind: "commit" });
    expect(accepted).toMatchObject({ level: "TRACE", height: expect.any(Number), round: expect.any(Number) });
    expect(accepted["author"]).not.toBe(own);
    expect(await line("message received", { protocol: "IBF/1", kind: "Commit" })).toMatchObject({
      level: "TRACE",
      class: "network",
      bytes: expect.any(Number),
      peer: expect.stringMatching(/^0x[0-9a-f]{40}$/),
      host: "127.0.0.1",
    });
    await line("message sent", { protocol: "IBF/1", kind: "Prepare" });
    await line("message sent", { protocol: "eth/68", kind: "Status" });
  });

  it("shows requests that are refused or fail, and transactions, but no parameters", async () => {
    const poor = aTransaction({ privateKey: account(3).privateKey, chainId: CHAIN_ID, value: 5n });
    const raw = toHex(poor.raw);
    await node.rpc("eth_sendRawTransaction", [raw]).catch(() => undefined);
    expect(
      await line("JSON-RPC request refused or failed", { method: "eth_sendRawTransaction" }),
    ).toMatchObject({
      level: "DEBUG",
      class: "rpc",
      client: "127.0.0.1",
      code: -32004,
      error: "Upfront cost exceeds account balance",
      ms: expect.any(Number),
    });
    expect(await line("transaction refused", { hash: toHex(poor.hash) })).toMatchObject({
      level: "DEBUG",
      class: "txpool",
      origin: "local",
      code: "upfrontCostAboveBalance",
    });
    await node.rpc("eth_chainId");
    expect(await line("JSON-RPC request answered", { method: "eth_chainId" })).toMatchObject({
      level: "TRACE",
    });
    expect(node.output()).not.toContain(raw.slice(2, 66));
    const page = { origin: "http://page.example", host: "127.0.0.1" };
    await fetch(node.httpUrl, {
      method: "POST",
      headers: page,
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "miner_stop" }),
    });
    await line("JSON-RPC request refused or failed", { method: "miner_stop", isForeignPage: true });
    await post("{");
    await line("request or connection refused", { reason: "not a JSON object", client: "127.0.0.1" });
  });

  it("shows why a connection ended", async () => {
    await network.members[2]?.node?.stop();
    expect(await line("connection ended", { reason: "clientQuitting" })).toMatchObject({
      level: "DEBUG",
      by: "them",
      host: "127.0.0.1",
    });
  });

  // Takes an interval of ten seconds; test/observability/often.test.ts has a clock of its own.
  itIfThorough("is not filled by a flood of refused requests", async () => {
    const before = node.output().length;
    const bad = { jsonrpc: "2.0", id: 1, method: "x".repeat(500), params: ["y".repeat(500)] };
    const batch = JSON.stringify(Array.from({ length: 100 }, () => bad));
    for (let count = 0; count < 20; count++) await (await post(batch)).text();
    const isRefusal = ({ message }: LogLine): boolean =>
      message.startsWith("JSON-RPC request refused or failed");
    const told = await until(
      async () => logOf(node).find((one) => isRefusal(one) && typeof one["more"] === "number"),
      "the number of the other lines",
    );
    expect(told.message).toMatch(/\(and [\d,]+ more in ten seconds\)$/);
    // Of 2,000 requests, which end within two intervals on any machine that passes the other tests.
    expect(logOf(node).filter(isRefusal).length).toBeLessThan(500);
    expect(node.output().slice(before)).not.toContain("x".repeat(81));
  });
});
