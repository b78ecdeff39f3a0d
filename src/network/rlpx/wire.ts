import { ok } from "../../primitives/result.ts";
import { MAX_HELLO_BYTES, MAX_PAYLOAD_BYTES } from "../limits.ts";
import { ByteQueue } from "./byteQueue.ts";
import { FIRST_PROTOCOL_ID } from "./capabilities.ts";
import { type DisconnectReason, decodeDisconnect, encodeDisconnect } from "./disconnectReason.ts";
import { FrameReader, FrameWriter } from "./frames.ts";
import type { OwnIdentity } from "./handshake.ts";
import { decodeHello, encodeHello, type Hello } from "./hello.ts";
import { answerExchange, initiateExchange, type KeyExchange } from "./keyExchange.ts";
import { DISCONNECT, EMPTY_LIST, HELLO, type Message, PING, PONG, splitMessage } from "./message.ts";
import type { MessagePriority } from "./messagePriority.ts";
import { MessageWriter } from "./messageWriter.ts";
import { SendQueue } from "./sendQueue.ts";
import { uncompressSnappy } from "./snappy.ts";

export interface WireEvents {
  /** Writes a packet of the handshake. */
  write(bytes: Uint8Array): void;
  /** Called when `next` has more to return. */
  queued(): void;
  /** Called when both Hellos were exchanged; the node id is the one that the handshake proved. */
  opened(hello: Hello): void;
  /** Called with a sub-protocol message, uncompressed; `id` is the connection's message id. */
  message(id: number, payload: Uint8Array): void;
  ponged(): void;
  /** Called when a message of the base protocol was received or sent. */
  base?(direction: "inbound" | "outbound", id: number): void;
  /** Called when the remote end sent Disconnect. */
  disconnected(reason: DisconnectReason): void;
  /** Called when the remote end broke the protocol, or is not the expected node. */
  broken(reason: DisconnectReason, detail: string): void;
}

/** First p2p version in which messages after Hello are compressed. */
const FIRST_COMPRESSED_VERSION = 5;

type Stage =
  | { readonly kind: "handshake"; readonly exchange: KeyExchange }
  | { readonly kind: "hello"; readonly reader: FrameReader }
  | { readonly kind: "open"; readonly reader: FrameReader; readonly isCompressed: boolean }
  | { readonly kind: "stopped" };

interface WireSettings {
  readonly own: OwnIdentity;
  readonly hello: Hello;
  /** The dialed node id; undefined for a responder. */
  readonly remoteId?: Uint8Array;
}

/**
 * One end of an RLPx connection as a state machine over bytes (p2p.md#rlpx-handshake), without socket or clock.
 *
 *     initiator:  auth ──> (ack) Hello ──> (Hello) open
 *     responder:  (auth) ack Hello ──> (Hello) open
 *
 * Invariants: each packet is one write, and so is each frame no longer than a piece; either end sends Hello as soon as it
 * has the keys, and nothing but Hello or Disconnect before the other's; nothing is read after `broken` or
 * `disconnected`. Bytes may arrive in any portions. The handshake is in keyExchange.ts; outgoing messages are queued
 * until `next` takes them (messageWriter.ts).
 */
export class Wire {
  /** Number of frames read so far. */
  messagesRead = 0;
  private readonly hello: Hello;
  private readonly events: WireEvents;
  private readonly queue = new ByteQueue();
  private readonly writer: MessageWriter;
  private remoteId: Uint8Array | undefined;
  private stage: Stage;
  private isProven = false;
  private isHeld = false;
  /** True once the peer's Hello was read. */
  private isHelloReceived = false;

  /** Creates an initiator when `remoteId` is given, else a responder. */
  constructor(
    { own, hello, remoteId }: WireSettings,
    events: WireEvents,
    sends: SendQueue = new SendQueue(),
  ) {
    this.hello = hello;
    this.events = events;
    this.writer = new MessageWriter(sends);
    this.remoteId = remoteId;
    const exchange = remoteId === undefined ? answerExchange(own) : initiateExchange(own, remoteId);
    this.stage = { kind: "handshake", exchange };
  }

  /** Whether there is something to write. */
  get hasNext(): boolean {
    return this.writer.hasNext;
  }

  /** Memory taken by an incomplete packet or frame; 0 when there is none. */
  get unreadBytes(): number {
    return this.queue.length === 0 ? 0 : this.queue.capacity;
  }

  /**
   * Node id whose key the remote end has proven. Only a frame proves it: a handshake may come from another node at a
   * wrong address, or be a replayed recording, and neither is the key owner's fault.
   */
  get provenId(): Uint8Array | undefined {
    return this.isProven ? this.remoteId : undefined;
  }

  /** Sends auth as the initiator; no effect for a responder. */
  start(): void {
    if (this.stage.kind !== "handshake") return;
    const packet = this.stage.exchange.start();
    if (!packet.ok) this.fail("unexpectedIdentity", `its node id is no public key: ${packet.error.message}`);
    else if (packet.value !== undefined) this.events.write(packet.value);
  }

  receive(chunk: Uint8Array): void {
    if (this.stage.kind === "stopped") return;
    this.queue.append(chunk);
    while (this.readNext()) {}
  }

  /** Keeps input unread until `resume`; a Hello and everything before it is read all the same. */
  hold(): void {
    this.isHeld = true;
  }

  resume(): void {
    this.isHeld = false;
    while (this.readNext()) {}
  }

