import type { Address } from "../primitives/address.ts";
import { keccak256 } from "../primitives/hash.ts";
import { EMPTY_BYTES } from "../primitives/hex.ts";
import { bigintToBytes } from "../primitives/quantity.ts";
import { encodeRlpList, encodeRlpString } from "../primitives/rlp.ts";
import { sign } from "../primitives/secp256k1.ts";
import { GIFT_GAS } from "./limits.ts";

interface Gift {
  readonly chainId: bigint;
  readonly nonce: bigint;
  readonly gasPriceWei: bigint;
  readonly to: Address;
  readonly valueWei: bigint;
}

/** A signed transfer, as eth_sendRawTransaction takes it: a legacy transaction with replay protection (EIP-155). */
export function signGift(
  { chainId, nonce, gasPriceWei, to, valueWei }: Gift,
  privateKey: Uint8Array,
): Uint8Array {
  const fields = [nonce, gasPriceWei, GIFT_GAS].map(bigintToBytes);
  const items = [...fields, to, bigintToBytes(valueWei), EMPTY_BYTES];
  const unsigned = encodeList([...items, bigintToBytes(chainId), EMPTY_BYTES, EMPTY_BYTES]);
  const { r, s, yParity } = sign(keccak256(unsigned), privateKey);
  const v = 2n * chainId + 35n + BigInt(yParity);
  return encodeList([...items, ...[v, r, s].map(bigintToBytes)]);
}

function encodeList(items: readonly Uint8Array[]): Uint8Array {
  return encodeRlpList(items.map(encodeRlpString));
}
