import { createCipheriv, createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { concatBytes, EMPTY_BYTES } from "../../primitives/hex.ts";
import { curve } from "../../primitives/secp256k1.ts";

/**
 * ECIES as RLPx uses it (p2p.md#rlpx-handshake), only in native code, since anyone who reaches the port can trigger it. A
 * message sealed for a public key reads
 *
 *     04 || one-time public key (64) || IV (16) || AES-128-CTR of the text || HMAC-SHA256 (32)
 *
 * The MAC covers IV and text, and the data in front of the packet (`prefix`: its size, since EIP-8).
 */
export const SEAL_BYTES = 65 + 16 + 32;

/** Seals `plain` for the owner of a node id of 64 bytes. Throws when the id is not a point of the curve. */
export function seal(plain: Uint8Array, nodeId: Uint8Array, prefix = EMPTY_BYTES): Uint8Array {
  const oneTimeKey = drawKey();
  const keys = deriveKeys(sharedSecretOf(nodeId, oneTimeKey));
  const iv = randomBytes(16);
  const sealed = concatBytes(iv, createCipheriv("aes-128-ctr", keys.cipher, iv).update(plain));
  return concatBytes(UNCOMPRESSED, curve.publicKey(oneTimeKey), sealed, macOf(keys.mac, sealed, prefix));
}

/** Opens a packet sealed for the owner of `privateKey`. Throws when it was not, or was changed. */
export function openSealed(packet: Uint8Array, privateKey: Uint8Array, prefix = EMPTY_BYTES): Uint8Array {
  if (packet.length < SEAL_BYTES) throw new Error("the packet is too short");
  if (packet[0] !== UNCOMPRESSED[0]) throw new Error(NO_POINT);
  const keys = deriveKeys(sharedSecretOf(packet.subarray(1, 65), privateKey));
  const sealed = packet.subarray(65, -32);
  if (!timingSafeEqual(macOf(keys.mac, sealed, prefix), packet.subarray(-32)))
    throw new Error("the packet's MAC is wrong");
  const decipher = createCipheriv("aes-128-ctr", keys.cipher, sealed.subarray(0, 16));
  return new Uint8Array(decipher.update(sealed.subarray(16)));
}

/** ECDH: x of the shared point. Throws when the public key (64 bytes) is not a point of the curve. */
export function sharedSecretOf(publicKey: Uint8Array, privateKey: Uint8Array): Uint8Array {
  const secret = curve.sharedSecret(publicKey, privateKey);
  if (secret === undefined) throw new Error(NO_POINT);
  return secret;
}

/** An ephemeral private key. */
export function drawKey(): Uint8Array {
  for (;;) {
    const bytes = randomBytes(32);
    if (curve.isPrivateKey(bytes)) return bytes;
  }
}

const UNCOMPRESSED = Uint8Array.of(0x04);
const NO_POINT = "the packet's public key is not on the curve";

/** The concatenation KDF with SHA-256 over the shared secret; its second half is hashed once more for the MAC. */
function deriveKeys(secret: Uint8Array): { readonly cipher: Uint8Array; readonly mac: Uint8Array } {
  const derived = createHash("sha256")
    .update(Uint8Array.of(0, 0, 0, 1))
    .update(secret)
    .digest();
  const mac = createHash("sha256").update(derived.subarray(16)).digest();
  return { cipher: derived.subarray(0, 16), mac };
}

function macOf(key: Uint8Array, sealed: Uint8Array, prefix: Uint8Array): Uint8Array {
  return createHmac("sha256", key).update(sealed).update(prefix).digest();
}