  /** False when the message is too large, the connection is not open yet, or too much is queued. */
  send(id: number, payload: Uint8Array, priority: MessagePriority = "ordinary"): boolean {
    if (this.stage.kind !== "open" || !this.writer.send(id, payload, priority)) return false;
    this.events.queued();
    return true;
  }

  ping(): void {
    if (this.stage.kind === "open") this.sendBase(PING, EMPTY_LIST);
  }

  /** The next bytes to write, at most a piece and some 100 bytes; undefined when nothing is queued. */
  next(): Uint8Array | undefined {
    return this.writer.next();
  }

  /**
   * Queues Disconnect; nothing is read afterwards, and queued messages are dropped. False when the handshake is not far
   * enough to send it.
   */
  disconnect(reason: DisconnectReason): boolean {
    const { kind } = this.stage;
    const canSpeak = kind === "hello" || kind === "open";
    // A peer that has read this node's Hello expects compression, unless its own says otherwise.
    if (kind === "hello" && !this.isHelloReceived) this.writer.isCompressed = true;
    this.stopReading();
    this.writer.dropWaiting();
    if (canSpeak) this.sendBase(DISCONNECT, encodeDisconnect(reason));
    return canSpeak;
  }

  /** Stops reading and writing. */
  stop(): void {
    this.stopReading();
    this.writer.stop();
  }

  private stopReading(): void {
    this.stage = { kind: "stopped" };
    this.queue.clear();
  }

  /** Fails the wire; the error is reported while the Disconnect can still be sent, with the reason. */
  private fail(reason: DisconnectReason, detail: string): false {
    this.queue.clear();
    this.events.broken(reason, detail);
    this.stopReading();
    return false;
  }

  private sendBase(id: number, payload: Uint8Array): void {
    this.events.base?.("outbound", id);
    this.writer.sendBase(id, payload);
    this.events.queued();
  }

  /** Reads one packet or frame; true when another may follow. */
  private readNext(): boolean {
    const { stage } = this;
    switch (stage.kind) {
      case "handshake":
        return this.readHandshake(stage.exchange);
      case "hello": {
        const message = this.readMessage(stage.reader, MAX_HELLO_BYTES);
        return message !== undefined && this.receiveFirst(message, stage.reader);
      }
      case "open": {
        if (this.isHeld) return false;
        const message = this.readMessage(stage.reader, MAX_PAYLOAD_BYTES + 1);
        return message !== undefined && this.receiveMessage(message, stage.isCompressed);
      }
      case "stopped":
        this.queue.clear();
        return false;
    }
  }

  private readHandshake(exchange: KeyExchange): boolean {
    const read = exchange.read(this.queue);
    if (!read.ok) return this.fail("breachOfProtocol", read.error.message);
    if (read.value === undefined) return false;
    const { ack, remoteId, secrets } = read.value;
    this.remoteId = remoteId;
    if (ack !== undefined) this.events.write(ack);
    this.writer.start(new FrameWriter(secrets));
    this.stage = { kind: "hello", reader: new FrameReader(secrets) };
    this.sendBase(HELLO, encodeHello(this.hello));
    return true;
  }

  private readMessage(reader: FrameReader, maxBytes: number): Message | undefined {
    const read = reader.read(this.queue, maxBytes);
    if (!read.ok) this.fail("breachOfProtocol", read.error.message);
    if (!read.ok || read.value === undefined) return undefined;
    this.isProven = true;
    this.messagesRead++;
    const message = splitMessage(read.value);
    if (message === undefined) this.fail("breachOfProtocol", "a frame has no message id");
    else if (message.id < FIRST_PROTOCOL_ID) this.events.base?.("inbound", message.id);
    return message;
  }

  /** The first message of the remote end: Hello, or Disconnect. */
  private receiveFirst({ id, payload }: Message, reader: FrameReader): boolean {
    if (id === DISCONNECT) return this.receiveDisconnect(payload);
    if (id !== HELLO) return this.fail("breachOfProtocol", `message ${id} came before Hello`);
    const hello = decodeHello(payload);
    if (!hello.ok) return this.fail("breachOfProtocol", `its Hello is malformed: ${hello.error.message}`);
    this.isHelloReceived = true;
    const isCompressed = hello.value.p2pVersion >= FIRST_COMPRESSED_VERSION;
    this.writer.isCompressed = isCompressed;
    if (this.remoteId === undefined || Buffer.compare(this.remoteId, hello.value.nodeId) !== 0)
      return this.fail("unexpectedIdentity", "its Hello names another node id than the one it proved");
    // Reporting the message may have stopped the wire.
    if (this.stage.kind !== "hello") return false;
    this.stage = { kind: "open", reader, isCompressed };
    this.events.opened(hello.value);
    return true;
  }

  private receiveMessage({ id, payload }: Message, isCompressed: boolean): boolean {
    const read = isCompressed ? uncompressSnappy(payload, MAX_PAYLOAD_BYTES) : ok(payload);
    // Some clients send Disconnect uncompressed.
    if (id === DISCONNECT) return this.receiveDisconnect(read.ok ? read.value : payload);
    if (!read.ok) return this.fail("breachOfProtocol", `bad snappy: ${read.error.message}`);
    if (id === PING && this.stage.kind === "open") this.sendBase(PONG, EMPTY_LIST);
    else if (id === PONG) this.events.ponged();
    else if (id >= FIRST_PROTOCOL_ID) this.events.message(id, read.value);
    return true;
  }

  private receiveDisconnect(payload: Uint8Array): false {
    this.stop();
    this.events.disconnected(decodeDisconnect(payload));
    return false;
  }
}
