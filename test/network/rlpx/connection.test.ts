import { randomFillSync } from "node:crypto";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type Connection, createConnection, type Disconnect } from "../../../src/network/rlpx/connection.ts";
import type { Hello } from "../../../src/network/rlpx/hello.ts";
import { ownHello } from "../../../src/network/rlpx/wire.ts";
import { createHandClock, type HandClock } from "../../builders/handClock.ts";
import { MORE_THAN_KERNELS_TAKE } from "../../kernelBuffers.ts";
import { IN_REAL_TIME } from "../../realTime.ts";
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
  readonly heard: { readonly id: number; readonly length: number }[];
  readonly partings: Disconnect[];
  isReleased: boolean;
}

describe("a connection", IN_REAL_TIME, () => {
  it("is cut after ten seconds when nobody speaks", async () => {
    const clock = createHandClock(0);
    const [near] = await sockets();
    const end = take(near, BOB, clock);
    clock.advanceBy(9_999);
    expect(end.partings).toEqual([]);
    clock.advanceBy(1);
    expect(end.partings).toMatchObject([{ reason: "timeout", by: "us" }]);
    await until(() => end.isReleased);
  });

  it("is cut after ten seconds when the handshake is all that came", async () => {
    const clock = createHandClock(0);
    const [near, far] = await sockets();
    const end = take(near, BOB, clock);
    // An initiator that says no Hello: its writes stop after the first.
    const write = far.write.bind(far);
    let writes = 0;
    far.write = ((bytes: Uint8Array, done?: () => void) =>
      ++writes > 1 || write(bytes, done)) as typeof far.write;
    take(far, ALICE, createHandClock(0), BOB);
    await until(() => writes > 1);
    clock.advanceBy(10_000);
    expect(end.partings).toMatchObject([{ reason: "timeout", by: "us" }]);
  });

  it("is set up when every byte comes by itself", async () => {
    const [near, far] = await sockets();
    trickle(near);
    trickle(far);
    const bob = take(near, BOB, createHandClock(0));
    const alice = take(far, ALICE, createHandClock(0), BOB);
    await until(() => alice.hellos.length === 1 && bob.hellos.length === 1);
    alice.connection.send(0x10, new Uint8Array(300));
    await until(() => bob.heard.length === 1);
    expect(bob.heard).toEqual([{ id: 0x10, length: 300 }]);
  });

  it("stays when silence is answered by Pong", async () => {
    const { alice, bob, clock } = await pair();
    for (let count = 0; count < 5; count++) {
      clock.advanceBy(15_000);
      await settled(alice, bob);
    }
    expect([...alice.partings, ...bob.partings]).toEqual([]);
  });

  it("is ended with a reason when neither words nor a Pong come for two silences", async () => {
    const { alice, clock, bob } = await pair();
    bob.socket.pause();
    clock.advanceBy(15_000);
    clock.advanceBy(14_999);
    expect(alice.partings).toEqual([]);
    clock.advanceBy(5_000);
    expect(alice.partings).toMatchObject([
      { reason: "timeout", by: "us", detail: "no Pong within the keep-alive period" },
    ]);
  });

  it("is closed two seconds after the reason was told", async () => {
    const { alice, bob, clock } = await pair();
    // Does not hang up by itself.
    bob.socket.end = (() => bob.socket) as typeof bob.socket.end;
    alice.connection.disconnect("tooManyPeers", "enough");
    alice.connection.disconnect("requested", "once more");
    await until(() => bob.partings.length === 1);
    expect(bob.partings).toMatchObject([{ reason: "tooManyPeers", by: "them" }]);
    expect(alice.partings).toEqual([{ reason: "tooManyPeers", by: "us", detail: "enough" }]);
    expect(alice.isReleased).toBe(false);
    clock.advanceBy(2_000);
    await until(() => alice.isReleased);
  });

  it("keeps a bounded amount for a peer that does not read, consensus beside the rest, and cuts it in the end", async () => {
    const { alice, bob, clock } = await pair();
    bob.socket.pause();
    let sent = 0;
    while (sent < MORE_THAN_KERNELS_TAKE + 64 * MIB && alice.connection.send(0x11, noise())) {
      sent += 1_000_000;
      await new Promise(setImmediate);
    }
    expect(alice.connection.unsentBytes).toBeGreaterThan(15 * MIB);
    expect(alice.connection.unsentBytes).toBeLessThan(17 * MIB);
    // What waits for it says nothing, and other messages do not keep out those of consensus: the oldest give way.
    for (let count = 0; count < 64; count++)
      expect(alice.connection.send(0x10, noise(), "consensus")).toBe(true);
    expect(alice.connection.unsentBytes).toBeLessThan(66 * MIB);
    clock.advanceBy(14_000);
    expect(alice.partings).toEqual([]);
    for (let count = 0; count < 5; count++) clock.advanceBy(5_000);
    expect(alice.partings).toMatchObject([{ reason: "timeout", by: "us", detail: "it stopped reading" }]);
    await until(() => alice.isReleased);
    expect(alice.connection.unsentBytes).toBe(0);
  });

  it("lives as long as a large message goes on, however long it takes, and says small ones of consensus before the next", async () => {
    const { alice, bob, clock } = await pair();
    bob.socket.pause();
    const large = [noise(15_000_000), noise(15_000_000)];
    for (const message of large) expect(alice.connection.send(0x10, message, "consensus")).toBe(true);
    // Said again on the same connection it does not wait twice, nor while it is on its way.
    for (const message of large) expect(alice.connection.send(0x10, message, "consensus")).toBe(true);
    alice.connection.send(0x12, noise(1_000));
    alice.connection.send(0x11, Uint8Array.of(1), "consensus");
    // Each look finds that some came through; after the first silence a Ping waits behind it, too.
    while (bob.heard.length < 4) {
      const { bytesRead } = bob.socket;
      bob.socket.resume();
      await until(() => bob.socket.bytesRead - bytesRead > 2_000_000 || bob.heard.length === 4);
      bob.socket.pause();
      await new Promise((resolve) => setTimeout(resolve, 5));
      clock.advanceBy(5_000);
      expect([...alice.partings, ...bob.partings]).toEqual([]);
    }
    expect(bob.heard).toEqual([
      { id: 0x10, length: 15_000_000 },
      { id: 0x11, length: 1 },
      { id: 0x10, length: 15_000_000 },
      { id: 0x12, length: 1_000 },
    ]);
  });

  it("answers a Ping before what waits, once however often it is asked meanwhile", async () => {
    const { alice, bob, clock } = await pair();
    const written: number[] = [];
    const write = alice.socket.write.bind(alice.socket);
    alice.socket.write = ((bytes: Uint8Array, done?: () => void) => {
      written.push(bytes.length);
      return write(bytes, done);
    }) as typeof alice.socket.write;
    alice.connection.send(0x10, noise(15_000_000));
    clock.advanceBy(15_000);
    await until(() => bob.heard.length === 1);
    await settled(alice, bob);
    expect([...alice.partings, ...bob.partings]).toEqual([]);
    expect(Math.max(...written)).toBeLessThan(70_000);
  });

  it("is cut when a message of the other end does not go on, although some of it comes now and then", async () => {
    const { alice, bob, clock } = await pair();
    const held = holdBack(alice.socket);
    alice.connection.send(0x10, noise());
    await until(() => held.bytes() > 1_000_000);
    held.release(500_000);
    await until(() => bob.socket.bytesRead > 500_000);
    for (let count = 0; bob.partings.length === 0 && count < 10; count++) {
      const { bytesRead } = bob.socket;
      held.release(1_000);
      await until(() => bob.socket.bytesRead > bytesRead);
      clock.advanceBy(5_000);
    }
    expect(bob.partings).toMatchObject([
      { reason: "timeout", by: "us", detail: "its message makes no progress" },
    ]);
  });

  it("cuts a peer that stopped reading, although it still speaks", async () => {
    const { alice, bob, clock } = await pair();
    bob.socket.pause();
    await fill(alice.connection);
    for (let count = 0; alice.partings.length === 0 && count < 10; count++) {
      bob.connection.send(0x10, Uint8Array.of(1));
      const heard = alice.heard.length;
      await until(() => alice.heard.length > heard);
      clock.advanceBy(5_000);
    }
    expect(alice.partings).toMatchObject([{ reason: "timeout", by: "us", detail: "it stopped reading" }]);
  });

  it("tells a dead line from a goodbye", async () => {
    const { alice, bob } = await pair();
    bob.socket.resetAndDestroy();
    await until(() => alice.isReleased);
    expect(alice.partings).toMatchObject([{ reason: "tcpError", by: "nobody" }]);
  });
});

