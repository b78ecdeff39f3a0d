import { asAddress } from "../primitives/address.ts";
import { asHash } from "../primitives/hash.ts";
import { EMPTY_BYTES } from "../primitives/hex.ts";
import { bigintToBytes, bytesToBigint } from "../primitives/quantity.ts";
import { err, ok, type Result } from "../primitives/result.ts";
import { encodeRlpList, encodeRlpString, type RlpItem, readRlp } from "../primitives/rlp.ts";
import { decodeSignature, encodeSignature, type Signature } from "../primitives/secp256k1.ts";
import { decodeBlock, encodeBlock } from "../types/block.ts";
import type { Digest } from "../types/blockHash.ts";
import { candidateOfBlock } from "./candidate.ts";
import type { Payload, PreparedBlock, Signed } from "./message.ts";

/**
 * What this validator signed last, as a record of the vote log: written before a vote is sent, read after a restart. It
 * forbids votes at heights below `height`, and at `height` in rounds up to `round`; sending the same bytes again is allowed.
 */
export interface LastSignedState {
  readonly height: bigint;
  /** The highest round in which we signed anything. */
  readonly round: number;
  /** The digest of our Proposal, Prepare and Commit of that round; undefined while we only requested the round. */
  readonly digest: Digest | undefined;
  /** The block prepared last at this height; every further RoundChange includes it. */
  readonly prepared: PreparedBlock | undefined;
  /** Set while our key may have signed what this record lacks: we are silent meanwhile (lostVotes.ts). */
  readonly doubt?: Doubt;
  /**
   * The height whose votes this node forgot on the operator's command: later messages and seals of that height raise no
   * doubt.
   */
  readonly forgotten?: bigint;
}

/** The time until which we are silent, because we may have voted for what we do not know. */
export interface Doubt {
  readonly reason: DoubtReason;
  /** The highest height, as far as we know, at which we may have voted. */
  readonly upTo: bigint;
  /** Unix seconds; every block of this time or later is past what our key had signed when the doubt began. */
  readonly untilTimestamp: bigint;
}

/** Reasons for a doubt: there was no record; the record is older than our votes; our key signs elsewhere since our start. */
export const DOUBT_REASONS = ["missing", "old", "ownKey"] as const;

export type DoubtReason = (typeof DOUBT_REASONS)[number];

/**
 * Encodes a record in our own disk format, never on the wire: RLP of [version, height, round, digest | "", prepared | ""],
 * where prepared is [block, proposer's signature and address, [each Prepare's signature and address]]. The signed payloads
 * follow from the block's number, round and digest. The block is encoded as one string, because it can be large. Version 2
 * adds [reason, upTo, untilTimestamp] | "" for the doubt, and the forgotten height or 0; it is only written when there is
 * one of them, so that an earlier release reads all other records.
 */
export function encodeLastSigned(record: LastSignedState): Uint8Array {
  const { height, round, digest, prepared, doubt, forgotten } = record;
  const isPlain = doubt === undefined && forgotten === undefined;
  return encodeRlpList([
    encodeNumber(isPlain ? PLAIN_VERSION : FORMAT_VERSION),
    encodeNumber(height),
    encodeNumber(BigInt(round)),
    encodeRlpString(digest ?? EMPTY_BYTES),
    prepared === undefined ? encodeRlpString(EMPTY_BYTES) : encodePrepared(prepared),
    ...(isPlain ? [] : [encodeDoubt(doubt), encodeNumber(forgotten ?? 0n)]),
  ]);
}

type LastSignedErrorCode = "unknownVoteLogVersion" | "damagedVoteLog";

