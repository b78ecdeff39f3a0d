import { type Address, addressOfWord, ZERO_ADDRESS } from "../primitives/address.ts";
import { keccak256 } from "../primitives/hash.ts";
import { equalBytes } from "../primitives/hex.ts";
import { bigintAt, bytesToBigint } from "../primitives/quantity.ts";
import type { Log } from "../types/log.ts";
import type { Asset, Standard } from "./layout.ts";

/** A transfer of tokens according to a contract's event: anybody can write a contract that emits any event. */
export interface TokenTransfer {
  readonly token: Address;
  readonly standard: Standard;
  readonly from: Address;
  readonly to: Address;
  /** The account that moved the tokens; undefined if the event does not name it. */
  readonly operator: Address | undefined;
  readonly amounts: readonly TokenAmount[];
  /** True when a batch has more amounts than are kept. */
  readonly isCut: boolean;
}

interface TokenAmount {
  /** 32 bytes; undefined for ERC-20. */
  readonly tokenId: Uint8Array | undefined;
  readonly value: bigint;
}

/** Most ids of one batch that are indexed and shown: a log of a full block has room for hundreds of thousands. */
const MAX_BATCH_AMOUNTS = 100;

/** The transfer in a log; undefined when it is not an event of the three standards, or malformed. */
export function tokenTransferOf(log: Log): TokenTransfer | undefined {
  const [event] = log.topics;
  if (event === undefined) return undefined;
  if (equalBytes(event, TRANSFER)) return transferOf(log);
  if (equalBytes(event, TRANSFER_SINGLE)) return singleOf(log);
  return equalBytes(event, TRANSFER_BATCH) ? batchOf(log) : undefined;
}

/** The assets that a transfer moves. */
export function assetsOf({ token, standard, amounts }: TokenTransfer): readonly Asset[] {
  return amounts.map(({ tokenId }) => ({ token, standard, tokenId }));
}

/** Accounts that may hold the moved assets, except the zero address. */
export function holdersOf({ from, to }: TokenTransfer): readonly Address[] {
  return [from, to].filter((address) => !equalBytes(address, ZERO_ADDRESS));
}

/** Reads a transfer of ERC-20 or ERC-721, which have the same event; ERC-721 has the last parameter among the topics. */
function transferOf({ address: token, topics, data }: Log): TokenTransfer | undefined {
  const [, from, to, tokenId] = topics;
  if (from === undefined || to === undefined) return undefined;
  const parties = { token, from: addressIn(from), to: addressIn(to), operator: undefined, isCut: false };
  if (tokenId !== undefined)
    return data.length === 0
      ? { ...parties, standard: "ERC-721", amounts: [{ tokenId, value: 1n }] }
      : undefined;
  return data.length === WORD
    ? { ...parties, standard: "ERC-20", amounts: [{ tokenId: undefined, value: bytesToBigint(data) }] }
    : undefined;
}

function singleOf({ address: token, topics, data }: Log): TokenTransfer | undefined {
  const parties = partiesOf(topics);
  if (parties === undefined || data.length !== 2 * WORD) return undefined;
  const amounts = [{ tokenId: data.slice(0, WORD), value: bigintAt(data, WORD, 2 * WORD) }];
  return { token, standard: "ERC-1155", ...parties, amounts, isCut: false };
}

/** Reads two lists of equal length in the ABI's encoding: an offset to each, then its length and its words. */
function batchOf({ address: token, topics, data }: Log): TokenTransfer | undefined {
  const parties = partiesOf(topics);
  const ids = listAt(data, 0);
  const values = listAt(data, 1);
  if (parties === undefined || ids === undefined || values?.length !== ids.length) return undefined;
  const count = Math.min(ids.length, MAX_BATCH_AMOUNTS);
  const amounts = Array.from({ length: count }, (_, index) => ({
    tokenId: data.slice(ids.at + index * WORD, ids.at + (index + 1) * WORD),
    value: bigintAt(data, values.at + index * WORD, values.at + (index + 1) * WORD),
  }));
  return { token, standard: "ERC-1155", ...parties, amounts, isCut: count < ids.length };
}

function partiesOf(topics: Log["topics"]): Pick<TokenTransfer, "operator" | "from" | "to"> | undefined {
  const [, operator, from, to] = topics;
  if (operator === undefined || from === undefined || to === undefined) return undefined;
  return { operator: addressIn(operator), from: addressIn(from), to: addressIn(to) };
}

/** Where the words of a list lie, and how many there are; undefined unless all of them are within the data. */
function listAt(
  data: Uint8Array,
  parameter: number,
): { readonly at: number; readonly length: number } | undefined {
  const offset = numberAt(data, parameter * WORD);
  if (offset === undefined) return undefined;
  const length = numberAt(data, offset);
  if (length === undefined || offset + WORD + length * WORD > data.length) return undefined;
  return { at: offset + WORD, length };
}

/** A word as a number that can be a place in the data; undefined when it cannot, or lies beyond its end. */
function numberAt(data: Uint8Array, at: number): number | undefined {
  if (at + WORD > data.length) return undefined;
  const value = bigintAt(data, at, at + WORD);
  return value <= data.length ? Number(value) : undefined;
}

function addressIn(topic: Uint8Array): Address {
  return addressOfWord(bytesToBigint(topic));
}

function eventHash(signature: string): Uint8Array {
  return keccak256(new TextEncoder().encode(signature));
}

const WORD = 32;
const TRANSFER = eventHash("Transfer(address,address,uint256)");
const TRANSFER_SINGLE = eventHash("TransferSingle(address,address,address,uint256,uint256)");
const TRANSFER_BATCH = eventHash("TransferBatch(address,address,address,uint256[],uint256[])");
