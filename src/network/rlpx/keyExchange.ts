import { ok, type Result } from "../../primitives/result.ts";
import type { ByteQueue } from "./byteQueue.ts";
import type { FrameSecrets } from "./frames.ts";
import {
  answerAuth,
  createInitiator,
  type Initiator,
  type OwnIdentity,
  takeHandshakePacket,
} from "./handshake.ts";

/** One end's part of the handshake (handshake.ts), as a state machine over bytes. */
export interface KeyExchange {
  /** The packet to begin with: auth from an initiator, none from a responder. Fails when the node id is not a key. */
  start(): Result<Uint8Array | undefined, "badHandshake">;
  /** Takes the remote end's packet; undefined until it has arrived. */
  read(queue: ByteQueue): Result<ExchangedKeys | undefined, "badHandshake">;
}

interface ExchangedKeys {
  readonly secrets: FrameSecrets;
  /** Node id of the remote end; it is proven only by a frame. */
  readonly remoteId: Uint8Array;
  /** A responder's answer, to be written before any frame; undefined for an initiator. */
  readonly ack: Uint8Array | undefined;
}

/** Begins an exchange as the end that dialed the node. */
export function initiateExchange(own: OwnIdentity, remoteId: Uint8Array): KeyExchange {
  /** Undefined until the start. */
  let initiator: Initiator | undefined;
  return {
    start() {
      const created = createInitiator(own, remoteId);
      if (!created.ok) return created;
      initiator = created.value;
      return ok(initiator.auth);
    },
    read(queue) {
      if (initiator === undefined) return ok(undefined);
      const packet = takeHandshakePacket(queue, "ack");
      if (!packet.ok || packet.value === undefined) return packet.ok ? ok(undefined) : packet;
      const secrets = initiator.readAck(packet.value);
      return secrets.ok ? ok({ secrets: secrets.value, remoteId, ack: undefined }) : secrets;
    },
  };
}

/** Begins an exchange as the end that was dialed. */
export function answerExchange(own: OwnIdentity): KeyExchange {
  return {
    start: () => ok(undefined),
    read(queue) {
      const packet = takeHandshakePacket(queue, "auth");
      if (!packet.ok || packet.value === undefined) return packet.ok ? ok(undefined) : packet;
      return answerAuth(own, packet.value);
    },
  };
}
