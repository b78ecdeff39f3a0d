import { type Address, asAddress } from "../primitives/address.ts";
import { concatBytes, EMPTY_BYTES, equalBytes } from "../primitives/hex.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { encodeRlp, type RlpItem, type RlpSpan, readRlpString, rlpMembers } from "../primitives/rlp.ts";
import { decodeSignature, encodeSignature, type Signature } from "../primitives/secp256k1.ts";

/** A header's vote on a validator. */
export interface ValidatorVote {
  readonly recipient: Address;
  readonly kind: "add" | "drop";
}

/** Whether a vote would leave the chain without validators, and so without blocks: the last one's on itself. */
export function isOnLastValidator(
  validators: readonly Address[],
  { recipient, kind }: ValidatorVote,
): boolean {
  const [only, ...others] = validators;
  return kind === "drop" && only !== undefined && others.length === 0 && equalBytes(only, recipient);
}

/** The contents of an IBFT 2.0 header's extraData (ibft2.md#extra-data). */
export interface ExtraData {
  /** Bytes that the block's builder may choose, 32 by convention; the length is not checked. */
  readonly vanity: Uint8Array;
  readonly validators: readonly Address[];
  readonly vote?: ValidatorVote;
  readonly round: number;
  readonly seals: readonly Signature[];
}

export const VANITY_BYTES = 32;

/** The full encoding, stored and sent: all five items. */
export function encodeExtraData(extra: ExtraData): Uint8Array {
  return encodeRlp([...itemsWithRound(extra), extra.seals.map(encodeSignature)]);
}

/** The encoding without the seals item: covered by commit seals and by a proposal's digest. */
export function encodeWithoutSeals(extra: ExtraData): Uint8Array {
  return encodeRlp(itemsWithRound(extra));
}

/** The encoding without seals and round: covered by the chain hash of a block. */
export function encodeWithoutSealsAndRound(extra: ExtraData): Uint8Array {
  return encodeRlp(firstItems(extra));
}

/**
 * Decodes strictly: exactly five items of the right lengths, votes 0xff or 0x00, well-formed signatures
 * (ibft2.md#extra-data). Untrusted peers send extra data, so reading stops at the first wrong item.
 */
export function decodeExtraData(bytes: Uint8Array): Result<ExtraData, "malformedExtraData"> {
  try {
    return ok(readExtraData(bytes));
  } catch (error) {
    return fail("peer", "malformedExtraData", error instanceof Error ? error.message : "not RLP");
  }
}

/** Throws RangeError for malformed bytes. */
function readExtraData(bytes: Uint8Array): ExtraData {
  const items = partsOf(bytes, 5, "extra data is a list of five items");
  const [vanity, validators, vote, round, seals] = items.map(({ start, until }) =>
    bytes.subarray(start, until),
  );
  const roundBytes = stringAt(round, "the round has 4 bytes", 4);
  const decodedVote = readVote(vote ?? EMPTY_BYTES);
  return {
    vanity: stringAt(vanity, "the vanity is bytes"),
    validators: listAt(validators, "the validators are a list of addresses", (validator) =>
      asAddress(stringAt(validator, "a validator has 20 bytes", 20)),
    ),
    ...(decodedVote !== undefined && { vote: decodedVote }),
    round: new DataView(roundBytes.buffer, roundBytes.byteOffset, 4).getUint32(0),
    seals: listAt(seals, "the seals are a list of signatures", (seal) => {
      const signature = decodeSignature(stringAt(seal, "a seal is not a signature"));
      if (signature === undefined) throw new RangeError("a seal is not a signature");
      return signature;
    }),
  };
}

function firstItems(extra: ExtraData): RlpItem[] {
  const vote =
    extra.vote === undefined
      ? EMPTY_BYTES
      : [extra.vote.recipient, Uint8Array.of(extra.vote.kind === "add" ? 0xff : 0x00)];
  return [extra.vanity, extra.validators, vote];
}

function itemsWithRound(extra: ExtraData): RlpItem[] {
  const round = new Uint8Array(4);
  new DataView(round.buffer).setUint32(0, extra.round);
  return [...firstItems(extra), round];
}

function readVote(part: Uint8Array): ValidatorVote | undefined {
  if (part.length === 1 && part[0] === 0x80) return undefined;
  const what = "a vote is an address and 0xff or 0x00";
  const [recipient, kind] = partsOf(part, 2, what).map(({ start, until }) => part.subarray(start, until));
  const [polarity] = stringAt(kind, what, 1);
  if (polarity !== 0xff && polarity !== 0x00) throw new RangeError(what);
  return { recipient: asAddress(stringAt(recipient, what, 20)), kind: polarity === 0xff ? "add" : "drop" };
}

/** The members of a list of exactly `count`. */
function partsOf(list: Uint8Array, count: number, what: string): readonly RlpSpan[] {
  if ((list[0] ?? 0) < 0xc0) throw new RangeError(what);
  const spans: RlpSpan[] = [];
  for (const span of rlpMembers(list)) {
    if (spans.length === count) throw new RangeError(what);
    spans.push(span);
  }
  if (spans.length !== count) throw new RangeError(what);
  return spans;
}

/** The string that `part` encodes, of exactly `length` bytes if given. */
function stringAt(part: Uint8Array | undefined, what: string, length?: number): Uint8Array {
  if (part === undefined || (part[0] ?? 0xff) >= 0xc0) throw new RangeError(what);
  const string = readRlpString(part);
  if (length !== undefined && string.length !== length) throw new RangeError(what);
  return string;
}

function listAt<T>(list: Uint8Array | undefined, what: string, read: (part: Uint8Array) => T): readonly T[] {
  if (list === undefined || (list[0] ?? 0) < 0xc0) throw new RangeError(what);
  const members: T[] = [];
  for (const { start, until } of rlpMembers(list)) members.push(read(list.subarray(start, until)));
  return members;
}

/** Vanity of exactly 32 bytes from the operator's bytes: zero-padded on the left, as in Besu. */
export function vanityFromBytes(bytes: Uint8Array): Uint8Array {
  const kept = bytes.subarray(0, VANITY_BYTES);
  return concatBytes(new Uint8Array(VANITY_BYTES - kept.length), kept);
}
