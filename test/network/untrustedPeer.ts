import type { Socket } from "node:net";
import type { NodeAddress } from "../../src/network/dialer.ts";
import { createByteQueue } from "../../src/network/rlpx/byteQueue.ts";
import { type DisconnectReason, decodeDisconnect } from "../../src/network/rlpx/disconnectReason.ts";
import { createFrameReader, createFrameWriter } from "../../src/network/rlpx/frames.ts";
import { createInitiator, takeHandshakePacket } from "../../src/network/rlpx/handshake.ts";
import { encodeHello, type Hello } from "../../src/network/rlpx/hello.ts";
import { compressSnappy, uncompressSnappy } from "../../src/network/rlpx/snappy.ts";
import { ownHello } from "../../src/network/rlpx/wire.ts";
import { concatBytes } from "../../src/primitives/hex.ts";
import type { Identity } from "./identities.ts";
import { callNode } from "./toyNetwork.ts";

/** Somebody who calls a node and may write whatever comes to mind, at any depth of the protocol. */
export interface Stranger {
  readonly socket: Socket;
  /** Raw bytes. */
  write(bytes: Uint8Array): void;
  /** A sound auth packet; resolves when the node answered. */
  shakeHands(auth?: (sound: Uint8Array) => Uint8Array): Promise<void>;
  /** A sound frame around these bytes, as it would go out. */
  frame(body: Uint8Array): Uint8Array;
  /** Handshake and Hello, so that everything may follow. */
  enter(hello?: Uint8Array): Promise<void>;
  /** A message with this id, compressed. */
  say(id: number, payload: Uint8Array): void;
  /** What the node said last: a reason, or that it hung up without one. */
  readonly dismissal: Promise<DisconnectReason | "hung up">;
}

export function callAsStranger({ address }: { readonly address: NodeAddress }, own: Identity): Stranger {
  const socket = callNode(address);
  const queue = createByteQueue();
  let frames:
    | { reader: ReturnType<typeof createFrameReader>; writer: ReturnType<typeof createFrameWriter> }
    | undefined;
  let initiator: Extract<ReturnType<typeof createInitiator>, { ok: true }>["value"] | undefined;
  let onHands: () => void = () => undefined;
  let onHello: () => void = () => undefined;
  let dismiss: (reason: DisconnectReason | "hung up") => void = () => undefined;
  const dismissal = new Promise<DisconnectReason | "hung up">((resolve) => {
    dismiss = resolve;
  });

  socket.on("data", (chunk) => {
    queue.append(chunk);
    if (frames === undefined) {
      const packet = takeHandshakePacket(queue, "ack");
      if (!packet.ok || packet.value === undefined || initiator === undefined) return;
      const secrets = initiator.readAck(packet.value);
      if (!secrets.ok) return;
      frames = { reader: createFrameReader(secrets.value), writer: createFrameWriter(secrets.value) };
      onHands();
    }
    for (;;) {
      const read = frames.reader.read(queue, 0xff_ff_ff);
      if (!read.ok || read.value === undefined) return;
      const [id] = read.value;
      if (id === 0x80) onHello();
      if (id !== 1) continue;
      const payload = uncompressSnappy(read.value.subarray(1), 100);
      dismiss(decodeDisconnect(payload.ok ? payload.value : read.value.subarray(1)));
      socket.destroy();
      return;
    }
  });
  socket.on("close", () => dismiss("hung up"));

  const stranger: Stranger = {
    socket,
    write: (bytes) => void socket.write(bytes),
    async shakeHands(change = (sound) => sound) {
      const made = createInitiator(own, address.nodeId);
      if (!made.ok) throw new Error(made.error.message);
      initiator = made.value;
      const isDone = new Promise<void>((resolve) => {
        onHands = resolve;
      });
      socket.write(change(made.value.auth));
      await Promise.race([isDone, dismissal]);
    },
    frame(body) {
      if (frames === undefined) throw new Error("shake hands first");
      return frames.writer.write(body);
    },
    async enter(hello = encodeHello(strangersHello(own))) {
      await stranger.shakeHands();
      const isDone = new Promise<void>((resolve) => {
        onHello = resolve;
      });
      stranger.write(stranger.frame(concatBytes(Uint8Array.of(0x80), hello)));
      await Promise.race([isDone, dismissal]);
    },
    say: (id, payload) =>
      stranger.write(stranger.frame(concatBytes(Uint8Array.of(id), compressSnappy(payload)))),
    dismissal,
  };
  return stranger;
}

export function strangersHello({ nodeId }: Identity): Hello {
  return ownHello({
    clientId: "stranger",
    capabilities: [{ name: "toy", version: 1 }],
    listenPort: 0,
    nodeId,
  });
}