/** Decodes what encodeLastSigned wrote. The vote log has checksums, so an error means a bug or another version. */
export function decodeLastSigned(bytes: Uint8Array): Result<LastSignedState, LastSignedErrorCode> {
  try {
    const items = listOf(readRlp(bytes, RECORD_DEPTH));
    const version = numberOf(items[0]);
    if (version !== PLAIN_VERSION && version !== FORMAT_VERSION) {
      return refuse("unknownVoteLogVersion", `version ${version}`);
    }
    const [, height, round, digest, prepared, doubt, forgotten] = listOf(
      readRlp(bytes, RECORD_DEPTH),
      version === PLAIN_VERSION ? 5 : 7,
    );
    const record: LastSignedState = {
      height: numberOf(height),
      round: Number(numberOf(round)),
      digest: bytesOf(digest).length === 0 ? undefined : (asHash(bytesOf(digest)) as Digest),
      prepared: prepared instanceof Uint8Array ? undefined : decodePrepared(prepared),
      ...(doubt !== undefined && !(doubt instanceof Uint8Array) && { doubt: decodeDoubt(doubt) }),
      ...(forgotten !== undefined && numberOf(forgotten) > 0n && { forgotten: numberOf(forgotten) }),
    };
    const preparedHeight = record.prepared?.candidate.header.number ?? record.height;
    return preparedHeight === record.height
      ? ok(record)
      : refuse("damagedVoteLog", `a block of height ${preparedHeight} in a record of ${record.height}`);
  } catch (error) {
    return refuse("damagedVoteLog", error instanceof Error ? error.message : "unreadable");
  }
}

const PLAIN_VERSION = 1n;
const FORMAT_VERSION = 2n;
/** Nesting of lists: the record, what is prepared, its Prepares, a signer. */
const RECORD_DEPTH = 4;

function encodePrepared({ certificate, candidate }: PreparedBlock): Uint8Array {
  const block = { header: candidate.header, transactions: candidate.transactions, ommers: [] };
  return encodeRlpList([
    encodeRlpString(encodeBlock(block)),
    encodeSigner(certificate.proposal),
    encodeRlpList(certificate.prepares.map(encodeSigner)),
  ]);
}

function encodeDoubt(doubt: Doubt | undefined): Uint8Array {
  if (doubt === undefined) return encodeRlpString(EMPTY_BYTES);
  const reason = BigInt(DOUBT_REASONS.indexOf(doubt.reason));
  return encodeRlpList([reason, doubt.upTo, doubt.untilTimestamp].map(encodeNumber));
}

function decodeDoubt(items: RlpItem): Doubt {
  const [code, upTo, untilTimestamp] = listOf(items, 3);
  const reason = DOUBT_REASONS[Number(numberOf(code))];
  if (reason === undefined) throw new RangeError("not a reason of doubt");
  return { reason, upTo: numberOf(upTo), untilTimestamp: numberOf(untilTimestamp) };
}

function encodeNumber(value: bigint): Uint8Array {
  return encodeRlpString(bigintToBytes(value));
}

function numberOf(item: RlpItem | undefined): bigint {
  return bytesToBigint(bytesOf(item));
}

function encodeSigner({ signature, author }: Signed<Payload>): Uint8Array {
  return encodeRlpList([encodeRlpString(encodeSignature(signature)), encodeRlpString(author)]);
}

function decodePrepared(items: RlpItem | undefined): PreparedBlock {
  const [blockBytes, proposer, preparers] = listOf(items, 3);
  const block = decodeBlock(bytesOf(blockBytes));
  if (!block.ok) throw new RangeError(block.error.message);
  const candidate = candidateOfBlock(block.value);
  if (!candidate.ok) throw new RangeError(candidate.error.message);
  const { header, extra, digest } = candidate.value;
  const id = { height: header.number, round: extra.round, digest };
  return {
    candidate: candidate.value,
    certificate: {
      proposal: { payload: { kind: "proposal", ...id }, ...decodeSigner(proposer) },
      prepares: listOf(preparers).map((preparer) => ({
        payload: { kind: "prepare", ...id },
        ...decodeSigner(preparer),
      })),
    },
  };
}

function decodeSigner(items: RlpItem | undefined): Pick<Signed<Payload>, "signature" | "author"> {
  const [signatureBytes, author] = listOf(items, 2);
  const signature: Signature | undefined = decodeSignature(bytesOf(signatureBytes));
  if (signature === undefined) throw new RangeError("not a signature");
  return { signature, author: asAddress(bytesOf(author)) };
}

/** The members of a list, of exactly `length` if given. */
function listOf(item: RlpItem | undefined, length?: number): readonly RlpItem[] {
  if (item === undefined || item instanceof Uint8Array) throw new RangeError("not a list");
  if (length !== undefined && item.length !== length) throw new RangeError(`not a list of ${length}`);
  return item;
}

function bytesOf(item: RlpItem | undefined): Uint8Array {
  if (!(item instanceof Uint8Array)) throw new RangeError("not bytes");
  return item;
}

function refuse(code: LastSignedErrorCode, message: string): Result<LastSignedState, LastSignedErrorCode> {
  return err({ code, fault: "local", message });
}
