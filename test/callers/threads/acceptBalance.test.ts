import { closeSync, fstatSync, openSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { expect, it, onTestFinished } from "vitest";
import { startDescriptorCopier } from "../../../src/callers/threads/descriptorCopier.ts";
import { openSharedListener } from "../../../src/callers/threads/sharedListener.ts";
import { openBalance } from "../../../src/rpc/server/acceptBalance.ts";
import { listenOn } from "../../../src/rpc/server/server.ts";
import { createHostMemory, shareHosts } from "../../../src/rpc/server/sharedHosts.ts";
import { takeTimeouts } from "../../builders/handTimeouts.ts";

const BURST = 60;

/** The server of one thread of two, on a port that both share. `spares` tells whether it gets descriptors for pauses. */
async function aServer(spares: boolean) {
  const copier = startDescriptorCopier();
  const listener = await openSharedListener(
    { host: "127.0.0.1", port: 0 },
    { threads: 2, spares: 32 },
    copier,
  );
  copier.close();
  const memory = createHostMemory(2);
  const [own, other] = [shareHosts(memory, 0), shareHosts(memory, 1)];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    own.add("10.0.0.1", 1);
    socket.on("error", () => undefined);
  });
  const descriptor = await listener.descriptor(0);
  await listenOn(server, descriptor);
  let given = 0;
  const another = async () => {
    given++;
    return spares ? listener.spare(0) : undefined;
  };
  const connections = {
    get count() {
      return sockets.size;
    },
  };
  const balance = openBalance(server, { socket: { descriptor, another }, shared: own }, connections);
  onTestFinished(() => {
    balance?.stop();
    for (const socket of sockets) socket.destroy();
    server.close();
    listener.close();
  });
  await expect.poll(() => given).toBe(1);
  return { port: listener.address.port, connections, other, balance, server };
}

/** Connects from another thread, and returns when all connections wait to be accepted. */
function burst(port: number): void {
  const connected = new Int32Array(new SharedArrayBuffer(4));
  const code = `
    const { workerData: { port, connected } } = require("node:worker_threads");
    for (let count = 0; count < ${BURST}; count++)
      require("node:net").connect(port, "127.0.0.1", () => {
        Atomics.add(connected, 0, 1);
        Atomics.notify(connected, 0);
      });`;
  const worker = new Worker(code, { eval: true, workerData: { port, connected } });
  onTestFinished(async () => void (await worker.terminate()));
  for (let open = 0; open < BURST; open = Atomics.load(connected, 0)) Atomics.wait(connected, 0, open);
}

it("a thread leaves connections of a burst to one that has fewer, until that has as many", async () => {
  const { port, connections, other } = await aServer(true);
  const timeouts = takeTimeouts();
  burst(port);
  await expect.poll(() => connections.count).toBeGreaterThanOrEqual(5);
  for (let look = 0; look < 50; look++) await timeouts.advanceBy(2);
  // A few at once, and one after each pause.
  expect(connections.count).toBeLessThan(BURST / 3);
  other.add("10.0.0.1", BURST);
  await timeouts.advanceBy(2);
  await expect.poll(() => connections.count).toBe(BURST);
});

it("a thread without descriptors for pauses takes all", async () => {
  const { port, connections } = await aServer(false);
  burst(port);
  await expect.poll(() => connections.count).toBe(BURST);
});

it("a server that pauses listens again when it is to be closed", async () => {
  const { port, connections, balance, server } = await aServer(true);
  burst(port);
  await expect.poll(() => connections.count).toBe(5);
  await expect.poll(() => server.listening).toBe(false);
  balance?.stop();
  expect(server.listening).toBe(true);
  await expect.poll(() => connections.count).toBe(BURST);
});

it("closes what a thread that ended was given and did not listen on, and nothing that others have", async () => {
  const copier = startDescriptorCopier();
  const listener = await openSharedListener(
    { host: "127.0.0.1", port: 0 },
    { threads: 2, spares: 4 },
    copier,
  );
  copier.close();
  onTestFinished(() => listener.close());
  const isOpen = (fd: number): boolean => {
    try {
      return fstatSync(fd).isSocket();
    } catch {
      return false;
    }
  };
  const [first, second, other] = [listener.spare(0), await listener.descriptor(0), listener.spare(1)] as [
    number,
    number,
    number,
  ];
  // The thread listened on this one, and closed it; the next socket has its number.
  closeSync(first);
  const server = createServer();
  onTestFinished(() => void server.close());
  await listenOn(server, await listener.descriptor(2));
  const unrelated = openSync("/dev/null", "r");
  onTestFinished(() => closeSync(unrelated));
  listener.ended(0);
  await expect.poll(() => isOpen(second)).toBe(false);
  expect(isOpen(other)).toBe(true);
  expect(fstatSync(unrelated).isCharacterDevice()).toBe(true);
  const client = connect(listener.address.port, "127.0.0.1");
  await new Promise((resolve) => server.once("connection", resolve));
  client.destroy();
  listener.ended(1);
  await expect.poll(() => isOpen(other)).toBe(false);
});
