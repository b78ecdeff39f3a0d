import { keccak256 } from "../primitives/hash.ts";
import { concatBytes, EMPTY_BYTES } from "../primitives/hex.ts";
import { bigintToBytes, bigintToFixedBytes } from "../primitives/quantity.ts";
import { encodeRlpList, encodeRlpString } from "../primitives/rlp.ts";
import { type Signature, sign } from "../primitives/secp256k1.ts";
import { TRANSACTION_GAS } from "../types/transactionCount.ts";

/** A transfer without effect: one wei to an account with no known key. */
interface MadeUpTransfer {
  readonly nonce: bigint;
  /** Wei per gas. */
  readonly priceWei: bigint;
  /** Number of the recipient. */
  readonly recipient: bigint;
}

/** Type of transfers: fee market (EIP-1559), as from today's tools, or legacy, as on chains before London. */
export type TransferKind = "feeMarket" | "legacy";

/**
 * Chain id that no chain uses, so that a made-up transaction is valid nowhere. EIP-155's v stays below 2^53, which callers
 * may read as a number.
 */
export const MADE_UP_CHAIN_ID = 0x1be_0000_0001n;

/** First of the recipients. */
const FIRST_RECIPIENT = 0x3a9e_0000_0000n;

/** The canonical encoding of a transfer, signed with the key. */
export function signedTransfer(
  kind: TransferKind,
  transfer: MadeUpTransfer,
  privateKey: Uint8Array,
): Uint8Array {
  const fields = kind === "feeMarket" ? feeMarketFields(transfer) : legacyFields(transfer);
  const digest =
    kind === "feeMarket"
      ? keccak256(typed(fields))
      : keccak256(encodeRlpList([...fields, scalar(MADE_UP_CHAIN_ID), scalar(0n), scalar(0n)]));
  return encoded(kind, fields, sign(digest, privateKey));
}

/** Like `signedTransfer`, with a signature that is well-formed and fits no known key: for code that recovers no sender. */
export function unsignedTransfer(kind: TransferKind, transfer: MadeUpTransfer): Uint8Array {
  const fields = kind === "feeMarket" ? feeMarketFields(transfer) : legacyFields(transfer);
  return encoded(kind, fields, { r: 1n, s: transfer.nonce + 1n, yParity: 0 });
}

function encoded(
  kind: TransferKind,
  fields: readonly Uint8Array[],
  { r, s, yParity }: Signature,
): Uint8Array {
  if (kind === "feeMarket") return typed([...fields, scalar(BigInt(yParity)), scalar(r), scalar(s)]);
  const v = MADE_UP_CHAIN_ID * 2n + 35n + BigInt(yParity);
  return encodeRlpList([...fields, scalar(v), scalar(r), scalar(s)]);
}

function feeMarketFields({ nonce, priceWei, recipient }: MadeUpTransfer): readonly Uint8Array[] {
  return [
    ...[MADE_UP_CHAIN_ID, nonce, priceWei, priceWei, TRANSACTION_GAS].map(scalar),
    ...toRecipient(recipient),
    encodeRlpList([]),
  ];
}

function legacyFields({ nonce, priceWei, recipient }: MadeUpTransfer): readonly Uint8Array[] {
  return [...[nonce, priceWei, TRANSACTION_GAS].map(scalar), ...toRecipient(recipient)];
}

/** Recipient, value and data. */
function toRecipient(recipient: bigint): readonly Uint8Array[] {
  const address = bigintToFixedBytes(FIRST_RECIPIENT + recipient * 7919n, 20);
  return [encodeRlpString(address), scalar(1n), encodeRlpString(EMPTY_BYTES)];
}

function typed(fields: readonly Uint8Array[]): Uint8Array {
  return concatBytes(Uint8Array.of(2), encodeRlpList(fields));
}

function scalar(value: bigint): Uint8Array {
  return encodeRlpString(bigintToBytes(value));
}
