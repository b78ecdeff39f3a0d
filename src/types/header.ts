import { type Address, asAddress } from "../primitives/address.ts";
import { asHash, type Hash } from "../primitives/hash.ts";
import { bigintToBytes, bytesToBigint } from "../primitives/quantity.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { encodeRlpList, encodeRlpString, rlpMembers } from "../primitives/rlp.ts";

/**
 * A block header, in the order of its RLP. Later forks add the optional fields; IBFT chains of Besu use only baseFeePerGas,
 * except for a genesis block with timestamp forks at zero (ibft2.md#genesis-block). Gas, numbers and timestamps (seconds)
 * are bigint; extraData is kept exactly as received.
 */
export interface Header {
  readonly parentHash: Hash;
  readonly ommersHash: Hash;
  /** The yellow paper's beneficiary; under IBFT 2.0 the validator that built the block. */
  readonly coinbase: Address;
  readonly stateRoot: Hash;
  readonly transactionsRoot: Hash;
  readonly receiptsRoot: Hash;
  readonly logsBloom: Uint8Array;
  readonly difficulty: bigint;
  readonly number: bigint;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  readonly timestamp: bigint;
  readonly extraData: Uint8Array;
  readonly mixHash: Hash;
  /** 8 bytes, never trimmed. */
  readonly nonce: Uint8Array;
  readonly baseFeePerGas?: bigint;
  readonly withdrawalsRoot?: Hash;
  readonly blobGasUsed?: bigint;
  readonly excessBlobGas?: bigint;
  readonly parentBeaconBlockRoot?: Hash;
  readonly requestsHash?: Hash;
}

/** The header's items in RLP order, with extraData replaced by `extraData` where given (the BFT hashes need that). */
export function headerItems(header: Header, extraData: Uint8Array = header.extraData): Uint8Array[] {
  const items = [
    header.parentHash,
    header.ommersHash,
    header.coinbase,
    header.stateRoot,
    header.transactionsRoot,
    header.receiptsRoot,
    header.logsBloom,
    bigintToBytes(header.difficulty),
    bigintToBytes(header.number),
    bigintToBytes(header.gasLimit),
    bigintToBytes(header.gasUsed),
    bigintToBytes(header.timestamp),
    extraData,
    header.mixHash,
    header.nonce,
  ];
  if (header.baseFeePerGas === undefined) return items;
  items.push(bigintToBytes(header.baseFeePerGas));
  if (header.withdrawalsRoot === undefined) return items;
  items.push(header.withdrawalsRoot);
  if (header.blobGasUsed === undefined || header.excessBlobGas === undefined) return items;
  items.push(bigintToBytes(header.blobGasUsed), bigintToBytes(header.excessBlobGas));
  if (header.parentBeaconBlockRoot === undefined) return items;
  items.push(header.parentBeaconBlockRoot);
  if (header.requestsHash === undefined) return items;
  items.push(header.requestsHash);
  return items;
}

export function encodeHeader(header: Header): Uint8Array {
  return encodeHeaderItems(headerItems(header));
}

export function encodeHeaderItems(items: readonly Uint8Array[]): Uint8Array {
  return encodeRlpList(items.map(encodeRlpString));
}

/** Decodes a header; wrong RLP or field lengths are the sender's fault. */
export function decodeHeader(bytes: Uint8Array): Result<Header, "malformedHeader"> {
  const items: Uint8Array[] = [];
  try {
    for (const { isList, from, until } of rlpMembers(bytes)) {
      if (isList) return fail("peer", "malformedHeader", "a field of a header is not a list");
      // Untrusted peers send headers: reading stops at the first surplus field.
      if (items.length === MAX_FIELDS)
        return fail("peer", "malformedHeader", `a header does not have more than ${MAX_FIELDS} fields`);
      items.push(bytes.subarray(from, until));
    }
  } catch (error) {
    return fail("peer", "malformedHeader", error instanceof Error ? error.message : "not RLP");
  }
  return headerFromItems(items);
}

/** Like decodeHeader, from items of a larger RLP. */
export function headerFromItems(items: unknown): Result<Header, "malformedHeader"> {
  if (!Array.isArray(items)) return fail("peer", "malformedHeader", "a header is a list");
  if (!HEADER_LENGTHS.has(items.length))
    return fail("peer", "malformedHeader", `a header does not have ${items.length} fields`);
  if (!items.every((item) => item instanceof Uint8Array))
    return fail("peer", "malformedHeader", "a field of a header is not a list");
  try {
    return ok(readHeader(items as Uint8Array[]));
  } catch (error) {
    return fail("peer", "malformedHeader", error instanceof Error ? error.message : "unreadable field");
  }
}

/** Berlin, London, Shanghai, Cancun (two blob gas fields, then the beacon root), Prague. */
const HEADER_LENGTHS: ReadonlySet<number> = new Set([15, 16, 17, 19, 20, 21]);

const MAX_FIELDS = 21;

function readHeader(items: readonly Uint8Array[]): Header {
  const at = (index: number): Uint8Array => {
    const item = items[index];
    if (item === undefined) throw new RangeError(`field ${index} is missing`);
    return item;
  };
  const scalar = (index: number): bigint => {
    const bytes = at(index);
    if (bytes[0] === 0) throw new RangeError(`field ${index} has leading zeros`);
    if (bytes.length > 32) throw new RangeError(`field ${index} is longer than 32 bytes`);
    return bytesToBigint(bytes);
  };
  const exact = (index: number, length: number): Uint8Array => {
    const bytes = at(index);
    if (bytes.length !== length)
      throw new RangeError(`field ${index} has ${bytes.length} bytes, not ${length}`);
    return bytes;
  };
  return {
    parentHash: asHash(at(0)),
    ommersHash: asHash(at(1)),
    coinbase: asAddress(at(2)),
    stateRoot: asHash(at(3)),
    transactionsRoot: asHash(at(4)),
    receiptsRoot: asHash(at(5)),
    logsBloom: exact(6, 256),
    difficulty: scalar(7),
    number: scalar(8),
    gasLimit: scalar(9),
    gasUsed: scalar(10),
    timestamp: scalar(11),
    extraData: at(12),
    mixHash: asHash(at(13)),
    nonce: exact(14, 8),
    ...(items.length > 15 && { baseFeePerGas: scalar(15) }),
    ...(items.length > 16 && { withdrawalsRoot: asHash(at(16)) }),
    ...(items.length > 17 && { blobGasUsed: scalar(17), excessBlobGas: scalar(18) }),
    ...(items.length > 19 && { parentBeaconBlockRoot: asHash(at(19)) }),
    ...(items.length > 20 && { requestsHash: asHash(at(20)) }),
  };
}
