import type { ChainReader } from "../../chain/chainReader.ts";
import type { Hash } from "../../primitives/hash.ts";
import { equalBytes } from "../../primitives/hex.ts";
import type { NamedHeader, StoredBlock } from "../../types/block.ts";
import { ERRORS, type RpcError } from "../errors/errors.ts";
import { decodeBoolean, decodeJavaLong, decodeStoragePosition, isAbsent, isObject } from "./parameters.ts";

const TAGS = ["latest", "earliest", "pending", "finalized", "safe"] as const;
type BlockTag = (typeof TAGS)[number];

/** A block by number or tag: the family BN of json-rpc.md#block-parameters. The number may be negative. */
export type NumberOrTag = bigint | BlockTag;

/** A block by hash (EIP-1898). */
interface BlockByHash {
  readonly blockHash: Hash;
  readonly requireCanonical: boolean;
}

/** A block by number, tag or hash: the family BH of json-rpc.md#block-parameters. */
type NumberTagOrHash = NumberOrTag | BlockByHash;

/** Family BN: a tag in any case, or text as decodeJavaLong reads it; never a JSON number, a hash or an object. */
export function decodeNumberOrTag(value: unknown): NumberOrTag | undefined {
  if (typeof value !== "string") return undefined;
  return tagOf(value) ?? decodeJavaLong(value);
}

/** A JSON number, as Otterscan and go-ethereum's tools name blocks, or else as BN. Never negative. */
export function decodeJsonNumberOrTag(value: unknown): NumberOrTag | undefined {
  const choice = typeof value === "number" ? wholeNumber(value) : decodeNumberOrTag(value);
  return typeof choice === "bigint" && choice < 0n ? undefined : choice;
}

function wholeNumber(value: number): bigint | undefined {
  return Number.isSafeInteger(value) ? BigInt(value) : undefined;
}

/** Family BH: as BN with at most 16 characters, a hash of at least 65, or an EIP-1898 object. Never negative. */
export function decodeNumberTagOrHash(value: unknown): NumberTagOrHash | undefined {
  if (isObject(value)) return decodeObject(value);
  if (typeof value !== "string") return undefined;
  const tag = tagOf(value);
  if (tag !== undefined) return tag;
  if (value.length < HASH_TEXT_LENGTH) {
    return value.length <= LONGEST_NUMBER_TEXT ? decodeNaturalLong(value) : undefined;
  }
  const blockHash = decodeStoragePosition(value.toLowerCase());
  return blockHash && { blockHash, requireCanonical: false };
}

/** Number of the chosen block. IBFT blocks are final at once, so finalized and safe mean the head, as does pending. */
export function numberOf(chain: ChainReader, choice: NumberOrTag): bigint {
  if (typeof choice === "bigint") return choice;
  return choice === "earliest" ? 0n : chain.head.header.number;
}

/** The header chosen by a parameter of family BH, or the error to answer with. */
export function findHeader(chain: ChainReader, choice: NumberTagOrHash): NamedHeader | RpcError {
  if (typeof choice === "object") return findByHash(chain, choice);
  const number = numberOf(chain, choice);
  if (number === chain.head.header.number) return chain.head;
  return chain.headerByNumber(number) ?? ERRORS.blockNotFound;
}

/** The block chosen by a parameter of family BN; undefined above the head. Besu fails with -32603 on a negative one. */
export function findBlock(chain: ChainReader, choice: NumberOrTag): StoredBlock | RpcError | undefined {
  const number = numberOf(chain, choice);
  return number < 0n ? ERRORS.internalError : chain.blockByNumber(number);
}

/** Like findBlock, for its header alone. */
export function findBlockHeader(chain: ChainReader, choice: NumberOrTag): NamedHeader | RpcError | undefined {
  const number = numberOf(chain, choice);
  return number < 0n ? ERRORS.internalError : chain.headerByNumber(number);
}

function findByHash(
  chain: ChainReader,
  { blockHash, requireCanonical }: BlockByHash,
): NamedHeader | RpcError {
  const found = chain.headerByHash(blockHash);
  if (found === undefined) return ERRORS.blockNotFound;
  if (!requireCanonical) return found;
  const canonical = chain.headerByNumber(found.header.number);
  return canonical !== undefined && equalBytes(canonical.hash, blockHash) ? found : ERRORS.invalidInput;
}

/** Shortest text read as a hash: a prefix and 63 digits, or 65 digits, which are too many. */
const HASH_TEXT_LENGTH = 65;
const LONGEST_NUMBER_TEXT = 16;

/** A requireCanonical that is not a boolean counts as false. */
function decodeObject(value: Readonly<Record<string, unknown>>): NumberTagOrHash | undefined {
  const { blockHash, blockNumber, requireCanonical } = value;
  if (!isAbsent(blockHash)) {
    const hash = decodeStoragePosition(blockHash);
    return hash && { blockHash: hash, requireCanonical: decodeBoolean(requireCanonical) ?? false };
  }
  if (typeof blockNumber === "number") {
    return Number.isSafeInteger(blockNumber) && blockNumber >= 0 ? BigInt(blockNumber) : undefined;
  }
  return decodeNaturalLong(blockNumber);
}

function decodeNaturalLong(value: unknown): bigint | undefined {
  const number = decodeJavaLong(value);
  return number === undefined || number < 0n ? undefined : number;
}

function tagOf(text: string): BlockTag | undefined {
  const lowerCase = text.toLowerCase();
  return TAGS.find((tag) => tag === lowerCase);
}
