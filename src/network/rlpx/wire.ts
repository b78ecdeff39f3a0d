import { concatBytes } from "../../primitives/hex.ts";
import { ok } from "../../primitives/result.ts";
import { MAX_HELLO_BYTES, MAX_PAYLOAD_BYTES, PIECE_BYTES } from "../limits.ts";
import { createByteQueue } from "./byteQueue.ts";
import { FIRST_PROTOCOL_ID } from "./capabilities.ts";
import { type DisconnectReason, decodeDisconnect, encodeDisconnect } from "./disconnectReason.ts";
import {
  createFrameReader,
  createFrameWriter,
  type FrameReader,
  type FrameSecrets,
  type FrameWriter,
} from "./frames.ts";
import {
  answerAuth,
  createInitiator,
  type Initiator,
  type OwnIdentity,
  takeHandshakePacket,
} from "./handshake.ts";
import { decodeHello, encodeHello, type Hello, P2P_VERSION } from "./hello.ts";
import type { MessagePriority } from "./messagePriority.ts";
import { createSendQueue, type SendQueue } from "./sendQueue.ts";
import { compressSnappy, uncompressSnappy } from "./snappy.ts";

/**
 * One end of an RLPx connection as a state machine over bytes (p2p.md#rlpx-handshake), without socket or clock.
 *
 *     initiator:  auth ──> (ack) Hello ──> (Hello) open
 *     responder:  (auth) ack ──> (anything) Hello ──> (Hello) open
 *
 * Invariants: each packet is one write, and so is each frame no longer than a piece; a responder sends Hello only after
 * the initiator's first frame, as Besu does; nothing is read after `broken` or `disconnected`. Bytes may arrive in any
 * portions. Outgoing messages are queued (sendQueue.ts) until `next` takes them.
 */
export interface Wire {
  /** Sends auth as the initiator; no effect for a responder. */
  start(): void;
  receive(chunk: Uint8Array): void;
  /** False when the message is too large, the connection is not open yet, or too much is queued. */
  send(id: number, payload: Uint8Array, priority?: MessagePriority): boolean;
  ping(): void;
  /** The next bytes to write, at most a piece and some 100 bytes; undefined when nothing is queued. */
  next(): Uint8Array | undefined;
  /**
   * Queues Disconnect; nothing is read afterwards, and queued messages are dropped. False when the handshake is not far
   * enough to send it.
   */
  disconnect(reason: DisconnectReason): boolean;
  /** Stops reading and writing. */
  stop(): void;
  /** Whether there is something to write. */
  readonly hasNext: boolean;
  /** Memory taken by an incomplete packet or frame; 0 when there is none. */
  readonly unreadBytes: number;
  /** Frames read so far. */
  readonly messagesRead: number;
  /**
   * Node id whose key the remote end has proven. Only a frame proves it: a handshake may come from another node at a
   * wrong address, or be a replayed recording, and neither is the key owner's fault.
   */
  readonly provenId: Uint8Array | undefined;
}

export interface WireEvents {
  /** Writes a packet of the handshake. */
  write(bytes: Uint8Array): void;
  /** `next` has more to give. */
  queued(): void;
  /** Both Hellos were exchanged; the node id is the one that the handshake proved. */
  opened(hello: Hello): void;
  /** A sub-protocol message, uncompressed; `id` is the connection's message id. */
  message(id: number, payload: Uint8Array): void;
  ponged(): void;
  /** A message of the base protocol was received or sent. */
  base?(direction: "inbound" | "outbound", id: number): void;
  /** The remote end sent Disconnect. */
  disconnected(reason: DisconnectReason): void;
  /** The remote end broke the protocol, or is not the expected node. */
  broken(reason: DisconnectReason, detail: string): void;
}

const HELLO = 0x00;
const DISCONNECT = 0x01;
const PING = 0x02;
const PONG = 0x03;
/** Payload of Ping and Pong: an empty list. */
const EMPTY_LIST = Uint8Array.of(0xc0);
/** Messages after Hello are compressed from this p2p version on. */
const FIRST_COMPRESSED_VERSION = 5;

type Stage =
  | { readonly kind: "auth" }
  | { readonly kind: "ack"; readonly initiator: Initiator }
  | { readonly kind: "hello" | "open"; readonly reader: FrameReader }
  | { readonly kind: "stopped" };

/** A message whose frame is written in pieces, with its progress. */
interface PartialFrame {
  readonly bytes: Uint8Array;
  written: number;
}

