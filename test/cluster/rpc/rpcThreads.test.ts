import { existsSync, readdirSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes, toQuantity } from "../../../src/primitives/quantity.ts";
import { OF_CALLERS, OF_LONG_WORK } from "../../../src/workers/threadPriority.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { itIfThorough } from "../../thorough.ts";
import { contractIn, LOGGER } from "../harness/contracts.ts";
import { pause, until } from "../harness/nodeProcess.ts";
import { Client, Subscriber, startThreadedNode, type ThreadedNode } from "../harness/threadedNode.ts";

const THREADS = 3;
const CLIENTS = 12;
/** Longer than two blocks take. */
const HELD_UP_MS = 2_500;
const SENDER = toHex(account(0).address);

let node: ThreadedNode;
let clients: readonly Client[];
let subscribers: readonly Subscriber[];

beforeAll(async () => {
  node = await startThreadedNode(THREADS, ["--rpc-http-apis=ETH,NET,WEB3,MINER,TXPOOL"]);
  clients = Array.from({ length: CLIENTS }, () => new Client(node.httpPort));
  subscribers = Array.from({ length: CLIENTS }, () => new Subscriber(node.wsUrl));
  await Promise.all(subscribers.map((subscriber) => subscriber.connect()));
});

/** Asks for the head on one connection; none may be older than one that any has shown before, or that a subscriber was told of. */
async function watchHeads(client: Client, shown: { newest: number }, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const told = subscribers.map(({ heads }) => heads.at(-1) ?? 0);
    const atLeast = Math.max(shown.newest, ...told);
    const number = Number(await client.ask<string>("eth_blockNumber"));
    expect(number).toBeGreaterThanOrEqual(atLeast);
    shown.newest = Math.max(shown.newest, number);
    const block = await client.ask<{ number: string }>("eth_getBlockByNumber", "latest", false);
    expect(Number(block.number)).toBeGreaterThanOrEqual(number);
    shown.newest = Math.max(shown.newest, Number(block.number));
    await pause(1);
  }
}

/** Sends one transaction; at once each connection has it, and has its block as soon as one has its receipt. */
async function sendAndFollow(nonce: number): Promise<void> {
  const [first, ...others] = clients.map((_, index) => clients[(index + nonce) % CLIENTS]) as [
    Client,
    ...Client[],
  ];
  const { raw } = aTransaction({ nonce: BigInt(nonce) });
  const hash = await first.ask<string>("eth_sendRawTransaction", toHex(raw)).catch((error: Error) => {
    // Sent twice, because the connection broke before the answer came.
    if (error.message !== "Known transaction" && error.message !== "Nonce too low") throw error;
    return toHex(aTransaction({ nonce: BigInt(nonce) }).hash);
  });
  await Promise.all(
    others.map(async (client) => {
      expect(await client.ask("eth_getTransactionByHash", hash)).toMatchObject({ hash });
      const pending = await client.ask<string>("eth_getTransactionCount", SENDER, "pending");
      expect(Number(pending)).toBeGreaterThan(nonce);
    }),
  );
  const receipt = await until(
    async () =>
      (await first.ask<{ blockNumber: string; blockHash: string } | null>(
        "eth_getTransactionReceipt",
        hash,
      )) ?? undefined,
    "a receipt",
  );
  await Promise.all(
    others.map(async (client) => {
      const [block, again, count, mined] = await Promise.all([
        client.ask("eth_getBlockByNumber", receipt.blockNumber, false),
        client.ask("eth_getTransactionReceipt", hash),
        client.ask<string>("eth_getTransactionCount", SENDER, "latest"),
        client.ask("eth_getTransactionByHash", hash),
      ]);
      expect(block).toMatchObject({ hash: receipt.blockHash });
      expect(again).toMatchObject(receipt);
      expect(Number(count)).toBeGreaterThan(nonce);
      expect(mined).toMatchObject({ blockHash: receipt.blockHash });
    }),
  );
}

/** How many threads of the process have each niceness beyond that of its main thread. */
function nicenesses(pid: number | undefined): ReadonlyMap<number, number> {
  const of = (thread: number | string): number => {
    const fields = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8").split(") ")[1]?.split(" ");
    return Number(fields?.[16]);
  };
  const counts = new Map<number, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const added = of(thread) - of(pid ?? 0);
    counts.set(added, (counts.get(added) ?? 0) + 1);
  }
  return counts;
}

