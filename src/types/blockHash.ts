import { type Hash, keccak256 } from "../primitives/hash.ts";
import { ok, type Result } from "../primitives/result.ts";
import {
  decodeExtraData,
  type ExtraData,
  encodeWithoutSeals,
  encodeWithoutSealsAndRound,
} from "./extraData.ts";
import { encodeHeader, encodeHeaderItems, type Header, headerItems } from "./header.ts";

/** keccak256 of a header with its round: Proposals, Prepares and commit seals sign it. */
export type Digest = Hash & { readonly __digest: true };

/**
 * The chain hash of a block, its only identifier on chain, on the wire and in JSON-RPC (ibft2.md#chain-hash-and-digest). It
 * covers neither seals nor round, so a block sealed twice keeps its hash. The genesis header is hashed as it is. Fails when
 * extraData does not decode.
 */
export function hashOfHeader(header: Header): Result<Hash, "malformedExtraData"> {
  if (header.number === 0n) return ok(keccak256(encodeHeader(header)));
  const extra = decodeExtraData(header.extraData);
  return extra.ok ? ok(chainHash(header, extra.value)) : extra;
}

/** Like hashOfHeader, for a block above genesis whose extra data is already decoded. */
export function chainHash(header: Header, extra: ExtraData): Hash {
  return keccak256(encodeHeaderItems(headerItems(header, encodeWithoutSealsAndRound(extra))));
}

/** The hash that commit seals sign; it differs from round to round. */
export function sealDigest(header: Header, extra: ExtraData): Digest {
  return keccak256(sealPreimage(header, extra)) as Hash as Digest;
}

/** The bytes whose hash commit seals sign. */
export function sealPreimage(header: Header, extra: ExtraData): Uint8Array {
  return encodeHeaderItems(headerItems(header, encodeWithoutSeals(extra)));
}