/** Creates an initiator when `remoteId` is given, else a responder. */
export function createWire(
  settings: { readonly own: OwnIdentity; readonly hello: Hello; readonly remoteId?: Uint8Array },
  events: WireEvents,
  sends: SendQueue = createSendQueue(),
): Wire {
  const { own } = settings;
  const queue = createByteQueue();
  let remoteId = settings.remoteId;
  let stage: Stage = { kind: "auth" };
  let isProven = false;
  let isHelloSent = false;
  let isCompressed = false;
  /** The peer's Hello was read. */
  let isHelloReceived = false;
  let messagesRead = 0;
  /** Set once the handshake is complete. */
  let writer: FrameWriter | undefined;
  let partial: PartialFrame | undefined;

  function stopReading(): void {
    stage = { kind: "stopped" };
    queue.clear();
  }

  function stop(): void {
    stopReading();
    sends.clear();
    partial = undefined;
    writer = undefined;
  }

  /** Reported while the writer is still there, so that the reason can be sent. */
  function fail(reason: DisconnectReason, detail: string): false {
    queue.clear();
    events.broken(reason, detail);
    stopReading();
    return false;
  }

  function setUpFrames(secrets: FrameSecrets): void {
    writer = createFrameWriter(secrets);
    stage = { kind: "hello", reader: createFrameReader(secrets) };
  }

  function queueMessage(id: number, payload: Uint8Array, priority: MessagePriority): boolean {
    if (payload.length > MAX_PAYLOAD_BYTES) return false;
    const bytes = isCompressed ? compressSnappy(payload) : payload;
    if (bytes.length > MAX_PAYLOAD_BYTES || !sends.push({ id, bytes }, priority)) return false;
    events.queued();
    return true;
  }

  function queueBase(id: number, payload: Uint8Array): void {
    events.base?.("outbound", id);
    sends.pushBase({ id, bytes: isCompressed ? compressSnappy(payload) : payload });
    events.queued();
  }

  function next(): Uint8Array | undefined {
    if (writer === undefined) return undefined;
    if (partial !== undefined) return nextPiece(writer, partial);
    const message = sends.shift();
    if (message === undefined) return undefined;
    const { id, bytes } = message;
    const first = Uint8Array.of(id === 0 ? 0x80 : id);
    if (bytes.length <= PIECE_BYTES) return writer.write(concatBytes(first, bytes));
    partial = { bytes, written: 0 };
    return concatBytes(writer.begin(1 + bytes.length), writer.add(first), nextPiece(writer, partial));
  }

  function nextPiece({ add, end }: FrameWriter, { bytes, written }: PartialFrame): Uint8Array {
    const until = written + PIECE_BYTES;
    const piece = add(bytes.subarray(written, until));
    partial = until < bytes.length ? { bytes, written: until } : undefined;
    return partial === undefined ? concatBytes(piece, end()) : piece;
  }

  function sendHello(): void {
    if (isHelloSent) return;
    isHelloSent = true;
    queueBase(HELLO, encodeHello(settings.hello));
  }

  /** Reads one packet or frame; true when another may follow. */
  function step(): boolean {
    switch (stage.kind) {
      case "auth":
        return settings.remoteId === undefined && readAuth();
      case "ack":
        return readAck(stage.initiator);
      case "hello":
        if (queue.length === 0) return false;
        sendHello();
        return readFrame(stage.reader, MAX_HELLO_BYTES, receiveHello);
      case "open":
        return readFrame(stage.reader, MAX_PAYLOAD_BYTES + 1, receiveMessage);
      case "stopped":
        queue.clear();
        return false;
    }
  }

  function readAuth(): boolean {
    const packet = takeHandshakePacket(queue, "auth");
    if (!packet.ok) return fail("breachOfProtocol", packet.error.message);
    if (packet.value === undefined) return false;
    const answer = answerAuth(own, packet.value);
    if (!answer.ok) return fail("breachOfProtocol", answer.error.message);
    remoteId = answer.value.remoteId;
    events.write(answer.value.ack);
    setUpFrames(answer.value.secrets);
    return true;
  }

  function readAck(initiator: Initiator): boolean {
    const packet = takeHandshakePacket(queue, "ack");
    if (!packet.ok) return fail("breachOfProtocol", packet.error.message);
    if (packet.value === undefined) return false;
    const secrets = initiator.readAck(packet.value);
    if (!secrets.ok) return fail("breachOfProtocol", secrets.error.message);
    setUpFrames(secrets.value);
    sendHello();
    return true;
  }

  function readFrame(
    reader: FrameReader,
    maxBytes: number,
    act: (id: number, payload: Uint8Array) => boolean,
  ): boolean {
    const read = reader.read(queue, maxBytes);
    if (!read.ok) return fail("breachOfProtocol", read.error.message);
    if (read.value === undefined) return false;
    isProven = true;
    messagesRead++;
    const message = splitMessage(read.value);
    if (message === undefined) return fail("breachOfProtocol", "a frame has no message id");
    if (message.id < FIRST_PROTOCOL_ID) events.base?.("inbound", message.id);
    return act(message.id, message.payload);
  }

  /** The first message of the remote end. */
  function receiveHello(id: number, payload: Uint8Array): boolean {
    if (id === DISCONNECT) return receiveDisconnect(payload);
    if (id !== HELLO) return fail("breachOfProtocol", `message ${id} came before Hello`);
    const hello = decodeHello(payload);
    if (!hello.ok) return fail("breachOfProtocol", `its Hello is malformed: ${hello.error.message}`);
    isHelloReceived = true;
    isCompressed = hello.value.p2pVersion >= FIRST_COMPRESSED_VERSION;
    if (remoteId === undefined || Buffer.compare(remoteId, hello.value.nodeId) !== 0) {
      return fail("unexpectedIdentity", "its Hello names another node id than the one it proved");
    }
    if (stage.kind !== "hello") return false;
    stage = { kind: "open", reader: stage.reader };
    events.opened(hello.value);
    return true;
  }

  function receiveMessage(id: number, sent: Uint8Array): boolean {
    const read = isCompressed ? uncompressSnappy(sent, MAX_PAYLOAD_BYTES) : ok(sent);
    // Some clients send Disconnect uncompressed.
    if (id === DISCONNECT) return receiveDisconnect(read.ok ? read.value : sent);
    if (!read.ok) return fail("breachOfProtocol", `bad snappy: ${read.error.message}`);
    if (id === PING && stage.kind === "open") queueBase(PONG, EMPTY_LIST);
    else if (id === PONG) events.ponged();
    else if (id >= FIRST_PROTOCOL_ID) events.message(id, read.value);
    return true;
  }

  function receiveDisconnect(payload: Uint8Array): false {
    stop();
    events.disconnected(decodeDisconnect(payload));
    return false;
  }

  return {
    start() {
      if (settings.remoteId === undefined) return;
      const initiator = createInitiator(own, settings.remoteId);
      if (!initiator.ok) {
        fail("unexpectedIdentity", `its node id is no public key: ${initiator.error.message}`);
        return;
      }
      stage = { kind: "ack", initiator: initiator.value };
      events.write(initiator.value.auth);
    },
    receive(chunk) {
      if (stage.kind === "stopped") return;
      queue.append(chunk);
      while (step()) {}
    },
    send: (id, payload, priority = "ordinary") =>
      stage.kind === "open" && queueMessage(id, payload, priority),
    ping() {
      if (stage.kind === "open") queueBase(PING, EMPTY_LIST);
    },
    next,
    disconnect(reason) {
      const canSpeak = stage.kind === "hello" || stage.kind === "open";
      // A peer that has read this node's Hello expects compression, unless its own says otherwise.
      if (stage.kind === "hello" && isHelloSent && !isHelloReceived) isCompressed = true;
      stopReading();
      sends.dropWaiting();
      if (canSpeak) queueBase(DISCONNECT, encodeDisconnect(reason));
      return canSpeak;
    },
    stop,
    get hasNext() {
      return partial !== undefined || !sends.isEmpty;
    },
    get unreadBytes() {
      return queue.length === 0 ? 0 : queue.capacity;
    },
    get messagesRead() {
      return messagesRead;
    },
    get provenId() {
      return isProven ? remoteId : undefined;
    },
  };
}

export function ownHello(hello: Omit<Hello, "p2pVersion">): Hello {
  return { p2pVersion: P2P_VERSION, ...hello };
}

/** The id is an RLP integer: one byte, or two from 0x80 on, which no client uses. */
function splitMessage(body: Uint8Array): { id: number; payload: Uint8Array } | undefined {
  const [first, second] = body;
  if (first === undefined) return undefined;
  if (first <= 0x80) return { id: first === 0x80 ? 0 : first, payload: body.subarray(1) };
  const isLong = first === 0x81 && second !== undefined && second >= 0x80;
  return isLong ? { id: second, payload: body.subarray(2) } : undefined;
}
