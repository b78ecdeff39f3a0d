import { type Hash, keccak256 } from "../../primitives/hash.ts";
import { concatBytes } from "../../primitives/hex.ts";

/** The hash that eth_sign and personal_sign sign (EIP-191): no transaction can have it. */
export function hashPersonalMessage(message: Uint8Array): Hash {
  const prefix = Buffer.from(`\x19Ethereum Signed Message:\n${message.length}`);
  return keccak256(concatBytes(prefix, message));
}
