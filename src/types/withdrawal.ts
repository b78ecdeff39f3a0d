import { EMPTY_BYTES } from "../primitives/hex.ts";
import { bytesToBigint } from "../primitives/quantity.ts";
import type { RlpItem } from "../primitives/rlp.ts";

/** A withdrawal of Shanghai, which no IBFT block has. */
export interface Withdrawal {
  readonly index: bigint;
  readonly validatorIndex: bigint;
  readonly address: Uint8Array;
  readonly amountGwei: bigint;
}

/** The withdrawal that a block keeps as its RLP items; what is missing of them is empty or zero. */
export function withdrawalOf(item: RlpItem): Withdrawal {
  const items = item instanceof Uint8Array ? [] : item.map(bytesOf);
  const [index = EMPTY_BYTES, validator = EMPTY_BYTES, address = EMPTY_BYTES, amount = EMPTY_BYTES] = items;
  return {
    index: bytesToBigint(index),
    validatorIndex: bytesToBigint(validator),
    address,
    amountGwei: bytesToBigint(amount),
  };
}

function bytesOf(item: RlpItem): Uint8Array {
  return item instanceof Uint8Array ? item : EMPTY_BYTES;
}
