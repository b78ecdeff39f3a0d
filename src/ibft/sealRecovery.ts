import type { Address } from "../primitives/address.ts";
import { recoverAddress, type Signature } from "../primitives/secp256k1.ts";
import type { Digest } from "../types/blockHash.ts";

/** Who made each commit seal over `digest`; undefined where a seal fits no key. Some 45 µs a seal, so kept apart. */
export function recoverSealers(
  digest: Digest,
  seals: readonly Signature[],
): readonly (Address | undefined)[] {
  return seals.map((seal) => recoverAddress(digest, seal));
}
