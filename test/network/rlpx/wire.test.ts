import { describe, expect, it } from "vitest";
import { ByteQueue } from "../../../src/network/rlpx/byteQueue.ts";
import { FrameReader, FrameWriter } from "../../../src/network/rlpx/frames.ts";
import { answerAuth, createInitiator, type HandshakePacket } from "../../../src/network/rlpx/handshake.ts";
import { decodeHello, encodeHello, type Hello, ownHello } from "../../../src/network/rlpx/hello.ts";
import { uncompressSnappy } from "../../../src/network/rlpx/snappy.ts";
import { Wire } from "../../../src/network/rlpx/wire.ts";
import { concatBytes, toHex } from "../../../src/primitives/hex.ts";
import type { Result } from "../../../src/primitives/result.ts";
import { identity } from "../identities.ts";

const [OWN, PEER] = [identity(1), identity(2)];
const NOTHING = Uint8Array.of(0xc0);
const MAX_BYTES = 0xff_ff_ff;

describe.each(["responder", "initiator"] as const)("an end of a connection, as %s,", (role) => {
  it("sends its Hello as soon as it has the keys, in a write of its own and uncompressed", () => {
    const { writes, frames } = exchangeKeys(role);
    expect(writes.length).toBe(1);
    const [hello] = frames();
    expect(hello?.[0]).toBe(0x80);
    const decoded = decodeHello(hello?.subarray(1) ?? NOTHING);
    expect(decoded.ok && decoded.value).toEqual(helloOf(OWN));
  });

  it("says nothing else before the other's Hello", () => {
    const { wire, writes, opened } = exchangeKeys(role);
    writes.length = 0;
    expect(wire.send(0x10, NOTHING)).toBe(false);
    wire.ping();
    expect(wire.hasNext).toBe(false);
    expect(writes).toEqual([]);
    expect(opened).toEqual([]);
  });

  it("has one Hello, and compresses what follows the other's", () => {
    const { wire, opened, frames, frameOf } = exchangeKeys(role);
    wire.receive(frameOf(concatBytes(Uint8Array.of(0x80), encodeHello(helloOf(PEER)))));
    expect(opened).toEqual([helloOf(PEER)]);
    expect(wire.send(0x10, NOTHING)).toBe(true);
    const [, message, ...others] = frames();
    expect(toHex(message ?? NOTHING)).toBe("0x100100c0");
    expect(others).toEqual([]);
  });

  it("ends the connection behind its Hello when the other begins with anything else", () => {
    const { wire, broken, frames, frameOf } = exchangeKeys(role);
    wire.receive(frameOf(Uint8Array.of(0x10, 0xc0)));
    expect(broken).toEqual(["message 16 came before Hello"]);
    const [, disconnect] = frames();
    expect(disconnect?.[0]).toBe(1);
    const payload = uncompressSnappy(disconnect?.subarray(1) ?? NOTHING, 100);
    expect(payload.ok && toHex(payload.value)).toBe("0xc102");
  });
});

interface ExchangedKeys {
  readonly wire: Wire;
  /** What the end wrote behind its packet of the handshake. */
  readonly writes: Uint8Array[];
  readonly opened: Hello[];
  readonly broken: string[];
  /** The messages in all that was written, id first. */
  frames(): Uint8Array[];
  /** The other's next frame. */
  frameOf(body: Uint8Array): Uint8Array;
}

/** An end of this role that has exchanged keys with a peer that is silent since. */
function exchangeKeys(role: "responder" | "initiator"): ExchangedKeys {
  const isInitiator = role === "initiator";
  const packets: Uint8Array[] = [];
  const writes: Uint8Array[] = [];
  const opened: Hello[] = [];
  const broken: string[] = [];
  const wire: Wire = new Wire(
    { own: OWN, hello: helloOf(OWN), ...(isInitiator && { remoteId: PEER.nodeId }) },
    {
      write: (bytes) => void packets.push(bytes),
      queued() {
        for (let bytes = wire.next(); bytes !== undefined; bytes = wire.next()) writes.push(bytes);
      },
      opened: (hello) => void opened.push(hello),
      message: () => undefined,
      ponged: () => undefined,
      disconnected: () => undefined,
      broken(reason, detail) {
        broken.push(detail);
        wire.disconnect(reason);
      },
    },
  );
  wire.start();
  const secrets = isInitiator ? answer(wire, packets) : call(wire, packets);
  const reader = new FrameReader(secrets);
  const writer = new FrameWriter(secrets);
  const queue = new ByteQueue();
  const messages: Uint8Array[] = [];
  let read = 0;
  return {
    wire,
    writes,
    opened,
    broken,
    frames() {
      for (; read < writes.length; read++) queue.append(writes[read] ?? NOTHING);
      for (;;) {
        const message = unwrap(reader.read(queue, MAX_BYTES));
        if (message === undefined) return messages;
        messages.push(Uint8Array.from(message));
      }
    },
    frameOf: (body) => writer.write(body),
  };
}

/** The peer answers our auth. */
function answer(wire: Wire, packets: readonly Uint8Array[]) {
  const { ack, secrets } = unwrap(answerAuth(PEER, packet(packets)));
  wire.receive(ack);
  return secrets;
}

/** The peer calls, and reads our ack. */
function call(wire: Wire, packets: readonly Uint8Array[]) {
  const { auth, readAck } = unwrap(createInitiator(PEER, OWN.nodeId));
  wire.receive(auth);
  return unwrap(readAck(packet(packets)));
}

function packet([bytes = NOTHING]: readonly Uint8Array[]): HandshakePacket {
  return { bytes, isOld: false };
}

function helloOf({ nodeId }: { readonly nodeId: Uint8Array }): Hello {
  return ownHello({
    clientId: "test/1",
    capabilities: [{ name: "eth", version: 68 }],
    listenPort: 30303,
    nodeId: Uint8Array.from(nodeId),
  });
}

function unwrap<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}
