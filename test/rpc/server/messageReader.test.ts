import { describe, expect, it } from "vitest";
import { LARGE_MESSAGES_WAITING } from "../../../src/rpc/server/limits.ts";
import { MessageReader } from "../../../src/rpc/server/messageReader.ts";
import { aCaller } from "../../builders/aCaller.ts";
import { createHandClock } from "../../builders/handClock.ts";
import { aToyDispatcher } from "../toyMethods.ts";
import { anHttpServer, ask, aWebSocketClient, aWebSocketServer } from "./servers.ts";

const CHAIN_ID = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}';
const CHAIN_ID_ANSWER = '{"jsonrpc":"2.0","id":1,"result":"0x1c03"}';
const LARGE = CHAIN_ID.padEnd(200_000);

/** A reader whose clock advances by 40 ms on each call, so that each message takes at least that long to read. */
function aSlowReader() {
  const hand = createHandClock(0);
  const clock = {
    nowMs() {
      hand.advanceBy(40);
      return hand.nowMs();
    },
    at: hand.at,
  };
  return { reader: new MessageReader(clock), pass: (milliseconds: number) => hand.advanceBy(milliseconds) };
}

describe("large messages", () => {
  it("wait when they take too much time, while small ones are answered", async () => {
    const { dispatcher } = aToyDispatcher();
    const { reader, pass } = aSlowReader();
    const server = await anHttpServer(dispatcher, {}, { reader });
    const answers: string[] = [];
    const requests = Array.from({ length: 8 }, async () => {
      answers.push((await ask(server, { body: LARGE })).body);
    });
    await expect.poll(() => answers.length).toBeGreaterThan(0);
    expect((await ask(server, { body: CHAIN_ID })).body).toBe(CHAIN_ID_ANSWER);
    expect(answers.length).toBeLessThan(8);
    const passing = setInterval(() => pass(200), 1);
    await Promise.all(requests);
    clearInterval(passing);
    expect(answers).toEqual(Array(8).fill(CHAIN_ID_ANSWER));
  });

  it("are also answered over WebSocket, and delay no other client there", async () => {
    const { dispatcher } = aToyDispatcher();
    const { reader, pass } = aSlowReader();
    const server = await aWebSocketServer(dispatcher, {}, { reader });
    const [greedy, modest] = [await aWebSocketClient(server), await aWebSocketClient(server)];
    for (let count = 0; count < 8; count++) greedy.send(LARGE);
    modest.send(CHAIN_ID);
    expect(await modest.next()).toBe(CHAIN_ID_ANSWER);
    const passing = setInterval(() => pass(200), 1);
    for (let count = 0; count < 8; count++) expect(await greedy.next()).toBe(CHAIN_ID_ANSWER);
    clearInterval(passing);
  });

  it("are refused when too many of them wait, and not read when their sender has disconnected", async () => {
    const hand = createHandClock(0);
    let readings = 0;
    // The first reading takes a second, and all that follow no time.
    const reader = new MessageReader({
      nowMs: () => hand.nowMs() + Math.min(readings++, 3) * 1000,
      at: hand.at,
    });
    const text = CHAIN_ID.padEnd(5_000_000);
    let isDisconnected = false;
    const read: unknown[] = [];
    const results = Array.from({ length: 40 }, () =>
      reader.read(text, { remoteHost: "greedy", isAbandoned: () => isDisconnected }, (value) =>
        read.push(value),
      ),
    );
    expect(results.at(0)).toBeInstanceOf(Promise);
    expect(results.at(-1)).toBe("busy");
    await results.at(0);
    isDisconnected = true;
    hand.advanceBy(60_000);
    await Promise.all(results);
    expect(read).toHaveLength(1);
  });

  it("find room and get their turn though another remote host sends as many as it can", async () => {
    const hand = createHandClock(0);
    let readings = 0;
    const reader = new MessageReader({
      nowMs: () => hand.nowMs() + Math.min(readings++, 3) * 1000,
      at: hand.at,
    });
    const read: string[] = [];
    const send = (remoteHost: string, length: number) =>
      reader.read("7".padEnd(length), { ...aCaller, remoteHost }, () => void read.push(remoteHost));
    const greedy = Array.from({ length: 40 }, () => send("greedy", 5_000_000));
    expect(greedy.at(-1)).toBe("busy");
    const modest = send("modest", 300_000);
    expect(modest).toBeInstanceOf(Promise);
    hand.advanceBy(60_000);
    await Promise.all([...greedy, modest]);
    expect(read.slice(0, 3)).toEqual(["greedy", "greedy", "modest"]);
    expect(read.length).toBeGreaterThan(5);
  });

  it("wait while others take long to be processed after they were read", async () => {
    const hand = createHandClock(0);
    const reader = new MessageReader(hand);
    const read: string[] = [];
    const send = (name: string, tookMs: number) =>
      reader.read(LARGE, aCaller, () => {
        hand.advanceBy(tookMs);
        read.push(name);
      });
    await send("long", 1000);
    const next = send("next", 0);
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(read).toEqual(["long"]);
    hand.advanceBy(10_000);
    await next;
    expect(read).toEqual(["long", "next"]);
  });

  it("are read at any size when nothing else waits", async () => {
    const reader = new MessageReader(createHandClock(0));
    const read: unknown[] = [];
    await reader.read("7".padEnd(LARGE_MESSAGES_WAITING + 1), aCaller, (value) => read.push(value));
    expect(read).toEqual([7]);
  });

  it("are refused when they have too many parts, over WebSocket as over HTTP", async () => {
    const client = await aWebSocketClient(await aWebSocketServer(aToyDispatcher().dispatcher));
    client.send(`[${"[],".repeat(200_000)}0]`);
    expect(await client.nextJson()).toMatchObject({
      error: { code: -32005, message: "The message has more than 200,000 lists, objects and members" },
    });
  });

  it("are counted when they are refused", async () => {
    const reasons: string[] = [];
    const hand = createHandClock(0);
    const reader = new MessageReader(hand, { rejected: (reason) => void reasons.push(reason) });
    const read = (text: string) => reader.read(text, aCaller, () => undefined);
    await read(`[${"[],".repeat(200_000)}0]`);
    expect(reasons).toEqual(["parts"]);
    const halves = Array.from({ length: 2 }, () => read(" ".padEnd(LARGE_MESSAGES_WAITING / 2)));
    expect(reasons).toEqual(["parts", "busy"]);
    await Promise.all(halves);
  });
});
