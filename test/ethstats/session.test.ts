import { beforeEach, describe, expect, it } from "vitest";
import { EthstatsSession, type EthstatsSocket } from "../../src/ethstats/session.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { toHex } from "../../src/primitives/hex.ts";
import type { StoredBlock } from "../../src/types/block.ts";
import { aStoredBlock } from "../builders/aStoredBlock.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { createHandClock, type HandClock } from "../builders/handClock.ts";
import { loggedLines } from "../builders/loggedLines.ts";
import { chainOf } from "../builders/recordedChain.ts";

const SECRET = "never-in-a-log";
const BLOCKS = Array.from({ length: 101 }, (_, number) =>
  aStoredBlock({
    number,
    transactions: number === 100 ? [aTransaction({ nonce: 1n }), aTransaction({ nonce: 2n })] : [],
  }),
);

interface Message {
  readonly name: string;
  readonly content: Readonly<Record<string, unknown>>;
}

let clock: HandClock;
let socket: EthstatsSocket & { bufferedAmount: number };
let sent: Message[];
let texts: string[];
let pongs: number;
let isTerminated: boolean;
let ends: string[];
let session: EthstatsSession;
let log: ReturnType<typeof loggedLines>;

beforeEach(() => {
  clock = createHandClock(1_000_000);
  [sent, texts, ends, pongs, isTerminated] = [[], [], [], 0, false];
  log = loggedLines("TRACE");
  socket = {
    bufferedAmount: 0,
    send(data: unknown) {
      const text = typeof data === "string" ? data : Buffer.from(data as Uint8Array).toString("utf8");
      const value = JSON.parse(text) as string | { readonly emit: readonly [string, Message["content"]] };
      if (typeof value === "string") texts.push(value);
      else sent.push({ name: value.emit[0], content: value.emit[1] });
    },
    pong: () => void pongs++,
    terminate: () => {
      isTerminated = true;
    },
  };
  session = begin(chainOf(BLOCKS));
});

function begin(chain: Pick<ReturnType<typeof chainOf>, "head" | "blockByNumber">): EthstatsSession {
  sent = [];
  return new EthstatsSession(
    socket,
    { nodeName: "my-node", secret: SECRET, contact: "me@example.org" },
    {
      chain,
      identity: () => ({
        id: "0xabcd",
        port: 30303,
        clientVersion: "ibex/v1",
        chainId: 1337n,
        protocols: ["eth/68", "IBF/1"],
      }),
      stats: () => ({
        isMining: true,
        isSyncing: false,
        peers: 3,
        pendingTransactions: 12,
        gasPriceWei: 1000n,
      }),
      platform: "linux",
      architecture: "x64",
      clock,
      nowMs: () => 1_700_000_000_000,
      logger: log.logger.child("metrics"),
    },
    (reason) => ends.push(reason),
  );
}

function say(value: unknown): void {
  session.received(Buffer.from(JSON.stringify(value)));
}

