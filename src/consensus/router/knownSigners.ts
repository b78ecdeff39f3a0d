import type { KnownSigners } from "../../ibft/signedReader.ts";
import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";

/**
 * Signers of the last signatures of each validator: certificates repeat what their authors said before, and recovering a
 * signer takes some 45 µs. Each signer has room of its own, so that nobody's flood makes us forget what others said.
 */
export function createKnownSigners(): KnownSigners & { readonly size: number } {
  const signers = new Map<string, Address>();
  const keysOf = new Map<string, Set<string>>();
  return {
    find: (key) => signers.get(key),
    add(key, signer) {
      const name = toKey(signer);
      const keys = keysOf.get(name) ?? new Set();
      // One that has not been heard for longest makes room for one more.
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

/** An honest validator signs four things in a round. */
export const KNOWN_SIGNATURES_OF_SIGNER = 128;
/** More validators than any network has; some 400 bytes for each of their signatures. */
const KNOWN_SIGNERS = 256;
