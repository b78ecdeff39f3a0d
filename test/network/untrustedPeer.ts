import type { Socket } from "node:net";
import type { NodeAddress } from "../../src/network/dialer.ts";
import { ByteQueue } from "../../src/network/rlpx/byteQueue.ts";
import { type DisconnectReason, decodeDisconnect } from "../../src/network/rlpx/disconnectReason.ts";
import { FrameReader, FrameWriter } from "../../src/network/rlpx/frames.ts";
import { createInitiator, takeHandshakePacket } from "../../src/network/rlpx/handshake.ts";
import { encodeHello, type Hello, ownHello } from "../../src/network/rlpx/hello.ts";
import { compressSnappy, uncompressSnappy } from "../../src/network/rlpx/snappy.ts";
import { concatBytes } from "../../src/primitives/hex.ts";
import type { Identity } from "./identities.ts";
import { callNode } from "./toyNetwork.ts";

/** A test peer that may send anything at any stage of the protocol. */
export interface UntrustedPeer {
  readonly socket: Socket;
  /** Raw bytes. */
  write(bytes: Uint8Array): void;
  /** Sends a valid auth packet, as changed by `auth`; resolves when the node has answered. */
  handshake(auth?: (valid: Uint8Array) => Uint8Array): Promise<void>;
  /** Encodes the next valid frame with this body. */
  frame(body: Uint8Array): Uint8Array;
  /** Completes handshake and Hello. */
  open(hello?: Uint8Array): Promise<void>;
  /** Sends a message with this id, compressed. */
  send(id: number, payload: Uint8Array): void;
  /** The node's disconnect reason, or "closed" without one. */
  readonly disconnected: Promise<DisconnectReason | "closed">;
}

export function connectUntrusted(
  { address }: { readonly address: NodeAddress },
  own: Identity,
): UntrustedPeer {
  const socket = callNode(address);
  const queue = new ByteQueue();
  let frames: { reader: FrameReader; writer: FrameWriter } | undefined;
  let initiator: Extract<ReturnType<typeof createInitiator>, { ok: true }>["value"] | undefined;
  let onHandshake: () => void = () => undefined;
  let settle: (reason: DisconnectReason | "closed") => void = () => undefined;
  const disconnected = new Promise<DisconnectReason | "closed">((resolve) => {
    settle = resolve;
  });
  let onHello: () => void = () => undefined;
  // The node's Hello may come in one chunk with its ack.
  const hasHello = new Promise<void>((resolve) => {
    onHello = resolve;
  });

  socket.on("data", (chunk) => {
    queue.append(chunk);
    if (frames === undefined) {
      const packet = takeHandshakePacket(queue, "ack");
      if (!packet.ok || packet.value === undefined || initiator === undefined) return;
      const secrets = initiator.readAck(packet.value);
      if (!secrets.ok) return;
      frames = { reader: new FrameReader(secrets.value), writer: new FrameWriter(secrets.value) };
      onHandshake();
    }
    for (;;) {
      const read = frames.reader.read(queue, 0xff_ff_ff);
      if (!read.ok || read.value === undefined) return;
      const [id] = read.value;
      if (id === 0x80) onHello();
      if (id !== 1) continue;
      const payload = uncompressSnappy(read.value.subarray(1), 100);
      settle(decodeDisconnect(payload.ok ? payload.value : read.value.subarray(1)));
      socket.destroy();
      return;
    }
  });
  socket.on("close", () => settle("closed"));

  const peer: UntrustedPeer = {
    socket,
    write: (bytes) => void socket.write(bytes),
    async handshake(change = (valid) => valid) {
      const made = createInitiator(own, address.nodeId);
      if (!made.ok) throw new Error(made.error.message);
      initiator = made.value;
      const isDone = new Promise<void>((resolve) => {
        onHandshake = resolve;
      });
      socket.write(change(made.value.auth));
      await Promise.race([isDone, disconnected]);
    },
    frame(body) {
      if (frames === undefined) throw new Error("no handshake yet");
      return frames.writer.write(body);
    },
    async open(hello = encodeHello(untrustedHello(own))) {
      await peer.handshake();
      peer.write(peer.frame(concatBytes(Uint8Array.of(0x80), hello)));
      await Promise.race([hasHello, disconnected]);
    },
    send: (id, payload) => peer.write(peer.frame(concatBytes(Uint8Array.of(id), compressSnappy(payload)))),
    disconnected,
  };
  return peer;
}

export function untrustedHello({ nodeId }: Identity): Hello {
  return ownHello({
    clientId: "untrusted",
    capabilities: [{ name: "toy", version: 1 }],
    listenPort: 0,
    nodeId,
  });
}
