import { RLP } from "@ethereumjs/rlp";
import { type Address, asAddress } from "../primitives/address.ts";
import { concatBytes, EMPTY_BYTES } from "../primitives/hex.ts";
import { type Outcome, ok, rejected } from "../primitives/outcome.ts";
import { readRlp } from "../primitives/rlp.ts";
import { decodeSignature, encodeSignature, type Signature } from "../primitives/secp256k1.ts";

/** A header's vote on a validator. */
export interface ValidatorVote {
  readonly recipient: Address;
  readonly kind: "add" | "drop";
}

/** What IBFT 2.0 keeps in a header's extraData (ibft2.md §3). */
export interface ExtraData {
  /** Free bytes of the builder, 32 by custom; the length is not checked. */
  readonly vanity: Uint8Array;
  readonly validators: readonly Address[];
  readonly vote?: ValidatorVote;
  readonly round: number;
  readonly seals: readonly Signature[];
}

export const VANITY_BYTES = 32;

/** The bytes stored and sent: all five items. */
export function encodeExtraData(extra: ExtraData): Uint8Array {
  return RLP.encode([...itemsWithRound(extra), extra.seals.map(encodeSignature)]);
}

/** Without the seals item: what validators sign as their commit seal, and the proposal's digest. */
export function encodeWithoutSeals(extra: ExtraData): Uint8Array {
  return RLP.encode(itemsWithRound(extra));
}

/** Without seals and round: what the chain hash of a block covers. */
export function encodeWithoutSealsAndRound(extra: ExtraData): Uint8Array {
  return RLP.encode(firstItems(extra));
}

/** Strict: exactly five items of the right lengths, votes 0xff or 0x00, sound signatures (ibft2.md §3). */
export function decodeExtraData(bytes: Uint8Array): Outcome<ExtraData, "malformedExtraData"> {
  let items: unknown;
  try {
    items = readRlp(bytes, 2);
  } catch (error) {
    return malformed(error instanceof Error ? error.message : "not RLP");
  }
  if (!Array.isArray(items) || items.length !== 5) return malformed("extra data is a list of five items");
  const [vanity, validators, vote, round, seals] = items as unknown[];
  if (!(vanity instanceof Uint8Array)) return malformed("the vanity is bytes");
  if (!isListOfBytes(validators)) return malformed("the validators are a list of addresses");
  if (validators.some((validator) => validator.length !== 20)) return malformed("a validator has 20 bytes");
  if (!(round instanceof Uint8Array) || round.length !== 4) return malformed("the round has 4 bytes");
  if (!isListOfBytes(seals)) return malformed("the seals are a list of signatures");
  const decodedVote = decodeVote(vote);
  if (decodedVote === "malformed") return malformed("a vote is an address and 0xff or 0x00");
  const signatures = seals.map(decodeSignature);
  if (!signatures.every((signature) => signature !== undefined))
    return malformed("a seal is not a signature");
  return ok({
    vanity,
    validators: validators.map(asAddress),
    ...(decodedVote !== undefined && { vote: decodedVote }),
    round: new DataView(round.buffer, round.byteOffset, 4).getUint32(0),
    seals: signatures,
  });
}

function firstItems(extra: ExtraData): (Uint8Array | Uint8Array[])[] {
  const vote =
    extra.vote === undefined
      ? EMPTY_BYTES
      : [extra.vote.recipient, Uint8Array.of(extra.vote.kind === "add" ? 0xff : 0x00)];
  return [extra.vanity, [...extra.validators], vote];
}

function itemsWithRound(extra: ExtraData): (Uint8Array | Uint8Array[])[] {
  const round = new Uint8Array(4);
  new DataView(round.buffer).setUint32(0, extra.round);
  return [...firstItems(extra), round];
}

function decodeVote(item: unknown): ValidatorVote | undefined | "malformed" {
  if (item instanceof Uint8Array) return item.length === 0 ? undefined : "malformed";
  if (!isListOfBytes(item) || item.length !== 2) return "malformed";
  const [recipient, kind] = item;
  if (recipient?.length !== 20 || kind?.length !== 1) return "malformed";
  if (kind[0] !== 0xff && kind[0] !== 0x00) return "malformed";
  return { recipient: asAddress(recipient), kind: kind[0] === 0xff ? "add" : "drop" };
}

function isListOfBytes(item: unknown): item is Uint8Array[] {
  return Array.isArray(item) && item.every((member) => member instanceof Uint8Array);
}

function malformed(message: string): Outcome<ExtraData, "malformedExtraData"> {
  return rejected({ code: "malformedExtraData", fault: "peer", message });
}

/** Vanity of exactly 32 bytes from the operator's text: zero-padded on the left, as the incumbent writes it. */
export function vanityFromBytes(bytes: Uint8Array): Uint8Array {
  const kept = bytes.subarray(0, VANITY_BYTES);
  return concatBytes(new Uint8Array(VANITY_BYTES - kept.length), kept);
}
