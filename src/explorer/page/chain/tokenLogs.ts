import type { TokenStandard, TokenTransfer } from "./tokens.ts";
import type { Log } from "./types.ts";

/** A transfer of tokens in a log: the parts that need no index. */
export type LoggedTransfer = Pick<TokenTransfer, "token" | "standard" | "from" | "to" | "amounts" | "isCut">;

/** Most amounts read from one batch. */
const MOST_AMOUNTS = 100;

/** Transfer(address,address,uint256), TransferSingle and TransferBatch of ERC-1155. */
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const SINGLE = "0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62";
const BATCH = "0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb";

/** Bytes of a word. */
const WORD = 32;

/**
 * The transfer in a log; undefined when its form is not that of a standard. The index recognises the same logs
 * (src/accounts/tokenTransfers.ts).
 */
export function transferIn({ address: token, topics, data }: Log): LoggedTransfer | undefined {
  const [event, ...indexed] = topics;
  if (event === TRANSFER) return transferOf(token, indexed, data);
  if (event !== SINGLE && event !== BATCH) return undefined;
  const [, from, to] = indexed;
  const moved = event === SINGLE ? singleOf(data) : batchOf(data);
  if (from === undefined || to === undefined || moved === undefined) return undefined;
  return { ...aTransfer(token, "ERC-1155", from, to), ...moved };
}

/** Reads a transfer of ERC-20 or ERC-721, which has the last parameter of ERC-20's event among the topics. */
function transferOf(
  token: string,
  [from, to, tokenId]: readonly string[],
  data: string,
): LoggedTransfer | undefined {
  if (from === undefined || to === undefined) return undefined;
  if (tokenId !== undefined)
    return lengthOf(data) === 0
      ? { ...aTransfer(token, "ERC-721", from, to), amounts: [{ tokenId, value: "0x1" }] }
      : undefined;
  return lengthOf(data) === WORD
    ? { ...aTransfer(token, "ERC-20", from, to), amounts: [{ tokenId: null, value: wordAt(data, 0) }] }
    : undefined;
}

function aTransfer(token: string, standard: TokenStandard, from: string, to: string) {
  return { token, standard, from: addressIn(from), to: addressIn(to), isCut: false };
}

type Moved = Pick<LoggedTransfer, "amounts" | "isCut">;

function singleOf(data: string): Moved | undefined {
  if (lengthOf(data) !== 2 * WORD) return undefined;
  return { amounts: [{ tokenId: wordAt(data, 0), value: wordAt(data, WORD) }], isCut: false };
}

/** Reads two lists of equal length in the ABI's encoding: an offset to each, then its length and its words. */
function batchOf(data: string): Moved | undefined {
  const ids = listAt(data, 0);
  const values = listAt(data, 1);
  if (ids === undefined || values?.length !== ids.length) return undefined;
  const count = Math.min(ids.length, MOST_AMOUNTS);
  const amounts = Array.from({ length: count }, (_, index) => ({
    tokenId: wordAt(data, ids.at + index * WORD),
    value: wordAt(data, values.at + index * WORD),
  }));
  return { amounts, isCut: count < ids.length };
}

/** Where the words of a list lie, and how many there are; undefined unless all of them are within the data. */
function listAt(
  data: string,
  parameter: number,
): { readonly at: number; readonly length: number } | undefined {
  const offset = numberAt(data, parameter * WORD);
  const length = offset === undefined ? undefined : numberAt(data, offset);
  if (offset === undefined || length === undefined) return undefined;
  const at = offset + WORD;
  return at + length * WORD > lengthOf(data) ? undefined : { at, length };
}

/** A word as a number that can be a place in the data; undefined when it cannot, or lies beyond its end. */
function numberAt(data: string, at: number): number | undefined {
  if (at + WORD > lengthOf(data)) return undefined;
  const value = Number(wordAt(data, at));
  return value <= lengthOf(data) ? value : undefined;
}

/** Number of bytes in hexadecimal text. */
function lengthOf(data: string): number {
  return (data.length - 2) / 2;
}

function wordAt(data: string, at: number): string {
  return `0x${data.slice(2 + 2 * at, 2 + 2 * (at + WORD))}`;
}

function addressIn(word: string): string {
  return `0x${word.slice(-40)}`;
}