describe("JSON-RPC on threads", () => {
  it("has one price floor, the last one set, on every connection at once", async () => {
    const [first] = clients;
    if (first === undefined) throw new Error();
    for (const price of ["0x3b9aca07", "0x0"]) {
      expect(await first.ask("miner_setMinGasPrice", price)).toBe(true);
      expect(await first.ask("miner_setMinPriorityFee", price)).toBe(true);
      const prices = await Promise.all(clients.map((client) => client.ask<string>("eth_gasPrice")));
      expect(prices.filter((told) => BigInt(told) < BigInt(price))).toEqual([]);
      expect(new Set(prices).size).toBe(1);
      const fees = await Promise.all(clients.map((client) => client.ask("eth_maxPriorityFeePerGas")));
      expect(new Set(fees)).toEqual(new Set([price]));
    }
  });

  it("answers logs, fees and what the pool has alike on every connection", async () => {
    const methods: [method: string, ...params: unknown[]][] = [
      ["eth_getLogs", { fromBlock: "0x0", toBlock: "latest" }],
      ["eth_getLogs", { fromBlock: "0x0", toBlock: "0x100" }],
      ["eth_feeHistory", "0x1", "0x0", [10, 50]],
      ["net_version"],
      ["web3_clientVersion"],
      ["txpool_besuTransactions"],
    ];
    for (const [method, ...params] of methods) {
      const answers = await Promise.all(clients.map((client) => client.ask(method, ...params)));
      expect(answers[0]).not.toBeNull();
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    }
    const statistics = await Promise.all(clients.map((client) => client.ask("txpool_besuStatistics")));
    expect(statistics[0]).toMatchObject({ localCount: 0 });
  });

  it("tells every subscriber of each pending transaction and of each head in order; no answer is older", async () => {
    const { raw, hash } = aTransaction({ nonce: 0n, privateKey: account(1).privateKey });
    const from = subscribers.map(({ heads }) => heads.length);
    expect(await clients[0]?.ask("eth_sendRawTransaction", toHex(raw))).toBe(toHex(hash));
    await Promise.all(
      subscribers.map(async (subscriber, index) => {
        await expect.poll(() => subscriber.pending).toEqual([toHex(hash)]);
        await expect.poll(() => subscriber.heads.length).toBeGreaterThanOrEqual((from[index] ?? 0) + 2);
        const newest = subscriber.heads.at(-1) ?? 0;
        expect(Number(await subscriber.ask("eth_blockNumber"))).toBeGreaterThanOrEqual(newest);
        const [first = 0, ...rest] = subscriber.heads.slice();
        expect(rest).toEqual(rest.map((_, after) => first + after + 1));
      }),
    );
    const ids = await Promise.all(subscribers.map((one) => one.ask<string>("eth_subscribe", "logs", {})));
    expect(new Set(ids).size).toBe(CLIENTS);
    const [one, another] = subscribers;
    expect(await another?.ask("eth_unsubscribe", ids[0])).toBeUndefined();
    expect(await one?.ask("eth_unsubscribe", ids[0])).toBe(true);
  });

  itIfThorough(
    "tells subscribers of every head and transaction in order although their threads are held up",
    async () => {
      const { privateKey } = account(2);
      const from = subscribers.map(({ heads, pending }) => ({
        heads: heads.length,
        pending: pending.length,
      }));
      const sent: string[] = [];
      for (let nonce = 0; nonce < 2 * THREADS; nonce++) {
        const { raw, hash } = aTransaction({ nonce: BigInt(nonce), privateKey });
        if (nonce % 2 === 0) node.holdThread(nonce / 2, HELD_UP_MS);
        sent.push(toHex(hash));
        expect(await clients[nonce]?.ask("eth_sendRawTransaction", toHex(raw))).toBe(toHex(hash));
        await pause(HELD_UP_MS / 2);
      }
      const newest = Number(await clients[0]?.ask<string>("eth_blockNumber"));
      await Promise.all(
        subscribers.map(async ({ heads, pending }, index) => {
          const before = from[index];
          await expect.poll(() => heads.at(-1)).toBeGreaterThanOrEqual(newest);
          await expect.poll(() => pending.slice(before?.pending)).toEqual(sent);
          const [first = 0, ...rest] = heads.slice(before?.heads);
          expect(rest).toEqual(rest.map((_, after) => first + after + 1));
        }),
      );
      expect(subscribers.map(({ broken }) => broken)).toEqual(subscribers.map(() => 0));
    },
  );

  itIfThorough(
    "has each filter on every connection, and gives each change to one poll of all at a time",
    async () => {
      const logger = await contractIn(node, LOGGER);
      const [first] = clients;
      if (first === undefined) throw new Error();
      const { number: from } = await first.ask<{ number: string }>("eth_getBlockByNumber", "latest", false);
      const ids = {
        blocks: await first.ask<string>("eth_newBlockFilter"),
        pending: await first.ask<string>("eth_newPendingTransactionFilter"),
        logs: await first.ask<string>("eth_newFilter", { address: logger }),
      };
      const atFilter = Number(await first.ask<string>("eth_blockNumber"));
      const found = { blocks: [] as unknown[], pending: [] as unknown[], logs: [] as unknown[] };
      const kinds = ["blocks", "pending", "logs"] as const;
      const poll = async (client: Client, kind: (typeof kinds)[number]): Promise<void> =>
        void found[kind].push(...(await client.ask<unknown[]>("eth_getFilterChanges", ids[kind])));
      let isOver = false;
      const polling = clients.map(async (client) => {
        while (!isOver) for (const kind of kinds) await poll(client, kind);
      });
      const hashes: string[] = [];
      const { privateKey } = account(3);
      for (let nonce = 0n; nonce < 8n; nonce++) {
        const data = bigintToFixedBytes(3n, 32);
        const { raw } = aTransaction({ nonce, privateKey, to: addressFromHex(logger), value: 0n, data });
        hashes.push((await clients[Number(nonce)]?.ask<string>("eth_sendRawTransaction", toHex(raw))) ?? "");
        await pause(300);
      }
      await until(
        async () => (await first.ask("eth_getTransactionReceipt", hashes.at(-1))) ?? undefined,
        "the last receipt",
      );
      isOver = true;
      await Promise.all(polling);
      const announced = Number(await first.ask<string>("eth_blockNumber"));
      for (const kind of kinds) await poll(first, kind);
      const newest = Number(await first.ask<string>("eth_blockNumber"));
      const blocks: unknown[] = [];
      for (let number = Number(from) + 1; number <= newest; number++)
        blocks.push(
          (await first.ask<{ hash: string }>("eth_getBlockByNumber", toQuantity(number), false)).hash,
        );
      // Others may have been made before the filter, and since the last poll.
      const start = Math.min(...found.blocks.map((hash) => blocks.indexOf(hash)));
      const end = start + found.blocks.length;
      expect(found.blocks.toSorted()).toEqual(blocks.slice(start, end).toSorted());
      expect(Number(from) + start).toBeLessThanOrEqual(atFilter);
      expect(Number(from) + end).toBeGreaterThanOrEqual(announced);
      expect(found.pending.toSorted()).toEqual(hashes.toSorted());
      const logs = await first.ask<unknown[]>("eth_getLogs", { fromBlock: from, address: logger });
      expect(logs).toHaveLength(3 * hashes.length);
      const texts = (all: readonly unknown[]) => all.map((log) => JSON.stringify(log)).toSorted();
      expect(texts(found.logs)).toEqual(texts(logs));

      for (const id of Object.values(ids)) {
        const removed = await Promise.all(clients.map((client) => client.ask("eth_uninstallFilter", id)));
        expect(removed.filter((isRemoved) => isRemoved === true)).toHaveLength(1);
        for (const client of clients)
          await expect(client.ask("eth_getFilterChanges", id)).rejects.toThrow("Filter not found");
      }
    },
  );

  it.skipIf(!existsSync("/proc/self/task"))(
    "has the system prefer its threads to those for long work, and the thread that makes blocks to them",
    () => {
      const counts = nicenesses(node.child.pid);
      expect(counts.get(OF_CALLERS)).toBe(THREADS);
      // Recovery of the senders of what the others sent.
      expect(counts.get(OF_LONG_WORK)).toBeGreaterThan(0);
    },
  );

  itIfThorough(
    "answers as one node on all connections, while its threads end one after the other",
    async () => {
      const shown = { newest: 0 };
      let isOver = false;
      const watching = clients.map((client) => watchHeads(client, shown, () => isOver));
      const before = Number(await clients[0]?.ask<string>("eth_getTransactionCount", SENDER, "latest"));
      for (let count = 0; count < 6; count++) {
        const nonce = before + count;
        if (count === 1) node.holdThread(0, HELD_UP_MS);
        if (count > 0 && count % 2 === 0) node.endThread((count / 2) % THREADS);
        await sendAndFollow(nonce);
      }
      node.endThread(0);
      await until(async () => (node.deaths() === 3 ? true : undefined), "the end of three threads");
      const height = shown.newest;
      await until(async () => (shown.newest >= height + 2 ? true : undefined), "two more blocks");
      isOver = true;
      await Promise.all(watching);
      expect(clients.some(({ broken }) => broken > 0)).toBe(true);
      // Those whose thread ended have subscribed again, and are told of the head.
      expect(subscribers.some(({ broken }) => broken > 0)).toBe(true);
      await Promise.all(
        subscribers.map((each) => expect.poll(() => each.heads.at(-1)).toBeGreaterThanOrEqual(shown.newest)),
      );
      for (const subscriber of subscribers) subscriber.close();
      for (const client of clients) client.close();
      expect(await node.stop()).toBe(0);
    },
  );
});
