import { type Address, asAddress } from "../primitives/address.ts";
import { keccak256 } from "../primitives/hash.ts";
import { bigintToBytes } from "../primitives/quantity.ts";
import { encodeRlpList, encodeRlpString } from "../primitives/rlp.ts";

/** Address of the contract that an account creates with a nonce (yellow paper, §7). */
export function createdAddress(creator: Address, nonce: bigint): Address {
  const items = [encodeRlpString(creator), encodeRlpString(bigintToBytes(nonce))];
  return asAddress(keccak256(encodeRlpList(items)).slice(12));
}
