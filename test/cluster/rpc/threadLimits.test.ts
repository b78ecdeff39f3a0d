import { once } from "node:events";
import net from "node:net";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import WebSocket from "ws";
import { itIfThorough, someOf } from "../../thorough.ts";
import { until } from "../harness/nodeProcess.ts";
import { startThreadedNode, type ThreadedNode } from "../harness/threadedNode.ts";

/** Limits that hold for all threads together, exceeded over connections that are spread over them. */

const THREADS = 3;
const CONNECTIONS = 30;
/** Addresses and topics of all log subscriptions, and of all filters. */
const CRITERIA = 200_000;
const CRITERIA_OF_ONE = 10_000;

let node: ThreadedNode;

beforeAll(async () => {
  node = await startThreadedNode(THREADS, [
    `--rpc-http-max-active-connections=${CONNECTIONS}`,
    `--rpc-ws-max-active-connections=${CONNECTIONS}`,
    "--rpc-max-connections-per-address=1000",
    "--rpc-http-max-batch-size=10",
  ]);
});

interface Opened {
  readonly socket: net.Socket;
  isOpen(): boolean;
}

/** A connection over HTTP on which a request was answered just now, so that no new one takes its place; or one that was refused. */
async function overHttp(): Promise<Opened> {
  const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}';
  return opened(
    node.httpPort,
    `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
}

async function overWebSocket(): Promise<Opened> {
  const upgrade =
    "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
  return opened(node.wsPort, upgrade);
}

/** Resolves when the first bytes have come, or the end. */
async function opened(port: number, sent: string): Promise<Opened> {
  const socket = net.connect(port, "127.0.0.1");
  let isOpen = true;
  await new Promise<void>((resolve) => {
    socket.on("error", () => undefined);
    socket.on("close", () => {
      isOpen = false;
      resolve();
    });
    socket.on("data", () => resolve());
    socket.write(sent);
  });
  return { socket, isOpen: () => isOpen };
}

async function many(open: () => Promise<Opened>, count: number): Promise<Opened[]> {
  const all: Opened[] = [];
  for (let index = 0; index < count; index++) all.push(await open());
  return all;
}

const openAmong = (all: readonly Opened[]): Opened[] => all.filter(({ isOpen }) => isOpen());

/** As many connections as there may be, one of which the last request of a test may have; more are refused. */
async function full(open: () => Promise<Opened>): Promise<readonly Opened[]> {
  return until(async () => {
    const opened = openAmong(await many(open, CONNECTIONS + 2 * THREADS));
    // One that gave way to a later one may hear of its end after the later one's answer.
    await expect.poll(() => openAmong(opened).length).toBeLessThanOrEqual(CONNECTIONS);
    const all = openAmong(opened);
    if (all.length >= CONNECTIONS - 1) return all;
    closeAll(all);
    return undefined;
  }, "as many connections as there may be");
}

function closeAll(all: readonly Opened[]): void {
  for (const { socket } of all) socket.destroy();
}

interface RpcAnswer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A client that hands out answers by the ids of the requests. */
async function aClient(localAddress?: string) {
  const socket = new WebSocket(node.wsUrl, { localAddress });
  socket.on("error", () => undefined);
  const waiting = new Map<number, (answer: RpcAnswer) => void>();
  let newest = 0;
  socket.on("message", (data: Buffer) => {
    const answer = JSON.parse(data.toString()) as RpcAnswer & { readonly id?: number | null };
    if (answer.id === undefined) return;
    // An error without an id is of a message that was not read, whichever that was: it goes to the oldest request, whose
    // own answer, if that comes after it, goes to the next oldest one. Each request gets one answer that way.
    const id = answer.id !== null && waiting.has(answer.id) ? answer.id : Math.min(...waiting.keys());
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  await once(socket, "open");
  const closed = once(socket, "close").then((): RpcAnswer => {
    throw new Error("the connection closed");
  });
  closed.catch(() => undefined);
  /** `params` are JSON. */
  const askInText = (method: string, params: string): Promise<RpcAnswer> =>
    Promise.race([
      new Promise<RpcAnswer>((resolve) => {
        const id = ++newest;
        waiting.set(id, resolve);
        socket.send(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`);
      }),
      closed,
    ]);
  return {
    socket,
    askInText,
    ask: (method: string, ...params: readonly unknown[]): Promise<RpcAnswer> =>
      askInText(method, JSON.stringify(params)),
  };
}

/** The error of a request that was read. */
const INVALID_PARAMS = -32602;

/** Clients, once there is room for them. */
async function clientsOf(count: number): Promise<Awaited<ReturnType<typeof aClient>>[]> {
  const clients: Awaited<ReturnType<typeof aClient>>[] = [];
  while (clients.length < count)
    clients.push(await until(() => aClient().catch(() => undefined), "a client"));
  return clients;
}

const ADDRESSES = Array.from(
  { length: CRITERIA_OF_ONE },
  (_, index) => `0x${index.toString(16).padStart(40, "0")}`,
);

/** Resolves once a request was answered, or the connection is known to have ended. */
const answersOrCloses = ({ ask }: Awaited<ReturnType<typeof aClient>>): Promise<unknown> =>
  ask("eth_chainId").catch(() => undefined);

