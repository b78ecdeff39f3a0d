import { toKey } from "../../primitives/byteKey.ts";
import { type Hash, keccak256 } from "../../primitives/hash.ts";
import { concatBytes } from "../../primitives/hex.ts";

/** The last so many messages, or other things known by a key; the oldest is forgotten first. */
export interface SeenMessages {
  /** True the first time, and again once it is forgotten. */
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
 * What a message is known by: its code and its bytes. The incumbent leaves the code out
 * (ibft2.md#relay-and-buffers), so that whoever is quick enough can have it ignore a message by sending the
 * same bytes under another code.
 */
export function keyOfMessage(code: number, payload: Uint8Array): string {
  const hash: Hash = keccak256(concatBytes(Uint8Array.of(code), payload));
  return toKey(hash);
}
