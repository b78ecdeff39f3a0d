import { describe, expect, it, vi } from "vitest";
import type { HeadChange } from "../../../src/chain/onNewHead.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { asAddress } from "../../../src/primitives/address.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { type Hex, toHex } from "../../../src/primitives/hex.ts";
import { toQuantity } from "../../../src/primitives/quantity.ts";
import type { Answering } from "../../../src/rpc/batch.ts";
import { createDispatcher } from "../../../src/rpc/dispatcher.ts";
import { type Connection, defineMethod, type RpcMethod } from "../../../src/rpc/method.ts";
import type { Reply } from "../../../src/rpc/reply.ts";
import { BLOCKS_AT_ONCE, createSubscriptionMethods } from "../../../src/rpc/subscriptions/subscriptions.ts";
import { SUBSCRIPTIONS_PER_CONNECTION } from "../../../src/rpc/subscriptions/subscriptionTable.ts";
import type { SyncStatus } from "../../../src/sync/syncProgress.ts";
import type { PoolEntry } from "../../../src/txpool/entry.ts";
import type { SubPool } from "../../../src/txpool/events.ts";
import type { StoredBlock } from "../../../src/types/block.ts";
import type { Log } from "../../../src/types/log.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { aCaller } from "../../builders/aCaller.ts";
import { aPool } from "../../builders/aPool.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { chainOf, recordedChain } from "../../builders/recordedChain.ts";
import { HANG_MS } from "../../hang.ts";
import { describeWithVectors, readVectorJson } from "../../vectors.ts";
import { aWebSocketClient, aWebSocketServer } from "../server/servers.ts";

/** An event source that a test triggers. */
function anEvent<Arguments extends readonly unknown[]>() {
  const listeners = new Set<(...args: Arguments) => void>();
  return {
    listen(listener: (...args: Arguments) => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    emit(...args: Arguments): void {
      for (const listener of listeners) listener(...args);
    },
    get listeners() {
      return listeners.size;
    },
  };
}

function aSubscribedNode() {
  const head = anEvent<[HeadChange]>();
  const added = anEvent<[PoolEntry, SubPool]>();
  const dropped = anEvent<[PoolEntry, string]>();
  const sync = anEvent<[SyncStatus | undefined]>();
  const methods = createSubscriptionMethods({
    chain: { onHeadChanged: (_row, listener) => head.listen(listener) },
    pool: { onAdded: added.listen, onDropped: dropped.listen },
    onSyncChanged: sync.listen,
    logger: silentLogger,
  });
  const node = {
    head,
    added,
    dropped,
    sync,
    methods,
    /** Moves the head forward by these blocks, after `removed` were removed. */
    move(blocks: readonly StoredBlock[], removed: readonly StoredBlock[] = []): void {
      const last = blocks.at(-1) ?? removed.at(-1);
      if (last === undefined) throw new RangeError("nothing moves");
      head.emit({ head: last, added: blocks, removed });
    },
    pool(transaction: SentTransaction): void {
      added.emit({ transaction, origin: "local", addedAtMs: 0, sequence: 0 } as PoolEntry, "pending");
    },
  };
  return node;
}

interface Notification {
  readonly subscription: string;
  readonly result: unknown;
}

/** A client on the pool of a chain that does not advance. */
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
  methods: readonly RpcMethod<object>[],
  onReceived: (notification: Notification) => void = () => undefined,
  isBehind: () => boolean = () => false,
) {
  const dispatcher = createDispatcher({ methods, modules: new Set() }, { backend: {}, logger: silentLogger });
  const received: Notification[] = [];
  const closers: (() => void)[] = [];
  const reasons: string[] = [];
  const held: number[] = [];
  const connection: Connection = {
    send: () => undefined,
    notify: (subscription, { json }) => {
      const notification = { subscription, result: JSON.parse(json) as unknown };
      received.push(notification);
      onReceived(notification);
    },
    isBehind,
    subscribed: (subscriptions) => held.push(subscriptions),
    cut: () => undefined,
    close: (reason) => {
      reasons.push(reason);
    },
    onClose: (listener) => closers.push(listener),
  };
  let isGone = false;
  const caller = { ...aCaller, connection, isAbandoned: () => isGone };
  const ask = (method: string, ...params: readonly unknown[]): Answering => {
    const request = { jsonrpc: "2.0", id: 1, method, params };
    return dispatcher.answerRequest(request, JSON.stringify(request), caller);
  };
  const resultOf = (reply: Reply | undefined): unknown => {
    if (reply === undefined) throw new Error("a subscription has an answer");
    const { result, error } = JSON.parse(reply.text) as { result?: unknown; error?: { code: number } };
    return error === undefined ? result : error.code;
  };
  const call = (method: string, ...params: readonly unknown[]): unknown => {
    const reply = ask(method, ...params);
    if (reply instanceof Promise) throw new Error("other than large subscriptions answer at once");
    return resultOf(reply);
  };
  return {
    received,
    /** Subscribes to the logs of so many addresses that it is not answered at once. */
    async subscribeToMany(address: readonly string[]): Promise<unknown> {
      const reply = ask("eth_subscribe", "logs", { address });
      if (!(reply instanceof Promise)) throw new Error("large subscriptions do not answer at once");
      return resultOf(await reply);
    },
    /** How many subscriptions the connection was told that it has. */
    held,
    /** Why the node closed the connection. */
    reasons,
    subscribe: (...params: readonly unknown[]) => call("eth_subscribe", ...params),
    unsubscribe: (...params: readonly unknown[]) => call("eth_unsubscribe", ...params),
    close: () => {
      isGone = true;
      for (const closer of closers) closer();
    },
  };
}

