import { createCipheriv, createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { ECIES } from "@ethereumjs/devp2p";
import { messageOf } from "../../primitives/errorMessage.ts";
import { createRunningKeccak, keccak256, type RunningKeccak } from "../../primitives/hash.ts";
import { concatBytes } from "../../primitives/hex.ts";
import { type Outcome, ok, rejected } from "../../primitives/outcome.ts";
import { curve } from "../../primitives/secp256k1.ts";
import { MAX_HANDSHAKE_BYTES } from "../limits.ts";
import type { ByteQueue } from "./byteQueue.ts";
import type { FrameSecrets } from "./frames.ts";

/**
 * The first two packets of a connection (p2p.md §1), after which both ends hold the same secrets:
 *
 *     initiator ── auth: signature, public key, nonce ──> responder
 *     initiator <── ack: one-time public key, nonce ───── responder
 *
 * Making, signing and parsing them is the wire library's work. Sealing and opening them is ours, on the native curve:
 * whoever can reach the port can ask for it, and the library takes milliseconds to find out that a packet is junk. The
 * frames that follow are ours too (frames.ts), so the library's own are never set up.
 */
export interface OwnIdentity {
  readonly privateKey: Uint8Array;
  /** 64 bytes. */
  readonly nodeId: Uint8Array;
  /** What is otherwise drawn at random: given to repeat a recorded handshake. */
  readonly drawn?: { readonly ephemeralKey: Uint8Array; readonly nonce: Uint8Array };
}

export interface Initiator {
  /** The first packet, to be written at once and in one piece. */
  readonly auth: Uint8Array;
  readAck(packet: HandshakePacket): Outcome<FrameSecrets, "badHandshake">;
}

export function createInitiator(own: OwnIdentity, remoteId: Uint8Array): Outcome<Initiator, "badHandshake"> {
  return attempt(() => {
    const exchange = new Exchange(own, remoteId);
    const auth = exchange.createAuthEIP8();
    if (auth === undefined) throw new Error("no auth packet was made");
    return { auth, readAck: (packet) => attempt(() => exchange.acceptAck(packet)) };
  });
}

export interface Answer {
  /** The answer, to be written in one piece; in the format of the question. */
  readonly ack: Uint8Array;
  readonly secrets: FrameSecrets;
  /** Who asks: only the holder of this key can have written the packet. 64 bytes. */
  readonly remoteId: Uint8Array;
}

export function answerAuth(own: OwnIdentity, packet: HandshakePacket): Outcome<Answer, "badHandshake"> {
  return attempt(() => new Exchange(own, NOBODY).acceptAuth(packet));
}

export interface HandshakePacket {
  readonly bytes: Uint8Array;
  /** True for the format before EIP-8, which has no size in front. */
  readonly isOld: boolean;
}

const OLD_LENGTHS = { auth: 307, ack: 210 } as const;
/** 65 bytes of public key, 16 of IV, 32 of MAC. */
const SMALLEST_SIZE = 113;

/**
 * The whole packet once it arrived, undefined until then. The first byte tells the formats apart: the old one begins
 * with 04, which as a size would be 1,024 and more. Refused from the first two bytes on when neither fits.
 */
export function takeHandshakePacket(
  queue: ByteQueue,
  kind: "auth" | "ack",
): Outcome<HandshakePacket | undefined, "badHandshake"> {
  const first = queue.peek(0);
  const second = queue.peek(1);
  if (first === undefined || second === undefined) return ok(undefined);
  const isOld = first === 0x04;
  const size = first * 256 + second;
  const length = isOld ? OLD_LENGTHS[kind] : size + 2;
  if (!isOld && (size < SMALLEST_SIZE || length > MAX_HANDSHAKE_BYTES)) {
    return bad(`no ${kind} packet begins with a size of ${size} bytes`);
  }
  if (queue.length < length) return ok(undefined);
  return ok({ bytes: queue.take(length).slice(), isOld });
}

export interface AgreedSecrets {
  readonly aesSecret: Uint8Array;
  readonly macSecret: Uint8Array;
}

/** From the secret of both one-time keys and both nonces. */
export function deriveSecrets(exchange: {
  readonly ephemeralSecret: Uint8Array;
  readonly initiatorNonce: Uint8Array;
  readonly responderNonce: Uint8Array;
}): AgreedSecrets {
  const { ephemeralSecret, initiatorNonce, responderNonce } = exchange;
  const nonces = keccak256(concatBytes(responderNonce, initiatorNonce));
  const shared = keccak256(concatBytes(ephemeralSecret, nonces));
  const aesSecret = keccak256(concatBytes(ephemeralSecret, shared));
  return { aesSecret, macSecret: keccak256(concatBytes(ephemeralSecret, aesSecret)) };
}

/** The MAC state of the packet's direction at its start: seeded with the reader's nonce and the packet itself. */
export function seedMac(macSecret: Uint8Array, readersNonce: Uint8Array, packet: Uint8Array): RunningKeccak {
  const mac = createRunningKeccak();
  mac.update(macSecret.map((byte, index) => byte ^ (readersNonce[index] ?? 0)));
  mac.update(packet);
  return mac;
}

/** The library wants some remote key from the start; the responder's is replaced by the one that the auth packet names. */
const NOBODY = new Uint8Array(64);

/** One handshake of the library, whose keys and nonces are reached as its subclasses may; used for one packet each way. */
class Exchange extends ECIES {
  constructor({ privateKey, nodeId, drawn }: OwnIdentity, remoteId: Uint8Array) {
    super(privateKey, nodeId, remoteId);
    // Both are native or WASM; the library's own are twenty times slower.
    this._keccakFunction = keccak256;
    this._ecdsaRecover = recoverUncompressed;
    if (drawn === undefined) return;
    this._nonce = drawn.nonce;
    this._ephemeralPrivateKey = drawn.ephemeralKey;
    this._ephemeralPublicKey = concatBytes(UNCOMPRESSED, curve.publicKey(drawn.ephemeralKey));
  }

  acceptAuth({ bytes, isOld }: HandshakePacket): Answer {
    this._gotEIP8Auth = !isOld;
    if (isOld) this.parseAuthPlain(bytes);
    else this.parseAuthEIP8(bytes);
    const ack = isOld ? this.createAckOld() : this.createAckEIP8();
    if (ack === undefined || this._remotePublicKey?.length !== 65) throw new Error("no ack packet was made");
    const remoteId = this._remotePublicKey.slice(1);
    return { ack, remoteId, secrets: this.secrets({ sent: ack, received: bytes, isInitiator: false }) };
  }

  acceptAck({ bytes, isOld }: HandshakePacket): FrameSecrets {
    this._gotEIP8Ack = !isOld;
    if (isOld) this.parseAckPlain(bytes);
    else this.parseAckEIP8(bytes);
    if (!this._initMsg) throw new Error("an ack packet came before the auth packet went");
    return this.secrets({ sent: this._initMsg, received: bytes, isInitiator: true });
  }

  private secrets(packets: { sent: Uint8Array; received: Uint8Array; isInitiator: boolean }): FrameSecrets {
    const { _nonce: ownNonce, _remoteNonce: remoteNonce, _ephemeralSharedSecret: ephemeralSecret } = this;
    // The library takes whatever stands where the nonce belongs.
    if (remoteNonce?.length !== 32 || !ephemeralSecret) throw new Error("the nonce has not 32 bytes");
    const [initiatorNonce, responderNonce] = packets.isInitiator
      ? [ownNonce, remoteNonce]
      : [remoteNonce, ownNonce];
    const agreed = deriveSecrets({ ephemeralSecret, initiatorNonce, responderNonce });
    return {
      ...agreed,
      egressMac: seedMac(agreed.macSecret, remoteNonce, packets.sent),
      ingressMac: seedMac(agreed.macSecret, ownNonce, packets.received),
    };
  }

  /** ECIES (p2p.md §1): one-time public key, IV, what was encrypted, MAC over the last two and the size in front. */
  override _encryptMessage(plain: Uint8Array, size: Uint8Array | null = null): Uint8Array {
    const oneTimeKey = drawKey();
    const keys = deriveEciesKeys(this._remotePublicKey ?? NOBODY, oneTimeKey);
    const iv = randomBytes(16);
    const sealed = concatBytes(iv, createCipheriv("aes-128-ctr", keys.cipher, iv).update(plain));
    return concatBytes(UNCOMPRESSED, curve.publicKey(oneTimeKey), sealed, macOf(keys.mac, sealed, size));
  }

  override _decryptMessage(packet: Uint8Array, size: Uint8Array | null = null): Uint8Array {
    if (packet.length < SMALLEST_SIZE) throw new Error("the packet is too short");
    const keys = deriveEciesKeys(packet.subarray(0, 65), this._privateKey);
    const sealed = packet.subarray(65, -32);
    if (!timingSafeEqual(macOf(keys.mac, sealed, size), packet.subarray(-32))) {
      throw new Error("the packet's MAC is wrong");
    }
    const decipher = createCipheriv("aes-128-ctr", keys.cipher, sealed.subarray(0, 16));
    return new Uint8Array(decipher.update(sealed.subarray(16)));
  }

  /** Instead of the library's frames, which clone a slow hash four times for each. */
  override _setupFrame(): void {}
}

const UNCOMPRESSED = Uint8Array.of(0x04);

function drawKey(): Uint8Array {
  for (;;) {
    const bytes = randomBytes(32);
    if (curve.isPrivateKey(bytes)) return bytes;
  }
}

/** The concatenation KDF with SHA-256 over the shared secret; its second half is hashed once more for the MAC. */
function deriveEciesKeys(
  publicKey: Uint8Array,
  privateKey: Uint8Array,
): { cipher: Uint8Array; mac: Uint8Array } {
  const secret = publicKey[0] === 0x04 ? curve.sharedSecret(publicKey.subarray(1), privateKey) : undefined;
  if (secret === undefined) throw new Error("the packet's public key is not on the curve");
  const derived = createHash("sha256")
    .update(Uint8Array.of(0, 0, 0, 1))
    .update(secret)
    .digest();
  const mac = createHash("sha256").update(derived.subarray(16)).digest();
  return { cipher: derived.subarray(0, 16), mac };
}

/** The old format has no size to cover. */
function macOf(key: Uint8Array, sealed: Uint8Array, size: Uint8Array | null): Uint8Array {
  return createHmac("sha256", key)
    .update(sealed)
    .update(size ?? new Uint8Array(0))
    .digest();
}

function recoverUncompressed(signature: Uint8Array, recovery: number, digest: Uint8Array): Uint8Array {
  const publicKey = curve.recover(digest, signature, recovery);
  if (publicKey === undefined) throw new Error("the signature fits no key");
  return concatBytes(UNCOMPRESSED, publicKey);
}

/** The library refuses packets by throwing. */
function attempt<T>(work: () => T): Outcome<T, "badHandshake"> {
  try {
    return ok(work());
  } catch (error) {
    return bad(messageOf(error));
  }
}

function bad(message: string): Outcome<never, "badHandshake"> {
  return rejected({ code: "badHandshake", fault: "peer", message: message.slice(0, 200) });
}
