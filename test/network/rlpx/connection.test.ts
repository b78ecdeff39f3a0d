import { randomFillSync } from "node:crypto";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { Connection } from "../../../src/network/rlpx/connection.ts";
import type { Disconnect } from "../../../src/network/rlpx/disconnectReason.ts";
import { type Hello, ownHello } from "../../../src/network/rlpx/hello.ts";
import { createHandClock, type HandClock } from "../../builders/handClock.ts";
import { MORE_THAN_KERNELS_TAKE } from "../../kernelBuffers.ts";
import { itIfThorough } from "../../thorough.ts";
import { type Identity, identity } from "../identities.ts";
import { until } from "../toyNetwork.ts";

const HOST = "127.0.0.1";
const [ALICE, BOB] = [identity(1), identity(2)];
const MIB = 1024 ** 2;
const opened: (Socket | Server)[] = [];

afterEach(() => {
  for (const one of opened.splice(0)) "destroy" in one ? one.destroy() : one.close();
});

interface End {
  readonly connection: Connection;
  readonly socket: Socket;
  readonly hellos: Hello[];
  readonly received: { readonly id: number; readonly length: number }[];
  readonly disconnects: Disconnect[];
  isReleased: boolean;
}

describe("a connection", () => {
  it("is closed after ten seconds without a handshake", async () => {
    const clock = createHandClock(0);
    const [near] = await sockets();
    const end = take(near, BOB, clock);
    clock.advanceBy(9_999);
    expect(end.disconnects).toEqual([]);
    clock.advanceBy(1);
    expect(end.disconnects).toMatchObject([{ reason: "timeout", by: "us" }]);
    await until(() => end.isReleased);
  });

  it("is closed after ten seconds when only the handshake arrived", async () => {
    const clock = createHandClock(0);
    const [near, far] = await sockets();
    const end = take(near, BOB, clock);
    // An initiator that sends no Hello: its writes stop after the first.
    const write = far.write.bind(far);
    let writes = 0;
    far.write = ((bytes: Uint8Array, done?: () => void) =>
      ++writes > 1 || write(bytes, done)) as typeof far.write;
    take(far, ALICE, createHandClock(0), BOB);
    await until(() => writes > 1);
    clock.advanceBy(10_000);
    expect(end.disconnects).toMatchObject([{ reason: "timeout", by: "us" }]);
  });

  it("is set up when every byte arrives alone", async () => {
    const [near, far] = await sockets();
    trickle(near);
    trickle(far);
    const bob = take(near, BOB, createHandClock(0));
    const alice = take(far, ALICE, createHandClock(0), BOB);
    await until(() => alice.hellos.length === 1 && bob.hellos.length === 1);
    alice.connection.send(0x10, new Uint8Array(300));
    await until(() => bob.received.length === 1);
    expect(bob.received).toEqual([{ id: 0x10, length: 300 }]);
  });

  it("stays open when Pings are answered", async () => {
    const { alice, bob, clock } = await pair();
    for (let count = 0; count < 5; count++) {
      clock.advanceBy(15_000);
      await settled(alice, bob);
    }
    expect([...alice.disconnects, ...bob.disconnects]).toEqual([]);
  });

  it("is proven alive by the answer to a Ping that was sent for it, not to an earlier one", async () => {
    const { alice, bob, clock } = await pair();
    const answers = holdBack(bob.socket);
    let signs = 0;
    clock.advanceBy(15_000);
    const [ping, pong] = [64, 64];
    await until(() => answers.bytes() === ping + pong);
    alice.connection.probe(() => signs++);
    alice.connection.send(0x10, Uint8Array.of(1));
    await until(() => bob.received.length === 1);
    // The first Pong alone: the Ping that counts follows it.
    expect(answers.bytes()).toBe(ping + pong);
    answers.release(ping + pong);
    await until(() => answers.bytes() > 0);
    expect(signs).toBe(0);
    answers.release(answers.bytes());
    await until(() => signs > 0);
    expect(signs).toBe(1);
  });

  it("reads what waits once it is no longer held", async () => {
    const { alice, bob } = await pair();
    bob.connection.hold();
    alice.connection.send(0x10, new Uint8Array(300));
    bob.connection.send(0x10, new Uint8Array(200));
    await until(() => alice.received.length === 1);
    expect(bob.received).toEqual([]);
    bob.connection.resume();
    await until(() => bob.received.length === 1);
  });

  it("ends with a reason when neither messages nor a Pong arrive for two keep-alive periods", async () => {
    const { alice, clock, bob } = await pair();
    bob.socket.pause();
    clock.advanceBy(15_000);
    clock.advanceBy(14_999);
    expect(alice.disconnects).toEqual([]);
    clock.advanceBy(5_000);
    expect(alice.disconnects).toMatchObject([
      { reason: "timeout", by: "us", detail: "no Pong within the keep-alive period" },
    ]);
  });

  it("is closed two seconds after Disconnect was sent", async () => {
    const { alice, bob, clock } = await pair();
    // Does not close the socket by itself.
    bob.socket.end = (() => bob.socket) as typeof bob.socket.end;
    alice.connection.disconnect("tooManyPeers", "enough");
    alice.connection.disconnect("requested", "once more");
    await until(() => bob.disconnects.length === 1);
    expect(bob.disconnects).toMatchObject([{ reason: "tooManyPeers", by: "them" }]);
    expect(alice.disconnects).toEqual([{ reason: "tooManyPeers", by: "us", detail: "enough" }]);
    expect(alice.isReleased).toBe(false);
    clock.advanceBy(2_000);
    await until(() => alice.isReleased);
  });

  it("takes and drops what still comes after its Disconnect, although a chunk waits for its time", async () => {
    let hasTime = true;
    const { alice, bob } = await pair((read) => {
      if (hasTime) read();
      return hasTime;
    });
    hasTime = false;
    bob.connection.send(0x10, noise());
    await until(() => alice.socket.isPaused());
    alice.connection.disconnect("uselessPeer", "too much");
    expect(alice.socket.isPaused()).toBe(false);
    await until(() => bob.disconnects.length === 1);
    expect(bob.disconnects).toMatchObject([{ reason: "uselessPeer", by: "them" }]);
    expect(alice.received).toEqual([]);
  });

  it("queues a bounded amount for a peer that does not read, consensus beside the rest, and closes in the end", async () => {
    const { alice, bob, clock } = await pair();
    bob.socket.pause();
    let sent = 0;
    while (sent < MORE_THAN_KERNELS_TAKE + 64 * MIB && alice.connection.send(0x11, noise())) {
      sent += 1_000_000;
      await new Promise(setImmediate);
    }
    expect(alice.connection.unsentBytes).toBeGreaterThan(15 * MIB);
    expect(alice.connection.unsentBytes).toBeLessThan(17 * MIB);
    // The amount queued is no reason to close, and ordinary messages do not displace consensus: its oldest give way.
    for (let count = 0; count < 64; count++)
      expect(alice.connection.send(0x10, noise(), "consensus")).toBe(true);
    expect(alice.connection.unsentBytes).toBeLessThan(66 * MIB);
    clock.advanceBy(14_000);
    expect(alice.disconnects).toEqual([]);
    for (let count = 0; count < 5; count++) clock.advanceBy(5_000);
    expect(alice.disconnects).toMatchObject([{ reason: "timeout", by: "us", detail: "it stopped reading" }]);
    await until(() => alice.isReleased);
    expect(alice.connection.unsentBytes).toBe(0);
  });

  itIfThorough(
    "stays open while a large message makes progress, however long it takes, and sends small consensus messages before the next",
    async () => {
      const { alice, bob, clock } = await pair();
      bob.socket.pause();
      const large = [noise(15_000_000), noise(15_000_000)];
      for (const message of large) expect(alice.connection.send(0x10, message, "consensus")).toBe(true);
      // Sent again on the same connection it is not queued twice, nor while it is being sent.
      for (const message of large) expect(alice.connection.send(0x10, message, "consensus")).toBe(true);
      alice.connection.send(0x12, noise(1_000));
      alice.connection.send(0x11, Uint8Array.of(1), "consensus");
      // Each check finds progress; after the first silence a Ping waits behind it, too.
      while (bob.received.length < 4) {
        const { bytesRead } = bob.socket;
        bob.socket.resume();
        await until(() => bob.socket.bytesRead - bytesRead > 2_000_000 || bob.received.length === 4);
        bob.socket.pause();
        await new Promise((resolve) => setTimeout(resolve, 5));
        clock.advanceBy(5_000);
        expect([...alice.disconnects, ...bob.disconnects]).toEqual([]);
      }
      expect(bob.received).toEqual([
        { id: 0x10, length: 15_000_000 },
        { id: 0x11, length: 1 },
        { id: 0x10, length: 15_000_000 },
        { id: 0x12, length: 1_000 },
      ]);
    },
  );

  it("answers a Ping before queued messages, once for several Pings", async () => {
    const { alice, bob, clock } = await pair();
    const written: number[] = [];
    const write = alice.socket.write.bind(alice.socket);
    alice.socket.write = ((bytes: Uint8Array, done?: () => void) => {
      written.push(bytes.length);
      return write(bytes, done);
    }) as typeof alice.socket.write;
    alice.connection.send(0x10, noise(15_000_000));
    clock.advanceBy(15_000);
    await until(() => bob.received.length === 1);
    await settled(alice, bob);
    expect([...alice.disconnects, ...bob.disconnects]).toEqual([]);
    expect(Math.max(...written)).toBeLessThan(70_000);
  });

  it("is closed when an incoming message makes no progress, although some bytes arrive now and then", async () => {
    const { alice, bob, clock } = await pair();
    const held = holdBack(alice.socket);
    alice.connection.send(0x10, noise());
    await until(() => held.bytes() > 1_000_000);
    held.release(500_000);
    await until(() => bob.socket.bytesRead > 500_000);
    for (let count = 0; bob.disconnects.length === 0 && count < 10; count++) {
      const { bytesRead } = bob.socket;
      const { length } = alice.received;
      held.release(1_000);
      // Else the sender, whose Ping is held back, would miss its Pong before.
      bob.connection.send(0x10, Uint8Array.of(1));
      await until(() => bob.socket.bytesRead > bytesRead && alice.received.length > length);
      clock.advanceBy(5_000);
    }
    expect(bob.disconnects).toMatchObject([
      { reason: "timeout", by: "us", detail: "its message makes no progress" },
    ]);
  });

  itIfThorough("is closed when the peer stopped reading, although it still sends", async () => {
    const { alice, bob, clock } = await pair();
    bob.socket.pause();
    await fill(alice.connection);
    for (let count = 0; alice.disconnects.length === 0 && count < 10; count++) {
      bob.connection.send(0x10, Uint8Array.of(1));
      const received = alice.received.length;
      await until(() => alice.received.length > received);
      clock.advanceBy(5_000);
    }
    expect(alice.disconnects).toMatchObject([{ reason: "timeout", by: "us", detail: "it stopped reading" }]);
  });

  it("distinguishes a lost connection from a Disconnect", async () => {
    const { alice, bob } = await pair();
    bob.socket.resetAndDestroy();
    await until(() => alice.isReleased);
    expect(alice.disconnects).toMatchObject([{ reason: "tcpError", by: "nobody" }]);
  });
});