/** The most that a filter may have, with this one at the end. */
function manyAddresses(last: Hex): readonly string[] {
  return [
    ...Array.from({ length: 9_999 }, (_, index) => `0x${(index + 1).toString(16).padStart(40, "0")}`),
    last,
  ];
}

function aLog(text: string): Log {
  const hash = keccak256(Buffer.from(text));
  return { address: asAddress(hash.slice(0, 20)), topics: [hash], data: Buffer.from(text) };
}

describe("a request for a subscription", () => {
  it.each([
    ["no kind", []],
    ["an unknown kind", ["nosuch"]],
    ["another case", ["newheads"]],
    ["logs without a filter", ["logs"]],
    ["logs with a null filter", ["logs", null]],
    ["logs with a filter that does not decode", ["logs", { topics: "zz" }]],
    ["logs with an unknown member", ["logs", { includeTransactions: true }]],
    ["a flag that is not an object", ["newHeads", true]],
    ["a flag of a kind with a single form", ["droppedPendingTransactions", true]],
    ["a flag that is text", ["newPendingTransactions", "true"]],
    ["an unknown member", ["newPendingTransactions", { full: true }]],
    ["a flag that is not a boolean", ["newHeads", { includeTransactions: "maybe" }]],
    ["options of a kind without any", ["syncing", []]],
  ])("is an invalid request with %s", (_name, params) => {
    const { methods, head } = aSubscribedNode();
    expect(aClient(methods).subscribe(...params)).toBe(-32600);
    expect(head.listeners).toBe(0);
  });

  it("returns ids from one counter for all connections", () => {
    const { methods } = aSubscribedNode();
    const [one, other] = [aClient(methods), aClient(methods)];
    expect([one.subscribe("newHeads"), other.subscribe("logs", {}), one.subscribe("syncing", null)]).toEqual([
      "0x1",
      "0x2",
      "0x3",
    ]);
  });

  it("to thousands of addresses is made in the caller's turns, and lets others be answered meanwhile", async () => {
    const { methods, head } = aSubscribedNode();
    const client = aClient(methods);
    const many = client.subscribeToMany(manyAddresses(toHex(aLog("any").address)));
    expect(client.subscribe("newPendingTransactions")).toBe("0x1");
    expect(head.listeners).toBe(0);
    expect(await many).toBe("0x2");
    expect(head.listeners).toBe(1);
  });

  it("to thousands of addresses is refused before it is prepared where there is no room for it", async () => {
    const { methods } = aSubscribedNode();
    const client = aClient(methods);
    const addresses = manyAddresses(toHex(aLog("any").address));
    // Those that are prepared now have theirs.
    const others = Array.from({ length: 10 }, () => client.subscribeToMany(addresses));
    expect(client.subscribe("logs", { address: addresses })).toBe(-32005);
    expect(new Set(await Promise.all(others)).size).toBe(10);
    expect(client.subscribe("logs", { address: addresses })).toBe(-32005);
  });

  it("to thousands of addresses leaves its room to others where the connection closes meanwhile", async () => {
    const { methods } = aSubscribedNode();
    const addresses = manyAddresses(toHex(aLog("any").address));
    const [closing, client] = [aClient(methods), aClient(methods)];
    const many = Array.from({ length: 10 }, () => closing.subscribeToMany(addresses));
    closing.close();
    expect(client.subscribe("logs", { address: addresses })).toBe(-32005);
    await Promise.all(many);
    for (let count = 1; count <= 10; count++)
      expect(await client.subscribeToMany(addresses)).toBe(toQuantity(count));
  });

  it("to thousands of addresses is not kept for a connection that has closed meanwhile", async () => {
    const { methods, head } = aSubscribedNode();
    const client = aClient(methods);
    const many = client.subscribeToMany(manyAddresses(toHex(aLog("any").address)));
    client.close();
    await many;
    expect(head.listeners).toBe(0);
  });

  it("is refused when the connection has too many", () => {
    const { methods } = aSubscribedNode();
    const client = aClient(methods);
    for (let count = 1; count <= SUBSCRIPTIONS_PER_CONNECTION; count++)
      expect(client.subscribe("newHeads")).toBe(toQuantity(count));
    expect(client.subscribe("newHeads")).toBe(-32005);
    expect(aClient(methods).subscribe("newHeads")).toBe(toQuantity(SUBSCRIPTIONS_PER_CONNECTION + 1));
  });
});

