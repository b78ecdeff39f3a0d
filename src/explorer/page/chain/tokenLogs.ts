import type { TokenStandard, TokenTransfer } from "./tokens.ts";
import type { Log } from "./types.ts";

/** A transfer of tokens as a log tells it, the parts that need no index. */
export type LoggedTransfer = Pick<TokenTransfer, "token" | "standard" | "from" | "to" | "amounts" | "isCut">;

/** Amounts of one batch that are read. */
const MOST_AMOUNTS = 100;

/** Transfer(address,address,uint256), TransferSingle and TransferBatch of ERC-1155. */
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const SINGLE = "0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62";
const BATCH = "0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb";

/** The transfer that a log tells of; undefined when its form is not that of a standard. The index reads logs alike. */
export function transferIn({ address: token, topics, data }: Log): LoggedTransfer | undefined {
  const words = wordsOf(data);
  const [event, ...indexed] = topics;
  if (event === TRANSFER) return transferOf(token, indexed, words);
  if (event !== SINGLE && event !== BATCH) return undefined;
  const [, from, to] = indexed;
  const amounts = event === SINGLE ? singleOf(words) : batchOf(words);
  if (from === undefined || to === undefined || amounts === undefined) return undefined;
  const isCut = amounts.length > MOST_AMOUNTS;
  return { ...aTransfer(token, "ERC-1155", from, to), amounts: amounts.slice(0, MOST_AMOUNTS), isCut };
}

/** ERC-721 has the last parameter of ERC-20's event among the topics. */
function transferOf(
  token: string,
  [from, to, tokenId]: readonly string[],
  words: readonly string[],
): LoggedTransfer | undefined {
  if (from === undefined || to === undefined) return undefined;
  const [value] = words;
  if (tokenId !== undefined)
    return value === undefined
      ? { ...aTransfer(token, "ERC-721", from, to), amounts: [{ tokenId, value: "0x1" }] }
      : undefined;
  return value !== undefined && words.length === 1
    ? { ...aTransfer(token, "ERC-20", from, to), amounts: [{ tokenId: null, value }] }
    : undefined;
}

function aTransfer(token: string, standard: TokenStandard, from: string, to: string) {
  return { token, standard, from: addressIn(from), to: addressIn(to), isCut: false };
}

function singleOf([tokenId, value, ...more]: readonly string[]): LoggedTransfer["amounts"] | undefined {
  return tokenId === undefined || value === undefined || more.length > 0 ? undefined : [{ tokenId, value }];
}

/** Two lists in the form of the ABI: an offset to each, then its length and its words. */
function batchOf(words: readonly string[]): LoggedTransfer["amounts"] | undefined {
  const ids = listAt(words, 0);
  const values = listAt(words, 1);
  if (ids === undefined || values?.length !== ids.length) return undefined;
  return ids.map((tokenId, index) => ({ tokenId, value: values[index] ?? "0x0" }));
}

function listAt(words: readonly string[], position: number): readonly string[] | undefined {
  const start = Number(words[position] ?? Number.NaN) / 32;
  const length = Number(words[start] ?? Number.NaN);
  const list = words.slice(start + 1, start + 1 + length);
  return list.length === length ? list : undefined;
}

function wordsOf(data: string): readonly string[] {
  return (data.slice(2).match(/.{64}/g) ?? []).map((word) => `0x${word}`);
}

function addressIn(word: string): string {
  return `0x${word.slice(-40)}`;
}