describe("a limit of all threads", () => {
  it.each(
    someOf([
      ["HTTP", overHttp],
      ["WebSocket", overWebSocket],
    ] as const),
  )("bounds connections over %s, and those of a thread that ended are free again", async (_, open) => {
    const first = await full(open);
    const before = node.deaths();
    for (let index = 0; index < THREADS; index++) {
      node.endThread(index);
      await until(async () => (node.deaths() > before + index ? true : undefined), "the end of a thread");
    }
    await expect.poll(() => openAmong(first).length).toBe(0);
    closeAll(await full(open));
    closeAll(await full(open));
  });

  itIfThorough(
    "bounds the criteria of subscriptions and filters by address; both are free again, subscriptions also when a thread ends",
    async () => {
      const clients = await clientsOf(4 * THREADS);
      // What is left by a first try would be missing in the second one.
      onTestFinished(() => {
        for (const { socket } of clients) socket.close();
      });
      // One address may have half of them.
      const fitting = CRITERIA / 2 / CRITERIA_OF_ONE;
      const subscribe = (index: number): Promise<RpcAnswer> | undefined =>
        clients[index % clients.length]?.ask("eth_subscribe", "logs", { address: ADDRESSES });
      const install = (index: number): Promise<RpcAnswer> | undefined =>
        clients[index % clients.length]?.ask("eth_newFilter", { address: ADDRESSES });
      const admitted: string[] = [];
      for (const ask of [subscribe, install]) {
        const answers: (RpcAnswer | undefined)[] = [];
        for (let index = 0; index < fitting + THREADS; index++) answers.push(await ask(index));
        const ids = answers.flatMap((answer) => (typeof answer?.result === "string" ? [answer.result] : []));
        expect(ids).toHaveLength(fitting);
        const errors = answers.flatMap((answer) => (answer?.error === undefined ? [] : [answer.error.code]));
        expect(errors).toEqual(Array.from({ length: THREADS }, () => -32005));
        admitted.push(...ids);
      }
      const neighbour = await aClient("127.0.0.2");
      for (const method of ["eth_subscribe", "eth_newFilter"]) {
        const params = [...(method === "eth_subscribe" ? ["logs"] : []), { address: ADDRESSES }];
        expect((await neighbour.ask(method, ...params)).result).toBeDefined();
      }
      neighbour.socket.close();
      // Filters are found and removed on every connection; a subscription belongs to its own.
      const uninstall = async (index: number, id: unknown): Promise<void> => {
        const answer = await clients[index % clients.length]?.ask("eth_uninstallFilter", id);
        expect(answer).toMatchObject({ result: true });
      };
      for (const [index, id] of admitted.slice(fitting).entries()) await uninstall(index + 1, id);
      await uninstall(1, (await install(0))?.result);
      // Each of the first clients has a subscription, and the others have none.
      const isClosed = (): boolean =>
        clients.slice(0, fitting).some(({ socket }) => socket.readyState === WebSocket.CLOSED);
      // By chance a thread may have none of their connections.
      for (let index = 0; index < THREADS && !isClosed(); index++) {
        const before = node.deaths();
        node.endThread(index);
        await expect.poll(() => node.deaths()).toBe(before + 1);
        // Each connection answers, or its end comes here.
        await Promise.all(clients.map(answersOrCloses));
      }
      expect(isClosed()).toBe(true);
      const left = clients.filter(({ socket }) => socket.readyState === WebSocket.OPEN);
      // By chance all of them may have been on the thread that ended.
      const one = left[0] ?? (await aClient());
      await expect
        .poll(async () => (await one.ask("eth_subscribe", "logs", { address: ADDRESSES })).error?.code)
        .toBeUndefined();
      for (const { socket } of [one, ...left]) socket.close();
      const later = await aClient();
      await expect
        .poll(async () => {
          const answer = await later.ask("eth_subscribe", "logs", { address: ADDRESSES });
          return answer.error?.code;
        })
        .toBeUndefined();
      for (let index = 2; index < fitting; index++)
        expect((await later.ask("eth_subscribe", "logs", { address: ADDRESSES })).result).toBeDefined();
      later.socket.close();
    },
  );

  // In the daily run test/rpc/server/sharedTotals.test.ts stands for it.
  itIfThorough(
    "bounds large messages that wait to be read, and takes them again when the load is gone",
    async () => {
      const clients = await clientsOf(4 * THREADS);
      // As many members as a message may have, which take long to read.
      const large = JSON.stringify([
        Object.fromEntries(Array.from({ length: 190_000 }, (_, index) => [`member${index}`, index])),
      ]);
      const codes = new Set<number | undefined>();
      // Where writing them takes as long as reading them, none wait: then all are sent again.
      await until(async () => {
        const answers = await Promise.all(
          clients.flatMap(({ askInText }) => Array.from({ length: 3 }, () => askInText("web3_sha3", large))),
        );
        for (const { error } of answers) codes.add(error?.code);
        return codes.has(-32005) ? true : undefined;
      }, "a refusal of messages that wait");
      expect([...codes].sort()).toEqual([-32005, INVALID_PARAMS]);
      for (const { askInText } of clients.slice(0, THREADS))
        await expect.poll(async () => (await askInText("web3_sha3", large)).error?.code).toBe(INVALID_PARAMS);
      for (const { socket } of clients) socket.close();
    },
  );

  it("bounds a batch on every thread alike", async () => {
    const batch = (length: number) =>
      JSON.stringify(Array.from({ length }, (_, id) => ({ jsonrpc: "2.0", id, method: "eth_chainId" })));
    for (let count = 0; count < 4 * THREADS; count++) {
      const headers = { connection: "close" };
      const taken = await fetch(node.httpUrl, { method: "POST", body: batch(10), headers });
      expect(await taken.json()).toHaveLength(10);
      const refused = await fetch(node.httpUrl, { method: "POST", body: batch(11), headers });
      expect(await refused.json()).toMatchObject({ error: { code: -32005 } });
    }
  });
});