describe("ending a subscription", () => {
  it.each(["0x2", "2", 2, "0x02"])("works by %o", (id) => {
    const { methods, move } = aSubscribedNode();
    const client = aClient(methods);
    client.subscribe("newHeads");
    client.subscribe("newHeads");
    expect(client.unsubscribe(id)).toBe(true);
    expect(client.unsubscribe(id)).toBe(-32000);
    expect(client.held).toEqual([1, 2, 1]);
    move([aStoredBlock({ number: 1 })]);
    expect(client.received.map(({ subscription }) => subscription)).toEqual(["0x1"]);
  });

  it.each([[[]], [[null]], [["zz"]], [[""]], [[-1]], [[1.5]], [[true]], [[{}]], [[`0x${"1".repeat(40)}`]]])(
    "is an invalid request by %o",
    (params) => {
      const { methods } = aSubscribedNode();
      expect(aClient(methods).unsubscribe(...params)).toBe(-32600);
    },
  );

  it("is only possible on its own connection", () => {
    const { methods } = aSubscribedNode();
    expect(aClient(methods).subscribe("newHeads")).toBe("0x1");
    expect(aClient(methods).unsubscribe("0x1")).toBe(-32000);
  });

  it("happens automatically when the connection closes, and removes listeners that are not needed", () => {
    const { methods, head, added, dropped, sync } = aSubscribedNode();
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

describe("notifications", () => {
  const [a, b, c] = [aLog("a"), aLog("b"), aLog("c")];
  const first = aTransaction({ nonce: 0n });
  const second = aTransaction({ nonce: 1n });
  const block = aStoredBlock({ number: 7, transactions: [first, second], logs: [[a, b], [c]] });

  function labels(received: readonly Notification[]): string[] {
    return received.map(({ subscription, result }) => {
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
    const { methods, move } = aSubscribedNode();
    const client = aClient(methods);
    client.subscribe("newHeads", { includeTransactions: true });
    client.subscribe("logs", { address: [toHex(a.address), toHex(c.address)] });
    client.subscribe("newHeads");
    client.subscribe("logs", {});
    move([block]);
    expect(labels(client.received)).toEqual([
      "0x2: log 0x0",
      "0x4: log 0x0",
      "0x4: log 0x1",
      "0x2: log 0x2",
      "0x4: log 0x2",
      "0x1: 0x7",
      "0x3: 0x7",
    ]);
  });

  it("of a block: one connection after another, so that those of each are sent together", () => {
    const { methods, move } = aSubscribedNode();
    const received: string[] = [];
    for (const name of ["one", "two", "three"]) {
      const client = aClient(methods, (each) =>
        received.push(...labels([each]).map((text) => `${name} ${text}`)),
      );
      if (name !== "two") client.subscribe("logs", { address: [toHex(a.address), toHex(c.address)] });
      client.subscribe("newHeads");
    }
    move([block]);
    expect(received).toEqual([
      "one 0x1: log 0x0",
      "one 0x1: log 0x2",
      "one 0x2: 0x7",
      "three 0x4: log 0x0",
      "three 0x4: log 0x2",
      "three 0x5: 0x7",
      "two 0x3: 0x7",
    ]);
  });

  it("of a large block: all in order, and in parts after the others for connections that fall behind", async () => {
    const { methods, move } = aSubscribedNode();
    const received: string[] = [];
    for (const [name, isBehind] of [
      ["slow", true],
      ["slow, too", true],
      ["quick", false],
    ] as const) {
      const client = aClient(
        methods,
        (each) => received.push(...labels([each]).map((text) => `${name} ${text}`)),
        () => isBehind,
      );
      client.subscribe("logs", {});
      client.subscribe("newHeads");
    }
    const logs = Array.from({ length: 250 }, (_, index) => aLog(`${index}`));
    move([aStoredBlock({ number: 7, transactions: [first], logs: [logs] })]);
    await expect.poll(() => received.length).toBe(3 * 251);

    const whole = (id: number) => [
      ...logs.map((_, index) => `0x${id}: log 0x${index.toString(16)}`),
      `0x${id + 1}: 0x7`,
    ];
    for (const [index, name] of ["slow", "slow, too", "quick"].entries()) {
      const own = received.filter((text) => text.startsWith(`${name} 0x`));
      expect(own).toEqual(whole(1 + 2 * index).map((text) => `${name} ${text}`));
    }
    const parts = received.filter(
      (text, index) => text.split(" 0x")[0] !== received[index - 1]?.split(" 0x")[0],
    );
    expect(parts.map((text) => text.split(" 0x")[0])).toEqual([
      "slow",
      "slow, too",
      "quick",
      "slow",
      "slow, too",
      "slow",
      "slow, too",
    ]);
  });

  it("of a block are prepared in several event-loop slices when there are many addresses", async () => {
    const { methods, move } = aSubscribedNode();
    const client = aClient(methods);
    for (let count = 0; count < 4; count++) await client.subscribeToMany(manyAddresses(toHex(c.address)));
    // A bloom filter that matches every subscription.
    move([{ ...block, header: { ...block.header, logsBloom: new Uint8Array(256).fill(0xff) } }]);
    expect(client.received).toEqual([]);
    await expect.poll(() => client.received.length).toBe(4);
  });

  it("of a log come once, though its address is listed twice", () => {
    const { methods, move } = aSubscribedNode();
    const client = aClient(methods);
    client.subscribe("logs", { address: [a.address, b.address, a.address].map((each) => toHex(each)) });
    move([block]);
    expect(labels(client.received)).toEqual(["0x1: log 0x0", "0x1: log 0x1"]);
  });

  it("of a reorganization: the removed logs, then the new blocks in rising order", () => {
    const { methods, move } = aSubscribedNode();
    const client = aClient(methods);
    client.subscribe("newHeads");
    client.subscribe("logs", {});
    const later = aStoredBlock({ number: 8, transactions: [first], logs: [[a]] });
    const other = aStoredBlock({ number: 7, transactions: [second], logs: [[c]] });
    move([other, aStoredBlock({ number: 8 })], [later, block]);
    expect(labels(client.received)).toEqual([
      "0x2: log 0x0 removed",
      "0x2: log 0x0 removed",
      "0x2: log 0x1 removed",
      "0x2: log 0x2 removed",
      "0x2: log 0x0",
      "0x1: 0x7",
      "0x1: 0x8",
    ]);
  });

  it("of logs are bounded by block numbers and earliest, not by other tags", () => {
    const { methods, move } = aSubscribedNode();
    const client = aClient(methods);
    client.subscribe("logs", { fromBlock: "0x8" });
    client.subscribe("logs", { toBlock: "0x6" });
    client.subscribe("logs", { fromBlock: "0x7", toBlock: "0x7" });
    client.subscribe("logs", { fromBlock: "latest", toBlock: "pending" });
    client.subscribe("logs", { toBlock: "earliest" });
    move([block]);
    expect(new Set(client.received.map(({ subscription }) => subscription))).toEqual(new Set(["0x3", "0x4"]));
  });

  it("of the pool: transactions that entered, and those that left without being mined", () => {
    const { pool, client } = aPoolAndItsClient();
    client.subscribe("newPendingTransactions");
    client.subscribe("droppedPendingTransactions");
    const cheap = aTransaction({ type: 0, gasPrice: 2_000n });
    const expensive = aTransaction({ type: 0, gasPrice: 4_000n });
    pool.add(cheap, "local");
    pool.add(expensive, "local");
    expect(client.received).toEqual([
      { subscription: "0x1", result: toHex(cheap.hash) },
      { subscription: "0x2", result: toHex(cheap.hash) },
      { subscription: "0x1", result: toHex(expensive.hash) },
    ]);
  });

  it("of the pool: hashes, Besu's details, or whole transactions as in go-ethereum", () => {
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
    const received = client.received.map(({ result }) => result);
    expect(received).toMatchObject([whole, { hash, type: "0x2" }, hash, hash, whole]);
    expect(received[0]).not.toHaveProperty("publicKey");
    expect(received[1]).not.toHaveProperty("maxFeePerGas");
  });

  it("of syncing: the target, and false when there is none", () => {
    const { methods, sync } = aSubscribedNode();
    const client = aClient(methods);
    client.subscribe("syncing");
    sync.emit({ startingBlock: 1n, currentBlock: 16n, highestBlock: 32n });
    sync.emit(undefined);
    expect(client.received.map(({ result }) => result)).toEqual([
      { startingBlock: "0x1", currentBlock: "0x10", highestBlock: "0x20" },
      false,
    ]);
  });

  it("are told of every block of a move that a thread can make up for; beyond it, their connections are closed with the reason", () => {
    const node = aSubscribedNode();
    const [heads, logs, pending] = [aClient(node.methods), aClient(node.methods), aClient(node.methods)];
    heads.subscribe("newHeads");
    logs.subscribe("logs", {});
    pending.subscribe("newPendingTransactions");
    const blocks = Array.from({ length: BLOCKS_AT_ONCE + 1 }, (_, number) => aStoredBlock({ number }));
    node.move(blocks.slice(1));
    return vi
      .waitFor(() => expect(heads.received).toHaveLength(BLOCKS_AT_ONCE), HANG_MS)
      .then(() => {
        expect(heads.reasons).toEqual([]);
        node.move(blocks);
        expect([heads.reasons.length, logs.reasons.length, pending.reasons.length]).toEqual([1, 1, 0]);
        expect(heads.reasons[0]).toMatch(/blocks were missed/);
        expect(heads.received).toHaveLength(BLOCKS_AT_ONCE);
      });
  });

  it("do no harm when a connection throws", () => {
    const { methods, move } = aSubscribedNode();
    const request = '{"id":1,"method":"eth_subscribe","params":["newHeads"]}';
    const throwing: Connection = {
      send: () => undefined,
      notify: () => {
        throw new Error("broken");
      },
      isBehind: () => false,
      subscribed: () => undefined,
      cut: () => undefined,
      close: () => undefined,
      onClose: () => undefined,
    };
    const dispatcher = createDispatcher(
      { methods, modules: new Set() },
      { backend: {}, logger: silentLogger },
    );
    dispatcher.answerRequest(JSON.parse(request), request, { ...aCaller, connection: throwing });
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

/** 17 requests the head's number; 12 has a topic of three digits, which filters here accept. */
const ANSWERED_ELSEWHERE: ReadonlySet<unknown> = new Set([12, 17]);

describeWithVectors("a session recorded with a live node", () => {
  it.each(["net1", "net2"] as const)("is reproduced literally on %s", async (network) => {
    const session = readVectorJson<readonly RecordedMessage[]>("besu-ibft", network, "ws-messages.json");
    const chain = recordedChain(network);
    const transactions = new Map(
      chain.blocks.flatMap((block) => block.transactions.map((each) => [toHex(each.hash), each] as const)),
    );
    const node = aSubscribedNode();
    const about = {
      namespace: "EVERY",
      summary: "",
      parameters: [],
      result: { name: "", schema: {} },
    } as const;
    const dispatcher = createDispatcher(
      {
        methods: [
          ...node.methods,
          defineMethod({
            ...about,
            name: "eth_chainId",
            run: () => (network === "net1" ? "0x1c03" : "0x1e5c"),
          }),
          defineMethod({
            ...about,
            name: "net_version",
            run: () => (network === "net1" ? "7171" : "7772"),
          }),
        ],
        modules: new Set(),
      },
      { backend: {}, logger: silentLogger },
    );
    const client = await aWebSocketClient(await aWebSocketServer(dispatcher));
    const isNotification = (message: unknown): message is RecordedNotification =>
      typeof message === "object" &&
      message !== null &&
      "method" in message &&
      message.method === "eth_subscription";
    const isAnsweredHere = ({ raw, msg }: RecordedMessage): boolean =>
      !ANSWERED_ELSEWHERE.has((msg as { id?: unknown } | undefined)?.id) || raw !== undefined;
    const requests = session.filter((each) => each.dir === "out" && each.i < 20 && isAnsweredHere(each));
    const answers = session
      .filter((each) => each.dir === "in" && each.i < 40 && !isNotification(each.msg) && isAnsweredHere(each))
      .map(({ msg }) => JSON.stringify(msg));
    expect(answers.length).toBe(18);

    for (const { raw, msg } of requests) client.send(raw ?? msg);
    const replies: string[] = [];
    while (replies.length < answers.length) replies.push(await client.next());
    expect(replies.toSorted()).toEqual(answers.toSorted());

    const recorded = session.flatMap(({ msg }) => (isNotification(msg) ? [msg.params] : []));
    let replayed = 0;
    for (let at = 0; at < recorded.length; ) {
      const group = groupAt(recorded, at);
      at += group.length;
      const number = blockNumberOf(group[0]);
      if (number === undefined) {
        const transaction = transactions.get(String(group[0]?.result) as Hex);
        if (transaction === undefined) continue;
        node.pool(transaction);
      } else {
        const block = chain.blocks[number];
        if (block === undefined) throw new RangeError("the session ends before the chain");
        node.move([block]);
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