/** Alice has called Bob; `schedule` gives her time for reading. */
async function pair(
  schedule?: (read: () => void) => boolean,
): Promise<{ alice: End; bob: End; clock: HandClock }> {
  const clock = createHandClock(0);
  const [near, far] = await sockets();
  const bob = take(near, BOB, clock);
  const alice = take(far, ALICE, clock, BOB, schedule);
  await until(() => alice.hellos.length === 1 && bob.hellos.length === 1);
  return { alice, bob, clock };
}

/** Unique and incompressible bytes. */
function noise(length = 1_000_000): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 65_536) randomFillSync(bytes, at, Math.min(65_536, length - at));
  return bytes;
}

/**
 * Sends messages until neither the connection nor the kernel accepts more: refused without progress in twenty checks.
 */
async function fill(connection: Connection): Promise<void> {
  let given = 0;
  for (let checks = 0; checks < 20; checks++) {
    const { unsentBytes } = connection;
    const isTaken = connection.send(0x10, noise());
    if (isTaken) given += 1_000_000;
    expect(given).toBeLessThan(MORE_THAN_KERNELS_TAKE + 64 * MIB);
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (isTaken || connection.unsentBytes !== unsentBytes) checks = 0;
  }
}

/** Holds back writes to the socket, and releases them in parts. */
function holdBack(socket: Socket): { bytes(): number; release(count: number): void } {
  const write = socket.write.bind(socket);
  let held = Buffer.alloc(0);
  socket.write = ((bytes: Uint8Array, done?: () => void) => {
    held = Buffer.concat([held, bytes]);
    if (done !== undefined) setImmediate(done);
    return true;
  }) as typeof socket.write;
  return {
    bytes: () => held.length,
    release(count) {
      write(held.subarray(0, count));
      held = held.subarray(count);
    },
  };
}