async function pair(): Promise<{ alice: End; bob: End; clock: HandClock }> {
  const clock = createHandClock(0);
  const [near, far] = await sockets();
  const bob = take(near, BOB, clock);
  const alice = take(far, ALICE, clock, BOB);
  await until(() => alice.hellos.length === 1 && bob.hellos.length === 1);
  return { alice, bob, clock };
}

/** Cannot be compressed, and is no other's. */
function noise(length = 1_000_000): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 65_536) randomFillSync(bytes, at, Math.min(65_536, length - at));
  return bytes;
}

/** Gives it messages until neither it nor the kernel takes any more: it refuses, and nothing moves, in twenty looks. */
async function fill(connection: Connection): Promise<void> {
  let given = 0;
  for (let looks = 0; looks < 20; looks++) {
    const { unsentBytes } = connection;
    const isTaken = connection.send(0x10, noise());
    if (isTaken) given += 1_000_000;
    expect(given).toBeLessThan(MORE_THAN_KERNELS_TAKE + 64 * MIB);
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (isTaken || connection.unsentBytes !== unsentBytes) looks = 0;
  }
}

/** Keeps what is written to the socket, to let it go by and by. */
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

/** Two messages each way, after which a Pong to whatever went before has arrived. */
async function settled(alice: End, bob: End): Promise<void> {
  for (const _ of ["a Ping is read before this message", "its Pong is read before this one"]) {
    const counts = [alice.heard.length, bob.heard.length];
    alice.connection.send(0x10, Uint8Array.of(1));
    bob.connection.send(0x10, Uint8Array.of(1));
    await until(() => alice.heard.length > (counts[0] ?? 0) && bob.heard.length > (counts[1] ?? 0));
  }
}

