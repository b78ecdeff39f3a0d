import { createHash } from "node:crypto";
import { toKey } from "../../primitives/byteKey.ts";
import { keccak256 } from "../../primitives/hash.ts";
import { concatBytes } from "../../primitives/hex.ts";

/** A bounded set of message keys that drops the oldest first. */
export class SeenMessages {
  private readonly limit: number;
  private readonly keys = new Set<string>();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** True when the key is new, or was dropped since. */
  add(key: string): boolean {
    if (this.keys.has(key)) return false;
    this.keys.add(key);
    for (const oldest of this.keys) {
      if (this.keys.size <= this.limit) break;
      this.keys.delete(oldest);
    }
    return true;
  }

  forget(key: string): void {
    void this.keys.delete(key);
  }

  get size(): number {
    return this.keys.size;
  }
}

/**
 * Key of a message: a hash of its code and bytes, which no other node sees. A long message is hashed with SHA-256, which has
 * hardware support, since a proposal may have megabytes and comes from every peer. Besu leaves the code out
 * (ibft2.md#relay-and-buffers), so a peer can make it ignore a message by sending the same bytes under another code first.
 */
export function keyOfMessage(code: number, payload: Uint8Array): string {
  if (payload.length < LONG_BYTES) return toKey(keccak256(concatBytes(Uint8Array.of(code), payload)));
  return toKey(createHash("sha256").update(Uint8Array.of(code)).update(payload).digest());
}

/** Length from which on SHA-256 takes less time, although its call takes more. */
const LONG_BYTES = 4 * 1024;
