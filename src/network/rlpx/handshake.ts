import { randomBytes, randomInt } from "node:crypto";
import { messageOf } from "../../primitives/errorMessage.ts";
import { createRunningKeccak, keccak256, type RunningKeccak } from "../../primitives/hash.ts";
import { concatBytes, equalBytes } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { encodeRlpList, encodeRlpString, readLeadingRlpList } from "../../primitives/rlp.ts";
import { curve } from "../../primitives/secp256k1.ts";
import { MAX_HANDSHAKE_BYTES } from "../limits.ts";
import type { ByteQueue } from "./byteQueue.ts";
import { drawKey, openSealed, SEAL_BYTES, seal, sharedSecretOf } from "./ecies.ts";
import type { FrameSecrets } from "./frames.ts";

/**
 * The first two packets of a connection (p2p.md#rlpx-handshake), after which both ends hold the same secrets:
 *
 *     initiator ── auth: signature, public key, nonce ──> responder
 *     initiator <── ack: one-time public key, nonce ───── responder
 *
 * Both are sealed for the reader (ecies.ts). There are two formats: EIP-8, an RLP list with the size in front, padding
 * behind and room for further members; and the one before it, of a fixed size. An ack has the format of its auth.
 */
export interface OwnIdentity {
  readonly privateKey: Uint8Array;
  /** 64 bytes. */
  readonly nodeId: Uint8Array;
  /** Replacement for the random values, to repeat a recorded handshake. */
  readonly drawn?: Drawn;
}

interface Drawn {
  readonly ephemeralKey: Uint8Array;
  readonly nonce: Uint8Array;
}

export interface Initiator {
  /** The auth packet, to be written at once and in one piece. */
  readonly auth: Uint8Array;
  readAck(packet: HandshakePacket): Result<FrameSecrets, "badHandshake">;
}

export function createInitiator(own: OwnIdentity, remoteId: Uint8Array): Result<Initiator, "badHandshake"> {
  return attempt(() => {
    const drawn = own.drawn ?? draw();
    const auth = sealSized(encodeAuth(own, drawn, remoteId), remoteId);
    return { auth, readAck: (packet) => attempt(() => acceptAck(own, { drawn, auth, packet })) };
  });
}

interface Answer {
  /** The ack packet, to be written in one piece; in the format of the auth packet. */
  readonly ack: Uint8Array;
  readonly secrets: FrameSecrets;
  /** Node id of the initiator: only the holder of its key can have written the packet. 64 bytes. */
  readonly remoteId: Uint8Array;
}

export function answerAuth(own: OwnIdentity, packet: HandshakePacket): Result<Answer, "badHandshake"> {
  return attempt(() => acceptAuth(own, own.drawn ?? draw(), packet));
}

export interface HandshakePacket {
  readonly bytes: Uint8Array;
  /** True for the format before EIP-8, which has no size in front. */
  readonly isOld: boolean;
}

const OLD_LENGTHS = { auth: 307, ack: 210 } as const;

/**
 * Takes a complete packet; undefined until it has arrived. The first byte distinguishes the formats: the old one begins with
 * 04, which as a size would be 1,024 or more. Fails after the first two bytes when neither fits.
 */
export function takeHandshakePacket(
  queue: ByteQueue,
  kind: "auth" | "ack",
): Result<HandshakePacket | undefined, "badHandshake"> {
  const first = queue.peek(0);
  const second = queue.peek(1);
  if (first === undefined || second === undefined) return ok(undefined);
  const isOld = first === 0x04;
  const size = first * 256 + second;
  const length = isOld ? OLD_LENGTHS[kind] : size + 2;
  if (!isOld && (size < SEAL_BYTES || length > MAX_HANDSHAKE_BYTES)) {
    return bad(`no ${kind} packet begins with a size of ${size} bytes`);
  }
  if (queue.length < length) return ok(undefined);
  return ok({ bytes: queue.take(length).slice(), isOld });
}

interface AgreedSecrets {
  readonly aesSecret: Uint8Array;
  readonly macSecret: Uint8Array;
}

