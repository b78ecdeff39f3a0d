import type { Address } from "../primitives/address.ts";
import { EMPTY_BYTES } from "../primitives/hex.ts";
import { signTransaction } from "../types/unsignedTransaction.ts";
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
  const transfer = {
    type: 0 as const,
    chainId,
    nonce,
    gasPrice: gasPriceWei,
    gasLimit: GIFT_GAS,
    to,
    value: valueWei,
  };
  return signTransaction(
    { ...transfer, data: EMPTY_BYTES, accessList: [], authorizationList: [] },
    privateKey,
  );
}