function take(socket: Socket, { privateKey, nodeId }: Identity, clock: HandClock, called?: Identity): End {
  const hellos: Hello[] = [];
  const heard: { id: number; length: number }[] = [];
  const partings: Disconnect[] = [];
  const connection = createConnection(
    {
      own: { privateKey, nodeId },
      hello: ownHello({ clientId: "test", capabilities: [], listenPort: 0, nodeId }),
      remote: { host: HOST, port: 0 },
      ...(called && { remoteId: called.nodeId }),
    },
    { socket, clock },
    {
      opened: (hello) => void hellos.push(hello),
      message: (id, { length }) => void heard.push({ id, length }),
      ended: (parting) => void partings.push(parting),
      released: () => {
        end.isReleased = true;
      },
    },
  );
  const end: End = { connection, socket, hellos, heard, partings, isReleased: false };
  return end;
}

/** Hands on what arrives in single bytes. */
function trickle(socket: Socket): void {
  const emit = socket.emit.bind(socket);
  socket.emit = ((event: string, ...rest: unknown[]) => {
    const [chunk] = rest;
    if (event !== "data" || !(chunk instanceof Uint8Array)) return emit(event, ...rest);
    for (const byte of chunk) emit("data", Buffer.of(byte));
    return true;
  }) as typeof socket.emit;
}

/** Both ends of a connection on loopback: that of the one who was called first. */
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
