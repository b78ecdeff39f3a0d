import { readRlpString, rlpMembers } from "../../primitives/rlp.ts";
import { CERTIFICATE_ERRORS } from "../certificateRules.ts";

/** Why bytes do not decode to a message; a small set, used as a metric label. */
export const DECODING_ERRORS = [
  "unknownCode",
  "oversized",
  "malformed",
  "malformedBlock",
  "foreignBody",
  "unknownSigner",
  "unwelcomeAuthor",
  "tooManySignatures",
  "wrongCandidate",
  ...CERTIFICATE_ERRORS,
] as const;

export type DecodingErrorCode = (typeof DECODING_ERRORS)[number];

/** Ends the decoding of a message with another code than "malformed"; never leaves the codec. */
export class DecodingError extends RangeError {
  readonly code: DecodingErrorCode;

  constructor(code: DecodingErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * The encoded members of a list of exactly `count`; throws RangeError for anything else. Stops reading a longer list at
 * the first surplus member.
 */
export function partsOf<Count extends number>(list: Uint8Array, count: Count): Parts<Count> {
  const parts: Uint8Array[] = [];
  for (const { start, until } of rlpMembers(list)) {
    if (parts.length === count) throw new RangeError(`a list of more than ${count}`);
    parts.push(list.subarray(start, until));
  }
  if (parts.length !== count) throw new RangeError(`a list of ${parts.length}, not ${count}`);
  return parts as unknown as Parts<Count>;
}

/** A tuple of `Count` encodings. */
type Parts<Count extends number> = Count extends 1
  ? readonly [Uint8Array]
  : Count extends 2
    ? readonly [Uint8Array, Uint8Array]
    : Count extends 3
      ? readonly [Uint8Array, Uint8Array, Uint8Array]
      : readonly [Uint8Array, Uint8Array, Uint8Array, Uint8Array];

/** The string of exactly `length` bytes that `part` encodes, as a view; throws RangeError for anything else. */
export function stringOf(part: Uint8Array, length: number): Uint8Array {
  const string = readRlpString(part);
  if (string.length !== length) throw new RangeError(`${string.length} bytes instead of ${length}`);
  return string;
}

/** True for an empty string, which stands for an absent certificate or block; an empty list does not. */
export function isAbsent(part: Uint8Array): boolean {
  return part.length === 1 && part[0] === 0x80;
}
