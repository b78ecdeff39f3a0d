import { keccak256 } from "../../primitives/hash.ts";
import { concatBytes, EMPTY_BYTES } from "../../primitives/hex.ts";
import { bigintToFixedBytes } from "../../primitives/quantity.ts";
import type { SentTransaction } from "../../types/transaction.ts";

const SELECTOR = keccak256(
  new TextEncoder().encode("transactionAllowed(address,address,uint256,uint256,uint256,bytes)"),
).subarray(0, 4);

/** Place of the last argument's bytes: after six words. */
const DATA_OFFSET = 192n;

type Asked = Pick<SentTransaction, "sender" | "to" | "value" | "gasPrice" | "gasLimit" | "data">;

/**
 * The call of `transactionAllowed` for a transaction, byte for byte as Besu 24.7 makes it: no recipient is the zero address,
 * a transaction without a gas price (types 2 and later) has the price zero, and data whose length is a multiple of 32 is
 * followed by a whole word of zeros.
 */
export function transactionPayload({ sender, to, value, gasPrice, gasLimit, data }: Asked): Uint8Array {
  return concatBytes(
    SELECTOR,
    addressWord(sender),
    addressWord(to ?? EMPTY_BYTES),
    word(value),
    word(gasPrice ?? 0n),
    word(gasLimit),
    word(DATA_OFFSET),
    word(BigInt(data.length)),
    data,
    new Uint8Array(WORD - (data.length % WORD)),
  );
}

const WORD = 32;

function word(value: bigint): Uint8Array {
  return bigintToFixedBytes(value, WORD);
}

function addressWord(address: Uint8Array): Uint8Array {
  const padded = new Uint8Array(WORD);
  padded.set(address, WORD - address.length);
  return padded;
}
