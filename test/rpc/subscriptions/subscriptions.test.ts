import { describe, expect, it } from "vitest";
import type { HeadChange } from "../../../src/chain/chain.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { asAddress } from "../../../src/primitives/address.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { type Hex, toHex } from "../../../src/primitives/hex.ts";
import { toQuantity } from "../../../src/primitives/quantity.ts";
import { createDispatcher } from "../../../src/rpc/dispatcher.ts";
import { type Connection, defineMethod, type RpcMethod } from "../../../src/rpc/method.ts";
import type { SyncStatus } from "../../../src/rpc/ports.ts";
import { createSubscriptionMethods } from "../../../src/rpc/subscriptions/subscriptions.ts";
import { SUBSCRIPTIONS_PER_CONNECTION } from "../../../src/rpc/subscriptions/subscriptionTable.ts";
import type { SubPool } from "../../../src/txpool/events.ts";
import type { PoolEntry } from "../../../src/txpool/txPool.ts";
import type { StoredBlock } from "../../../src/types/block.ts";
import type { Log } from "../../../src/types/log.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { aPool } from "../../builders/aPool.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { chainOf, recordedChain } from "../../builders/recordedChain.ts";
import { somebody } from "../../builders/somebody.ts";
import { describeWithVectors, readVectorJson } from "../../vectors.ts";
import { aWebSocketClient, aWebSocketServer } from "../server/servers.ts";