/** Two messages each way, after which any earlier Pong has arrived. */
async function settled(alice: End, bob: End): Promise<void> {
  for (const _ of ["a Ping is read before this message", "its Pong is read before this one"]) {
    const counts = [alice.received.length, bob.received.length];
    alice.connection.send(0x10, Uint8Array.of(1));
    bob.connection.send(0x10, Uint8Array.of(1));
    await until(() => alice.received.length > (counts[0] ?? 0) && bob.received.length > (counts[1] ?? 0));
  }
}

function take(
  socket: Socket,
  { privateKey, nodeId }: Identity,
  clock: HandClock,
  called?: Identity,
  schedule?: (read: () => void) => boolean,
): End {
  const hellos: Hello[] = [];
  const received: { id: number; length: number }[] = [];
  const disconnects: Disconnect[] = [];
  const connection = new Connection(
    {
      own: { privateKey, nodeId },
      hello: ownHello({ clientId: "test", capabilities: [], listenPort: 0, nodeId }),
      remote: { host: HOST, port: 0 },
      ...(called && { remoteId: called.nodeId }),
    },
    { socket, clock, ...(schedule && { read: (_, read) => schedule(read) }) },
    {
      opened: (hello) => void hellos.push(hello),
      message: (id, { length }) => void received.push({ id, length }),
      ended: (disconnect) => void disconnects.push(disconnect),
      released: () => {
        end.isReleased = true;
      },
    },
  );
  const end: End = { connection, socket, hellos, received, disconnects, isReleased: false };
  return end;
}

/** Delivers received data in single bytes. */
function trickle(socket: Socket): void {
  const emit = socket.emit.bind(socket);
  socket.emit = ((event: string, ...rest: unknown[]) => {
    const [chunk] = rest;
    if (event !== "data" || !(chunk instanceof Uint8Array)) return emit(event, ...rest);
    for (const byte of chunk) emit("data", Buffer.of(byte));
    return true;
  }) as typeof socket.emit;
}

/** Both ends of a connection on loopback, the accepting end first. */
async function sockets(): Promise<readonly [Socket, Socket]> {
  const server = createServer();
  opened.push(server);
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  await new Promise<void>((resolve) => server.listen({ host: HOST, port: 0 }, resolve));
  const address = server.address();
  const far = connect({ host: HOST, port: typeof address === "object" ? (address?.port ?? 0) : 0 });
  const near = await accepted;
  opened.push(near, far);
  await until(() => !far.connecting);
  return [near, far];
}
