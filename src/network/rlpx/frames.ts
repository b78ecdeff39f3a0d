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
export class FrameWriter {
  private readonly cipher: Cipher;
  private readonly tags: Tags;
  private paddingLength = 0;

  constructor({ aesSecret, macSecret, egressMac }: FrameSecrets) {
    this.cipher = createCipheriv("aes-256-ctr", aesSecret, ZERO_IV);
    this.tags = new Tags(macSecret, egressMac);
  }

  /** Encodes the frame in one piece, so that it is one write. At most 2^24 - 1 bytes. */
  write(body: Uint8Array): Uint8Array {
    return concatBytes(this.begin(body.length), this.add(body), this.end());
  }

  /** Begins a frame that is written in pieces; nothing else may be written before its end. */
  begin(bodyLength: number): Uint8Array {
    const header = new Uint8Array(16);
    header.set([bodyLength >> 16, (bodyLength >> 8) & 0xff, bodyLength & 0xff, 0xc2, 0x80, 0x80]);
    const encrypted = this.cipher.update(header);
    this.paddingLength = padded(bodyLength) - bodyLength;
    return concatBytes(encrypted, this.tags.ofHeader(encrypted));
  }

  /** Encrypts the next bytes of its body. */
  add(part: Uint8Array): Uint8Array {
    const encrypted = this.cipher.update(part);
    this.tags.addBody(encrypted);
    return encrypted;
  }

  /** Ends the frame, after all of its body was added. */
  end(): Uint8Array {
    const padding = this.add(new Uint8Array(this.paddingLength));
    return concatBytes(padding, this.tags.ofBody());
  }
}

export class FrameReader {
  private readonly cipher: Cipher;
  private readonly tags: Tags;
  /** Body length of the frame whose header was read. */
  private bodyLength: number | undefined;
  /** Bytes of the body already added to the MAC: hashing a long body only at the end would take 0.1 s. */
  private added = 0;

  constructor({ aesSecret, macSecret, ingressMac }: FrameSecrets) {
    this.cipher = createCipheriv("aes-256-ctr", aesSecret, ZERO_IV);
    this.tags = new Tags(macSecret, ingressMac);
  }

  /**
   * The next frame's body, undefined until all of it has arrived. Fails when a MAC is wrong or the frame is longer than
   * `maxBytes`, which is known before its body arrives.
   */
  read(queue: ByteQueue, maxBytes: number): Result<Uint8Array | undefined, "badFrame"> {
    if (this.bodyLength === undefined) {
      if (queue.length < 32) return ok(undefined);
      const header = queue.take(16);
      const tag = this.tags.ofHeader(header);
      const [high = 0, middle = 0, low = 0] = this.cipher.update(header);
      if (!timingSafeEqual(tag, queue.take(16)))
        return fail("peer", "badFrame", "the MAC of a frame's header is wrong");
      this.bodyLength = high * 65_536 + middle * 256 + low;
      if (this.bodyLength > maxBytes)
        return fail("peer", "badFrame", `a frame of ${this.bodyLength} bytes is longer than ${maxBytes}`);
    }
    const paddedLength = padded(this.bodyLength);
    const arrived = Math.min(queue.length, paddedLength);
    if (arrived > this.added) this.tags.addBody(queue.view(this.added, arrived - this.added));
    this.added = arrived;
    if (queue.length < paddedLength + 16) {
      queue.expect(paddedLength + 16);
      return ok(undefined);
    }
    const encrypted = queue.take(paddedLength);
    const tag = this.tags.ofBody();
    const body = this.cipher.update(encrypted).subarray(0, this.bodyLength);
    this.bodyLength = undefined;
    this.added = 0;
    return timingSafeEqual(tag, queue.take(16))
      ? ok(body)
      : fail("peer", "badFrame", "the MAC of a frame's body is wrong");
  }
}

const ZERO_IV = new Uint8Array(16);

function padded(length: number): number {
  return Math.ceil(length / 16) * 16;
}

/** The MACs of one direction: 16 bytes each, from a keccak state that absorbs every header and body. */
class Tags {
  private readonly blockCipher: Cipher;
  private readonly mac: RunningKeccak;

  constructor(macSecret: Uint8Array, mac: RunningKeccak) {
    this.blockCipher = createCipheriv("aes-256-ecb", macSecret, null);
    this.mac = mac;
  }

  ofHeader(encrypted: Uint8Array): Uint8Array {
    return this.absorb(encrypted, this.current());
  }

  /** Absorbs the next bytes of an encrypted body. */
  addBody(encrypted: Uint8Array): void {
    this.mac.update(encrypted);
  }

  /** The body's MAC, after all of the body was added. */
  ofBody(): Uint8Array {
    const digest = this.current();
    return this.absorb(digest, digest);
  }

  private absorb(seed: Uint8Array, digest: Uint8Array): Uint8Array {
    const mixed = this.blockCipher.update(digest);
    for (let index = 0; index < 16; index++) mixed[index] = (mixed[index] ?? 0) ^ (seed[index] ?? 0);
    this.mac.update(mixed);
    return this.current();
  }

  private current(): Uint8Array {
    return this.mac.digest().subarray(0, 16);
  }
}