/** Lets reports be written, which takes cycles of the event loop. */
async function settled(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

const named = (name: string): readonly Message["content"][] =>
  sent.filter((message) => message.name === name).map(({ content }) => content);

async function accepted(): Promise<void> {
  say({ emit: ["ready"] });
  await settled(() => named("stats").length === 1);
}

describe("a session with an ethstats server", () => {
  it("begins with a hello, and reports once the server is ready", async () => {
    expect(sent).toEqual([
      {
        name: "hello",
        content: {
          id: "0xabcd",
          info: {
            name: "my-node",
            node: "ibex/v1",
            port: "30303",
            net: "1337",
            protocol: "[eth/68, IBF/1]",
            api: "No",
            os: "linux",
            os_v: "x64",
            client: "0.1.1",
            canUpdateHistory: true,
            contact: "me@example.org",
          },
          secret: SECRET,
        },
      },
    ]);
    await accepted();
    expect(sent.map(({ name }) => name)).toEqual(["hello", "node-ping", "block", "pending", "stats"]);
    expect(named("node-ping")).toEqual([{ id: "0xabcd", clientTime: "1700000000000" }]);
    expect(named("pending")).toEqual([{ id: "0xabcd", stats: { pending: 12 } }]);
    expect(named("stats")).toEqual([
      {
        id: "0xabcd",
        stats: {
          active: true,
          mining: true,
          hashrate: 0,
          peers: 3,
          gasPrice: 1000,
          syncing: false,
          uptime: 100,
        },
      },
    ]);
  });

  it("reports the head with numbers that the server can compare, and its transactions by hash", async () => {
    await accepted();
    const head = BLOCKS[100] as StoredBlock;
    expect(named("block")).toEqual([
      {
        id: "0xabcd",
        block: expect.objectContaining({
          number: 100,
          hash: toHex(head.hash),
          parentHash: toHex(head.header.parentHash),
          timestamp: Number(head.header.timestamp),
          gasLimit: Number(head.header.gasLimit),
          difficulty: "1",
          transactions: head.transactions.map(({ hash }) => ({ hash: toHex(hash) })),
          uncles: [],
        }),
      },
    ]);
  });

  it("reports every five seconds, and the latency after each answer to a ping", async () => {
    await accepted();
    clock.advanceBy(120);
    say({ emit: ["node-pong", { clientTime: "1", serverTime: 2 }] });
    say({ emit: ["node-pong", {}] });
    expect(named("latency")).toEqual([{ id: "0xabcd", latency: "120" }]);
    clock.advanceBy(5_000);
    await settled(() => named("stats").length === 2);
    expect(named("node-ping")).toHaveLength(2);
  });

  it("answers the server's heartbeats and pings", async () => {
    say("primus::ping::1700000000001");
    expect(texts).toEqual(["primus::pong::1700000000000"]);
    session.pinged(Buffer.from("x"));
    expect(pongs).toBe(1);
  });

  it("answers with the old blocks that are asked for, the newest first, or with the newest fifty", async () => {
    await accepted();
    say({ emit: ["history", { list: [3, 5, 4, 5, 1000, -1, "6", null] }] });
    await settled(() => named("history").length === 1);
    const numbers = () =>
      (expectDefined(named("history").at(-1), "an answer")["history"] as readonly { number: number }[]).map(
        ({ number }) => number,
      );
    expect(numbers()).toEqual([5, 4, 3]);
    clock.advanceBy(10_000);
    say({ emit: ["history", {}] });
    await settled(() => named("history").length === 2);
    expect(numbers()).toEqual(Array.from({ length: 50 }, (_, distance) => 100 - distance));
  });

  it("says nothing of its blocks before the server has accepted it", () => {
    say({ emit: ["history", {}] });
    expect(sent.map(({ name }) => name)).toEqual(["hello"]);
  });
});

describe("the bounds of a session", () => {
  it("answer a request for a million old blocks with fifty, and one in ten seconds", async () => {
    await accepted();
    const list = Array.from({ length: 1_000_000 }, (_, number) => number);
    session.received(Buffer.from(JSON.stringify({ emit: ["history", { list: list.slice(0, 20_000) }] })));
    for (let more = 0; more < 20; more++) say({ emit: ["history", {}] });
    await settled(() => named("history").length === 1);
    clock.advanceBy(4_999);
    expect(named("history")[0]?.["history"]).toHaveLength(50);
    expect(named("history")).toHaveLength(1);
  });

  it("leave out what exceeds ten thousand transactions of a block, and the oldest of many large blocks", async () => {
    const hashes = new Uint8Array(32 * 15_000);
    const large = BLOCKS.map((block) => ({
      ...block,
      transactionCount: 15_000,
      readHashes: () => [hashes.subarray(0, 32 * 6_000), hashes.subarray(32 * 6_000)],
    }));
    const blocks = {
      head: large[100] as StoredBlock,
      blockByNumber: (number: bigint) => large[Number(number)],
    };
    session = begin(blocks);
    await accepted();
    const { transactions } = expectDefined(named("block")[0]?.["block"], "a block") as {
      transactions: object[];
    };
    expect(transactions).toHaveLength(10_000);
    say({ emit: ["history", {}] });
    await settled(() => named("history").length === 1);
    expect(named("history")[0]?.["history"]).toHaveLength(1);
  });

  it("end it when the server sends too many messages, or too many bytes, between two reports", async () => {
    await accepted();
    for (let message = 0; message < 500; message++) session.received(Buffer.from("garbage"));
    expect(ends).toEqual(["it sends more than an ethstats server needs to"]);
    expect(isTerminated).toBe(true);
    session = begin(chainOf(BLOCKS));
    for (let message = 0; message < 5; message++) session.received(Buffer.alloc(60_000, "["));
    expect(ends).toHaveLength(2);
  });

  it("count anew for each report", async () => {
    await accepted();
    for (let report = 2; report < 6; report++) {
      for (let message = 0; message < 150; message++) session.received(Buffer.from("garbage"));
      clock.advanceBy(5_000);
      await settled(() => named("stats").length === report);
    }
    expect(ends).toEqual([]);
  });

  it("end it when the server does not read", async () => {
    await accepted();
    socket.bufferedAmount = 5 * 1024 * 1024;
    clock.advanceBy(5_000);
    expect(ends).toEqual(["it does not read what it is sent"]);
    expect(named("node-ping")).toHaveLength(1);
  });

  it("end it when the server is silent, before it accepts the node and after", async () => {
    clock.advanceBy(30_000);
    expect(ends).toEqual(["it did not accept the node's hello in time"]);
    session = begin(chainOf(BLOCKS));
    await accepted();
    clock.advanceBy(70_000);
    expect(ends.at(-1)).toBe("nothing has come from it for a minute");
  });

  it("take what is no message of the protocol for nothing", async () => {
    await accepted();
    const odd = [
      "",
      "null",
      "7",
      "[]",
      "{}",
      '{"emit":7}',
      '{"emit":[]}',
      '{"emit":["history",{"list":7}]}',
      '{"emit":["x"',
    ];
    for (const text of odd) session.received(Buffer.from(text));
    session.received(Buffer.of(0xff, 0xfe));
    expect(ends).toEqual([]);
  });

  it("keep the secret out of the log", async () => {
    await accepted();
    clock.advanceBy(70_000);
    expect(log.lines.length).toBeGreaterThan(0);
    expect(JSON.stringify(log.lines)).not.toContain(SECRET);
  });
});