/** Something that a test makes happen. */
function anEvent<Arguments extends readonly unknown[]>() {
  const listeners = new Set<(...args: Arguments) => void>();
  return {
    listen(listener: (...args: Arguments) => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    happen(...args: Arguments): void {
      for (const listener of listeners) listener(...args);
    },
    get listeners() {
      return listeners.size;
    },
  };
}

function aWorld() {
  const head = anEvent<[HeadChange]>();
  const added = anEvent<[PoolEntry, SubPool]>();
  const dropped = anEvent<[PoolEntry, string]>();
  const sync = anEvent<[SyncStatus | undefined]>();
  const methods = createSubscriptionMethods({
    chain: { onHeadChanged: head.listen },
    pool: { onAdded: added.listen, onDropped: dropped.listen },
    onSyncChanged: sync.listen,
    logger: silentLogger,
  });
  const world = {
    head,
    added,
    dropped,
    sync,
    methods,
    /** The head moves on by these blocks, after `removed` were taken away. */
    move(blocks: readonly StoredBlock[], removed: readonly StoredBlock[] = []): void {
      const last = blocks.at(-1) ?? removed.at(-1);
      if (last === undefined) throw new RangeError("nothing moves");
      head.happen({ head: last, added: blocks, removed });
    },
    pool(transaction: SentTransaction): void {
      added.happen({ transaction, origin: "local", addedAtMs: 0, sequence: 0 } as PoolEntry, "pending");
    },
  };
  return world;
}

interface Notification {
  readonly subscription: string;
  readonly result: unknown;
}

/** A client over the pool of a chain that stands. */
function aPoolAndItsClient() {
  const { pool } = aPool();
  const methods = createSubscriptionMethods({
    chain: chainOf([aStoredBlock()]),
    pool,
    onSyncChanged: () => () => undefined,
    logger: silentLogger,
  });
  return { pool, client: aClient(methods) };
}

/** A client that calls the dispatcher directly. */
function aClient(
  methods: readonly RpcMethod<unknown>[],
  onHeard: (notification: Notification) => void = () => undefined,
  isBehind: () => boolean = () => false,
) {
  const dispatcher = createDispatcher(
    { methods, modules: new Set() },
    { backend: undefined, logger: silentLogger },
  );
  const heard: Notification[] = [];
  const closers: (() => void)[] = [];
  const connection: Connection = {
    send: () => undefined,
    notify: (subscription, { json }) => {
      const notification = { subscription, result: JSON.parse(json) as unknown };
      heard.push(notification);
      onHeard(notification);
    },
    isBehind,
    cut: () => undefined,
    onClose: (listener) => closers.push(listener),
  };
  const call = (method: string, ...params: readonly unknown[]): unknown => {
    const request = { jsonrpc: "2.0", id: 1, method, params };
    const reply = dispatcher.answerRequest(request, JSON.stringify(request), { ...somebody, connection });
    if (reply === undefined || reply instanceof Promise) throw new Error("subscriptions answer at once");
    const { result, error } = JSON.parse(reply.text) as { result?: unknown; error?: { code: number } };
    return error === undefined ? result : error.code;
  };
  return {
    heard,
    subscribe: (...params: readonly unknown[]) => call("eth_subscribe", ...params),
    unsubscribe: (...params: readonly unknown[]) => call("eth_unsubscribe", ...params),
    close: () => {
      for (const closer of closers) closer();
    },
  };
}

function aLog(text: string): Log {
  const hash = keccak256(Buffer.from(text));
  return { address: asAddress(hash.slice(0, 20)), topics: [hash], data: Buffer.from(text) };
}

describe("asking for a subscription", () => {
  it.each([
    ["no kind", []],
    ["an unknown kind", ["nosuch"]],
    ["another case", ["newheads"]],
    ["logs without a filter", ["logs"]],
    ["logs with a null filter", ["logs", null]],
    ["logs with a filter that does not decode", ["logs", { topics: "zz" }]],
    ["logs with an unknown member", ["logs", { includeTransactions: true }]],
    ["a flag that is no object", ["newHeads", true]],
    ["a flag of what comes in one form only", ["droppedPendingTransactions", true]],
    ["a flag that is text", ["newPendingTransactions", "true"]],
    ["an unknown member", ["newPendingTransactions", { full: true }]],
    ["a flag that is no boolean", ["newHeads", { includeTransactions: "maybe" }]],
    ["options of a kind that has none", ["syncing", []]],
  ])("is an invalid request with %s", (_name, params) => {
    const { methods, head } = aWorld();
    expect(aClient(methods).subscribe(...params)).toBe(-32600);
    expect(head.listeners).toBe(0);
  });

  it("gives ids from one counter for all connections", () => {
    const { methods } = aWorld();
    const [one, other] = [aClient(methods), aClient(methods)];
    expect([one.subscribe("newHeads"), other.subscribe("logs", {}), one.subscribe("syncing", null)]).toEqual([
      "0x1",
      "0x2",
      "0x3",
    ]);
  });

  it("is refused when the connection has too many", () => {
    const { methods } = aWorld();
    const client = aClient(methods);
    for (let count = 1; count <= SUBSCRIPTIONS_PER_CONNECTION; count++)
      expect(client.subscribe("newHeads")).toBe(toQuantity(count));
    expect(client.subscribe("newHeads")).toBe(-32005);
    expect(aClient(methods).subscribe("newHeads")).toBe(toQuantity(SUBSCRIPTIONS_PER_CONNECTION + 1));
  });
});

describe("ending a subscription", () => {
  it.each(["0x2", "2", 2, "0x02"])("works by %o", (id) => {
    const { methods, move } = aWorld();
    const client = aClient(methods);
    client.subscribe("newHeads");
    client.subscribe("newHeads");
    expect(client.unsubscribe(id)).toBe(true);
    expect(client.unsubscribe(id)).toBe(-32000);
    move([aStoredBlock({ number: 1 })]);
    expect(client.heard.map(({ subscription }) => subscription)).toEqual(["0x1"]);
  });

  it.each([[[]], [[null]], [["zz"]], [[""]], [[-1]], [[1.5]], [[true]], [[{}]], [[`0x${"1".repeat(40)}`]]])(
    "is an invalid request by %o",
    (params) => {
      const { methods } = aWorld();
      expect(aClient(methods).unsubscribe(...params)).toBe(-32600);
    },
  );

  it("is up to the connection that asked for it", () => {
    const { methods } = aWorld();
    expect(aClient(methods).subscribe("newHeads")).toBe("0x1");
    expect(aClient(methods).unsubscribe("0x1")).toBe(-32000);
  });

  it("happens by itself when the connection closes, and then nobody listens to the node any more", () => {
    const { methods, head, added, dropped, sync } = aWorld();
    const [one, other] = [aClient(methods), aClient(methods)];
    for (const kind of ["newHeads", "newPendingTransactions", "droppedPendingTransactions", "syncing"])
      one.subscribe(kind);
    other.subscribe("logs", {});
    const listeners = () => [head, added, dropped, sync].map((source) => source.listeners);
    expect(listeners()).toEqual([1, 1, 1, 1]);
    one.close();
    expect(listeners()).toEqual([1, 0, 0, 0]);
    other.unsubscribe("0x5");
    expect(listeners()).toEqual([0, 0, 0, 0]);
  });
});

describe("what subscribers hear", () => {
  const [a, b, c] = [aLog("a"), aLog("b"), aLog("c")];
  const first = aTransaction({ nonce: 0n });
  const second = aTransaction({ nonce: 1n });
  const block = aStoredBlock({ number: 7, transactions: [first, second], logs: [[a, b], [c]] });

  function labels(heard: readonly Notification[]): string[] {
    return heard.map(({ subscription, result }) => {
      const { logIndex, removed, number } = result as {
        logIndex?: string;
        removed?: boolean;
        number?: string;
      };
      const what = number ?? `log ${logIndex}${removed ? " removed" : ""}`;
      return `${subscription}: ${what}`;
    });
  }

  it("of a block: logs first, each to its subscribers by id, then the head by id", () => {
    const { methods, move } = aWorld();
    const client = aClient(methods);
    client.subscribe("newHeads", { includeTransactions: true });
    client.subscribe("logs", { address: [toHex(a.address), toHex(c.address)] });
    client.subscribe("newHeads");
    client.subscribe("logs", {});
    move([block]);
    expect(labels(client.heard)).toEqual([
      "0x2: log 0x0",
      "0x4: log 0x0",
      "0x4: log 0x1",
      "0x2: log 0x2",
      "0x4: log 0x2",
      "0x1: 0x7",
      "0x3: 0x7",
    ]);
  });

  it("of a block: one connection after another, so that what goes to each can go out together", () => {
    const { methods, move } = aWorld();
    const heard: string[] = [];
    for (const name of ["one", "two", "three"]) {
      const client = aClient(methods, (each) =>
        heard.push(...labels([each]).map((text) => `${name} ${text}`)),
      );
      if (name !== "two") client.subscribe("logs", { address: [toHex(a.address), toHex(c.address)] });
      client.subscribe("newHeads");
    }
    move([block]);
    expect(heard).toEqual([
      "one 0x1: log 0x0",
      "one 0x1: log 0x2",
      "one 0x2: 0x7",
      "three 0x4: log 0x0",
      "three 0x4: log 0x2",
      "three 0x5: 0x7",
      "two 0x3: 0x7",
    ]);
  });

  it("of a large block: all in its order, who is behind in goes after those who are not", async () => {
    const { methods, move } = aWorld();
    const heard: string[] = [];
    for (const [name, isBehind] of [
      ["slow", true],
      ["slow, too", true],
      ["quick", false],
    ] as const) {
      const client = aClient(
        methods,
        (each) => heard.push(...labels([each]).map((text) => `${name} ${text}`)),
        () => isBehind,
      );
      client.subscribe("logs", {});
      client.subscribe("newHeads");
    }
    const logs = Array.from({ length: 250 }, (_, index) => aLog(`${index}`));
    move([aStoredBlock({ number: 7, transactions: [first], logs: [logs] })]);
    await expect.poll(() => heard.length).toBe(3 * 251);

    const whole = (id: number) => [
      ...logs.map((_, index) => `0x${id}: log 0x${index.toString(16)}`),
      `0x${id + 1}: 0x7`,
    ];
    for (const [index, name] of ["slow", "slow, too", "quick"].entries()) {
      const own = heard.filter((text) => text.startsWith(`${name} 0x`));
      expect(own).toEqual(whole(1 + 2 * index).map((text) => `${name} ${text}`));
    }
    const goes = heard.filter((text, index) => text.split(" 0x")[0] !== heard[index - 1]?.split(" 0x")[0]);
    expect(goes.map((text) => text.split(" 0x")[0])).toEqual([
      "slow",
      "slow, too",
      "quick",
      "slow",
      "slow, too",
      "slow",
      "slow, too",
    ]);
  });

  it("of a block is found out in turns where many addresses are listened to", async () => {
    const { methods, move } = aWorld();
    const client = aClient(methods);
    const addresses = Array.from(
      { length: 10_000 },
      (_, index) => `0x${index.toString(16).padStart(40, "0")}`,
    );
    for (let count = 0; count < 4; count++)
      client.subscribe("logs", { address: [...addresses, toHex(c.address)].slice(-10_000) });
    // A bloom that rules nobody out.
    move([{ ...block, header: { ...block.header, logsBloom: new Uint8Array(256).fill(0xff) } }]);
    expect(client.heard).toEqual([]);
    await expect.poll(() => client.heard.length).toBe(4);
  });

  it("of a log once, though its address is named twice", () => {
    const { methods, move } = aWorld();
    const client = aClient(methods);
    client.subscribe("logs", { address: [a.address, b.address, a.address].map((each) => toHex(each)) });
    move([block]);
    expect(labels(client.heard)).toEqual(["0x1: log 0x0", "0x1: log 0x1"]);
  });

  it("of a reorganization: the logs that are gone, then the new blocks upwards", () => {
    const { methods, move } = aWorld();
    const client = aClient(methods);
    client.subscribe("newHeads");
    client.subscribe("logs", {});
    const later = aStoredBlock({ number: 8, transactions: [first], logs: [[a]] });
    const other = aStoredBlock({ number: 7, transactions: [second], logs: [[c]] });
    move([other, aStoredBlock({ number: 8 })], [later, block]);
    expect(labels(client.heard)).toEqual([
      "0x2: log 0x0 removed",
      "0x2: log 0x0 removed",
      "0x2: log 0x1 removed",
      "0x2: log 0x2 removed",
      "0x2: log 0x0",
      "0x1: 0x7",
      "0x1: 0x8",
    ]);
  });

  it("of logs is bounded by numbers, not by tags but earliest", () => {
    const { methods, move } = aWorld();
    const client = aClient(methods);
    client.subscribe("logs", { fromBlock: "0x8" });
    client.subscribe("logs", { toBlock: "0x6" });
    client.subscribe("logs", { fromBlock: "0x7", toBlock: "0x7" });
    client.subscribe("logs", { fromBlock: "latest", toBlock: "pending" });
    client.subscribe("logs", { toBlock: "earliest" });
    move([block]);
    expect(new Set(client.heard.map(({ subscription }) => subscription))).toEqual(new Set(["0x3", "0x4"]));
  });

  it("of the pool: what came and what left without being mined", () => {
    const { pool, client } = aPoolAndItsClient();
    client.subscribe("newPendingTransactions");
    client.subscribe("droppedPendingTransactions");
    const cheap = aTransaction({ type: 0, gasPrice: 2_000n });
    const dear = aTransaction({ type: 0, gasPrice: 4_000n });
    pool.add(cheap, "local");
    pool.add(dear, "local");
    expect(client.heard).toEqual([
      { subscription: "0x1", result: toHex(cheap.hash) },
      { subscription: "0x2", result: toHex(cheap.hash) },
      { subscription: "0x1", result: toHex(dear.hash) },
    ]);
  });

  it("of the pool: hashes, Besu's detail, or in go-ethereum's form the whole of it", () => {
    const { pool, client } = aPoolAndItsClient();
    for (const options of [true, { includeTransactions: true }, false, { includeTransactions: false }, true])
      expect(client.subscribe("newPendingTransactions", options)).toMatch(/^0x/);
    const sent = aTransaction({ type: 2, maxFeePerGas: 4_000n, maxPriorityFeePerGas: 3n });
    pool.add(sent, "local");
    const hash = toHex(sent.hash);
    const whole = {
      blockHash: null,
      blockNumber: null,
      transactionIndex: null,
      hash,
      from: toHex(sent.sender),
      to: toHex(expectDefined(sent.to, "its recipient")),
      gasPrice: "0xfa0",
      maxFeePerGas: "0xfa0",
      maxPriorityFeePerGas: "0x3",
      accessList: [],
      chainId: toQuantity(expectDefined(sent.chainId, "its chain id")),
      type: "0x2",
    };
    const heard = client.heard.map(({ result }) => result);
    expect(heard).toMatchObject([whole, { hash, type: "0x2" }, hash, hash, whole]);
    expect(heard[0]).not.toHaveProperty("publicKey");
    expect(heard[1]).not.toHaveProperty("maxFeePerGas");
  });

  it("of syncing: the target, and false when there is none", () => {
    const { methods, sync } = aWorld();
    const client = aClient(methods);
    client.subscribe("syncing");
    sync.happen({ startingBlock: 1n, currentBlock: 16n, highestBlock: 32n });
    sync.happen(undefined);
    expect(client.heard.map(({ result }) => result)).toEqual([
      { startingBlock: "0x1", currentBlock: "0x10", highestBlock: "0x20" },
      false,
    ]);
  });

  it("does not hurt the node when a connection misbehaves", () => {
    const { methods, move } = aWorld();
    const request = '{"id":1,"method":"eth_subscribe","params":["newHeads"]}';
    const throwing: Connection = {
      send: () => undefined,
      notify: () => {
        throw new Error("broken");
      },
      isBehind: () => false,
      cut: () => undefined,
      onClose: () => undefined,
    };
    const dispatcher = createDispatcher(
      { methods, modules: new Set() },
      { backend: undefined, logger: silentLogger },
    );
    dispatcher.answerRequest(JSON.parse(request), request, { ...somebody, connection: throwing });
    expect(() => move([block])).not.toThrow();
  });
});

interface RecordedMessage {
  readonly i: number;
  readonly dir: "in" | "out";
  readonly raw?: string;
  readonly msg?: unknown;
}

type RecordedNotification = { readonly method: "eth_subscription"; readonly params: Notification };

/** 17 asks for the head's number; 12 names a topic of three digits, which filters take more leniently here. */
const ANSWERED_ELSEWHERE: ReadonlySet<unknown> = new Set([12, 17]);

describeWithVectors("a session recorded with a live node", () => {
  it.each(["net1", "net2"] as const)("is heard again on %s, word for word", async (network) => {
    const session = readVectorJson<readonly RecordedMessage[]>("besu-ibft", network, "ws-messages.json");
    const chain = recordedChain(network);
    const transactions = new Map(
      chain.blocks.flatMap((block) => block.transactions.map((each) => [toHex(each.hash), each] as const)),
    );
    const world = aWorld();
    const about = {
      namespace: "EVERY",
      summary: "",
      parameters: [],
      result: { name: "", schema: {} },
    } as const;
    const dispatcher = createDispatcher(
      {
        methods: [
          ...world.methods,
          defineMethod({
            ...about,
            name: "eth_chainId",
            run: () => (network === "net1" ? "0x1c03" : "0x1e5c"),
          }) as RpcMethod<unknown>,
          defineMethod({
            ...about,
            name: "net_version",
            run: () => (network === "net1" ? "7171" : "7772"),
          }) as RpcMethod<unknown>,
        ],
        modules: new Set(),
      },
      { backend: undefined, logger: silentLogger },
    );
    const client = await aWebSocketClient(await aWebSocketServer(dispatcher));
    const isNotification = (message: unknown): message is RecordedNotification =>
      typeof message === "object" &&
      message !== null &&
      "method" in message &&
      message.method === "eth_subscription";
    const isAnsweredHere = ({ raw, msg }: RecordedMessage): boolean =>
      !ANSWERED_ELSEWHERE.has((msg as { id?: unknown } | undefined)?.id) || raw !== undefined;
    const asked = session.filter((each) => each.dir === "out" && each.i < 20 && isAnsweredHere(each));
    const answers = session
      .filter((each) => each.dir === "in" && each.i < 40 && !isNotification(each.msg) && isAnsweredHere(each))
      .map(({ msg }) => JSON.stringify(msg));
    expect(answers.length).toBe(18);

    for (const { raw, msg } of asked) client.send(raw ?? msg);
    const given: string[] = [];
    while (given.length < answers.length) given.push(await client.next());
    expect(given.toSorted()).toEqual(answers.toSorted());

    const recorded = session.flatMap(({ msg }) => (isNotification(msg) ? [msg.params] : []));
    let replayed = 0;
    for (let at = 0; at < recorded.length; ) {
      const group = groupAt(recorded, at);
      at += group.length;
      const number = blockNumberOf(group[0]);
      if (number === undefined) {
        const transaction = transactions.get(String(group[0]?.result) as Hex);
        if (transaction === undefined) continue;
        world.pool(transaction);
      } else {
        const block = chain.blocks[number];
        if (block === undefined) throw new RangeError("the session ends before the chain");
        world.move([block]);
      }
      for (const expected of group) {
        expect(await client.next()).toBe(
          JSON.stringify({ jsonrpc: "2.0", method: "eth_subscription", params: expected }),
        );
        replayed++;
      }
    }
    expect(replayed).toBeGreaterThan(60);
  });

  /** The notifications of one block, or of one pooled transaction. */
  function groupAt(recorded: readonly Notification[], start: number): readonly Notification[] {
    const about = keyOf(recorded[start]);
    let end = start + 1;
    while (end < recorded.length && keyOf(recorded[end]) === about) end++;
    return recorded.slice(start, end);
  }

  function keyOf(notification: Notification | undefined): string {
    const { result } = notification ?? {};
    if (typeof result === "string") return result;
    return String(blockNumberOf(notification) ?? (result as { hash?: string }).hash);
  }

  function blockNumberOf(notification: Notification | undefined): number | undefined {
    const { number, blockNumber } = (notification?.result ?? {}) as { number?: string; blockNumber?: string };
    const text = number ?? blockNumber;
    return text === undefined ? undefined : Number(text);
  }
});
