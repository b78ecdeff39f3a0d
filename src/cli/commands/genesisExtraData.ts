import { type Address, asAddress } from "../../primitives/address.ts";
import { EMPTY_BYTES } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { encodeRlp, readRlp } from "../../primitives/rlp.ts";
import { decodeExtraData, encodeExtraData, VANITY_BYTES } from "../../types/extraData.ts";

export const EXTRA_DATA_TYPES = ["IBFT_EXTRA_DATA", "QBFT_EXTRA_DATA"] as const;

type ExtraDataType = (typeof EXTRA_DATA_TYPES)[number];

/**
 * Extra data of a genesis block with these validators, in this order (ibft2.md#extra-data). QBFT chains are not
 * supported, but their extra data can be encoded: an empty list for no vote, a plain number for the round.
 */
export function encodeGenesisExtraData(type: ExtraDataType, validators: readonly Address[]): Uint8Array {
  const vanity = new Uint8Array(VANITY_BYTES);
  return type === "IBFT_EXTRA_DATA"
    ? encodeExtraData({ vanity, validators, round: 0, seals: [] })
    : encodeRlp([vanity, validators, [], EMPTY_BYTES, []]);
}

/** The validators in the extra data of any block. */
export function decodeValidators(
  type: ExtraDataType,
  bytes: Uint8Array,
): Result<readonly Address[], "malformedExtraData"> {
  if (type === "IBFT_EXTRA_DATA") {
    const extra = decodeExtraData(bytes);
    return extra.ok ? ok(extra.value.validators) : extra;
  }
  try {
    const items: unknown = readRlp(bytes, 2);
    const validators: unknown = Array.isArray(items) && items.length === 5 ? items[1] : undefined;
    if (Array.isArray(validators) && validators.every(isAddressBytes)) return ok(validators.map(asAddress));
    return fail(
      "caller",
      "malformedExtraData",
      "it is not a list of five items with a list of addresses in second place",
    );
  } catch (error) {
    return fail("caller", "malformedExtraData", error instanceof Error ? error.message : "it is not RLP");
  }
}

function isAddressBytes(item: unknown): item is Uint8Array {
  return item instanceof Uint8Array && item.length === 20;
}
