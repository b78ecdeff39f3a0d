import { type Cipher, createCipheriv, timingSafeEqual } from "node:crypto";
import type { RunningKeccak } from "../../primitives/hash.ts";
import { concatBytes } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import type { ByteQueue } from "./byteQueue.ts";

/** The secrets of the handshake, from this end's view. The MAC states are seeded (p2p.md#rlpx-handshake). */
export interface FrameSecrets {
  /** 32 bytes each. */
  readonly aesSecret: Uint8Array;
  readonly macSecret: Uint8Array;
  readonly egressMac: RunningKeccak;
  readonly ingressMac: RunningKeccak;
}

/**
 * RLPx frames (p2p.md#frames): `size(3) c28080 0…` encrypted, its MAC, the body padded to 16 bytes and encrypted, its
 * MAC. One cipher stream and one MAC state per direction span the whole connection, so frames are written and read
 * strictly in order, and a connection is lost after the first wrong MAC.
 */
export interface FrameWriter {
  /** Encodes the frame in one piece, so that it is one write. At most 2^24 - 1 bytes. */
  write(body: Uint8Array): Uint8Array;
  /** Begins a frame that is written in pieces; nothing else may be written before its end. */
  begin(bodyLength: number): Uint8Array;
  /** Encrypts the next bytes of its body. */
  add(part: Uint8Array): Uint8Array;
  /** Ends the frame; all of the body was added. */
  end(): Uint8Array;
}

export function createFrameWriter({ aesSecret, macSecret, egressMac }: FrameSecrets): FrameWriter {
  const cipher = createCipheriv("aes-256-ctr", aesSecret, ZERO_IV);
  const tags = createTags(macSecret, egressMac);
  let paddingLength = 0;

  function begin(bodyLength: number): Uint8Array {
    const header = new Uint8Array(16);
    header.set([bodyLength >> 16, (bodyLength >> 8) & 0xff, bodyLength & 0xff, 0xc2, 0x80, 0x80]);
    const encrypted = cipher.update(header);
    paddingLength = padded(bodyLength) - bodyLength;
    return concatBytes(encrypted, tags.ofHeader(encrypted));
  }

  function add(part: Uint8Array): Uint8Array {
    const encrypted = cipher.update(part);
    tags.addBody(encrypted);
    return encrypted;
  }

  function end(): Uint8Array {
    const padding = add(new Uint8Array(paddingLength));
    return concatBytes(padding, tags.ofBody());
  }

  return {
    write: (body) => concatBytes(begin(body.length), add(body), end()),
    begin,
    add,
    end,
  };
}

export interface FrameReader {
  /**
   * The next frame's body, undefined until all of it has arrived. Fails when a MAC is wrong or the frame is longer than
   * `maxBytes`, which is known before its body arrives.
   */
  read(queue: ByteQueue, maxBytes: number): Result<Uint8Array | undefined, "badFrame">;
}

export function createFrameReader({ aesSecret, macSecret, ingressMac }: FrameSecrets): FrameReader {
  const cipher = createCipheriv("aes-256-ctr", aesSecret, ZERO_IV);
  const tags = createTags(macSecret, ingressMac);
  /** Length of the frame whose header was read. */
  let bodyLength: number | undefined;
  /** Bytes of the body already in the MAC: hashing a long body only at the end would take 0.1 s. */
  let added = 0;
  return {
    read(queue, maxBytes) {
      if (bodyLength === undefined) {
        if (queue.length < 32) return ok(undefined);
        const header = queue.take(16);
        const tag = tags.ofHeader(header);
        const [high = 0, middle = 0, low = 0] = cipher.update(header);
        if (!timingSafeEqual(tag, queue.take(16)))
          return fail("peer", "badFrame", "the MAC of a frame's header is wrong");
        bodyLength = high * 65_536 + middle * 256 + low;
        if (bodyLength > maxBytes)
          return fail("peer", "badFrame", `a frame of ${bodyLength} bytes is longer than ${maxBytes}`);
      }
      const paddedLength = padded(bodyLength);
      const arrived = Math.min(queue.length, paddedLength);
      if (arrived > added) tags.addBody(queue.view(added, arrived - added));
      added = arrived;
      if (queue.length < paddedLength + 16) {
        queue.expect(paddedLength + 16);
        return ok(undefined);
      }
      const encrypted = queue.take(paddedLength);
      const tag = tags.ofBody();
      const body = cipher.update(encrypted).subarray(0, bodyLength);
      bodyLength = undefined;
      added = 0;
      return timingSafeEqual(tag, queue.take(16))
        ? ok(body)
        : fail("peer", "badFrame", "the MAC of a frame's body is wrong");
    },
  };
}

const ZERO_IV = new Uint8Array(16);

function padded(length: number): number {
  return Math.ceil(length / 16) * 16;
}

/** The MACs of one direction: 16 bytes each, from a keccak state that absorbs every header and body. */
function createTags(
  macSecret: Uint8Array,
  mac: RunningKeccak,
): {
  ofHeader(encrypted: Uint8Array): Uint8Array;
  /** Absorbs the next bytes of an encrypted body. */
  addBody(encrypted: Uint8Array): void;
  /** The body's MAC; all of the body was added. */
  ofBody(): Uint8Array;
} {
  const blockCipher: Cipher = createCipheriv("aes-256-ecb", macSecret, null);
  const absorb = (seed: Uint8Array, digest: Uint8Array): Uint8Array => {
    const mixed = blockCipher.update(digest);
    for (let index = 0; index < 16; index++) mixed[index] = (mixed[index] ?? 0) ^ (seed[index] ?? 0);
    mac.update(mixed);
    return mac.digest().subarray(0, 16);
  };
  const current = (): Uint8Array => mac.digest().subarray(0, 16);
  return {
    ofHeader: (encrypted) => absorb(encrypted, current()),
    addBody: (encrypted) => mac.update(encrypted),
    ofBody() {
      const digest = current();
      return absorb(digest, digest);
    },
  };
}