/** Derives the secrets from the ECDH secret of both ephemeral keys and from both nonces. */
function deriveSecrets(exchange: {
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

/** The initial MAC state of the packet's direction: seeded with the reader's nonce and the packet itself. */
export function seedMac(macSecret: Uint8Array, readersNonce: Uint8Array, packet: Uint8Array): RunningKeccak {
  const mac = createRunningKeccak();
  mac.update(macSecret.map((byte, index) => byte ^ (readersNonce[index] ?? 0)));
  mac.update(packet);
  return mac;
}

function acceptAuth(own: OwnIdentity, drawn: Drawn, packet: HandshakePacket): Answer {
  const auth = packet.isOld ? readOldAuth(openOld(packet, own)) : readAuth(openSized(packet, own));
  const { signature, remoteId, nonce, ephemeralHash } = auth;
  const signed = xor(sharedSecretOf(remoteId, own.privateKey), nonce);
  const remoteEphemeral = curve.recover(signed, signature.subarray(0, 64), signature[64] ?? 0);
  if (remoteEphemeral === undefined) throw new Error("the signature recovers no key");
  if (ephemeralHash !== undefined && !equalBytes(keccak256(remoteEphemeral), ephemeralHash))
    throw new Error("the hash of the ephemeral key is not that of the signer");
  const ack = packet.isOld
    ? seal(concatBytes(curve.publicKey(drawn.ephemeralKey), drawn.nonce, OLD_ACK_END), remoteId)
    : sealSized(encodeAck(drawn), remoteId);
  const agreed = deriveSecrets({
    ephemeralSecret: sharedSecretOf(remoteEphemeral, drawn.ephemeralKey),
    initiatorNonce: nonce,
    responderNonce: drawn.nonce,
  });
  return {
    ack,
    remoteId,
    secrets: {
      ...agreed,
      egressMac: seedMac(agreed.macSecret, nonce, ack),
      ingressMac: seedMac(agreed.macSecret, drawn.nonce, packet.bytes),
    },
  };
}

function acceptAck(
  own: OwnIdentity,
  {
    drawn,
    auth,
    packet,
  }: { readonly drawn: Drawn; readonly auth: Uint8Array; readonly packet: HandshakePacket },
): FrameSecrets {
  const { ephemeralPublicKey, nonce } = packet.isOld
    ? readOldAck(openOld(packet, own))
    : readAck(openSized(packet, own));
  const agreed = deriveSecrets({
    ephemeralSecret: sharedSecretOf(ephemeralPublicKey, drawn.ephemeralKey),
    initiatorNonce: drawn.nonce,
    responderNonce: nonce,
  });
  return {
    ...agreed,
    egressMac: seedMac(agreed.macSecret, nonce, auth),
    ingressMac: seedMac(agreed.macSecret, drawn.nonce, packet.bytes),
  };
}

interface AuthMessage {
  /** r, s, recovery id: the ephemeral key's signature of the shared secret of both node keys XOR the nonce. */
  readonly signature: Uint8Array;
  readonly remoteId: Uint8Array;
  readonly nonce: Uint8Array;
  /** Hash of the ephemeral public key; in the old format only. */
  readonly ephemeralHash?: Uint8Array;
}

const SIGNATURE_BYTES = 65;
const NODE_ID_BYTES = 64;
const NONCE_BYTES = 32;
/** "No session to resume", the last byte of the old format. */
const OLD_ACK_END = Uint8Array.of(0);
/** The auth-vsn and ack-vsn of EIP-8, which readers ignore. */
const VERSION = Uint8Array.of(4);

function encodeAuth({ privateKey, nodeId }: OwnIdentity, drawn: Drawn, remoteId: Uint8Array): Uint8Array {
  const signed = xor(sharedSecretOf(remoteId, privateKey), drawn.nonce);
  const { rs, recovery } = curve.sign(signed, drawn.ephemeralKey);
  return encodeMembers([concatBytes(rs, Uint8Array.of(recovery)), nodeId, drawn.nonce, VERSION]);
}

function encodeAck({ ephemeralKey, nonce }: Drawn): Uint8Array {
  return encodeMembers([curve.publicKey(ephemeralKey), nonce, VERSION]);
}

function encodeMembers(members: readonly Uint8Array[]): Uint8Array {
  return encodeRlpList(members.map(encodeRlpString));
}

function readAuth(plain: Uint8Array): AuthMessage {
  const [signature, remoteId, nonce] = readMembers(plain, [SIGNATURE_BYTES, NODE_ID_BYTES, NONCE_BYTES]);
  return { signature, remoteId, nonce };
}

function readAck(plain: Uint8Array): { readonly ephemeralPublicKey: Uint8Array; readonly nonce: Uint8Array } {
  const [ephemeralPublicKey, nonce] = readMembers(plain, [NODE_ID_BYTES, NONCE_BYTES]);
  return { ephemeralPublicKey, nonce };
}

/** The first members of the leading list, which must be strings of these lengths. */
function readMembers<const T extends readonly number[]>(
  plain: Uint8Array,
  lengths: T,
): { [K in keyof T]: Uint8Array } {
  const spans = readLeadingRlpList(plain);
  return lengths.map((length, index) => {
    const span = spans[index];
    const bytes = span?.isList === false ? plain.subarray(span.from, span.until) : undefined;
    if (bytes?.length !== length)
      throw new Error(`member ${index} of the packet does not have ${length} bytes`);
    return bytes;
  }) as { [K in keyof T]: Uint8Array };
}

/** Signature, hash of the ephemeral key, node id, nonce, and an ignored byte. */
function readOldAuth(plain: Uint8Array): AuthMessage {
  if (plain.length !== 194) throw new Error("an auth packet in the old format has a wrong length");
  return {
    signature: plain.subarray(0, 65),
    ephemeralHash: plain.subarray(65, 97),
    remoteId: plain.subarray(97, 161),
    nonce: plain.subarray(161, 193),
  };
}

function readOldAck(plain: Uint8Array): ReturnType<typeof readAck> {
  if (plain.length !== 97 || plain[96] !== OLD_ACK_END[0])
    throw new Error("an ack packet in the old format has a wrong length or end");
  return { ephemeralPublicKey: plain.subarray(0, 64), nonce: plain.subarray(64, 96) };
}

/** Seals with the size in front, which the MAC covers. */
function sealSized(plain: Uint8Array, remoteId: Uint8Array): Uint8Array {
  const padding = randomBytes(randomInt(SMALLEST_PADDING, LARGEST_PADDING + 1));
  const length = plain.length + padding.length + SEAL_BYTES;
  const size = Uint8Array.of(length >> 8, length & 0xff);
  return concatBytes(size, seal(concatBytes(plain, padding), remoteId, size));
}

/** Least padding: it gives EIP-8 packets various sizes, all larger than the old ones. */
const SMALLEST_PADDING = 100;
const LARGEST_PADDING = 250;

function openSized({ bytes }: HandshakePacket, { privateKey }: OwnIdentity): Uint8Array {
  const [high = 0, low = 0] = bytes;
  if (high * 256 + low !== bytes.length - 2) throw new Error("the packet's size differs from its prefix");
  return openSealed(bytes.subarray(2), privateKey, bytes.subarray(0, 2));
}

function openOld({ bytes }: HandshakePacket, { privateKey }: OwnIdentity): Uint8Array {
  return openSealed(bytes, privateKey);
}

function draw(): Drawn {
  return { ephemeralKey: drawKey(), nonce: randomBytes(NONCE_BYTES) };
}

/** XOR of two values of 32 bytes. */
function xor(a: Uint8Array, b: Uint8Array): Uint8Array {
  return a.map((byte, index) => byte ^ (b[index] ?? 0));
}

/** Turns exceptions of cryptography and RLP into errors. */
function attempt<T>(work: () => T): Result<T, "badHandshake"> {
  try {
    return ok(work());
  } catch (error) {
    return bad(messageOf(error));
  }
}

function bad(message: string): Result<never, "badHandshake"> {
  return fail("peer", "badHandshake", message.slice(0, 200));
}
