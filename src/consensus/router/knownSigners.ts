import type { KnownSigners } from "../../ibft/codec/signedReader.ts";
import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";

/**
 * Cache of recovered signers: certificates repeat signatures of earlier messages, and a recovery takes some 45 µs. Each
 * signer has its own bound, so that a flood of one signer cannot evict the entries of others.
 */
export function createKnownSigners(): KnownSigners & { readonly size: number } {
  const signers = new Map<string, Address>();
  const keysOf = new Map<string, Set<string>>();
  return {
    find: (key) => signers.get(key),
    add(key, signer) {
      const name = toKey(signer);
      const keys = keysOf.get(name) ?? new Set();
      // Keeps signers in order of last use, so that the least recently heard one is evicted.
      keysOf.delete(name);
      keysOf.set(name, keys);
      keys.add(key);
      signers.set(key, signer);
      for (const oldest of keys) {
        if (keys.size <= KNOWN_SIGNATURES_OF_SIGNER) break;
        keys.delete(oldest);
        signers.delete(oldest);
      }
      for (const [other, theirs] of keysOf) {
        if (keysOf.size <= KNOWN_SIGNERS) break;
        keysOf.delete(other);
        for (const one of theirs) signers.delete(one);
      }
    },
    get size() {
      return signers.size;
    },
  };
}

/** An honest validator signs four messages in a round. */
export const KNOWN_SIGNATURES_OF_SIGNER = 128;
/** Signers remembered: more validators than any network has; an entry takes some 400 bytes. */
const KNOWN_SIGNERS = 256;
