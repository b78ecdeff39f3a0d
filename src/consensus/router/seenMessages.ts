import { toKey } from "../../primitives/byteKey.ts";
import { type Hash, keccak256 } from "../../primitives/hash.ts";
import { concatBytes } from "../../primitives/hex.ts";

/** A bounded set of message keys that drops the oldest first. */
export interface SeenMessages {
  /** True when the key is new, or was dropped since. */
  add(key: string): boolean;
  forget(key: string): void;
  readonly size: number;
}

export function createSeenMessages(limit: number): SeenMessages {
  const keys = new Set<string>();
  return {
    add(key) {
      if (keys.has(key)) return false;
      keys.add(key);
      for (const oldest of keys) {
        if (keys.size <= limit) break;
        keys.delete(oldest);
      }
      return true;
    },
    forget: (key) => void keys.delete(key),
    get size() {
      return keys.size;
    },
  };
}

/**
 * Key of a message: the hash of its code and bytes. Besu leaves the code out (ibft2.md#relay-and-buffers), so a peer can
 * make it ignore a message by sending the same bytes under another code first.
 */
export function keyOfMessage(code: number, payload: Uint8Array): string {
  const hash: Hash = keccak256(concatBytes(Uint8Array.of(code), payload));
  return toKey(hash);
}
