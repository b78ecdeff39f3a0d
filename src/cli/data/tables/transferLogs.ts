import type { LogRow } from "./rows.ts";

/** Topic of Transfer(address,address,uint256), which ERC-20 and ERC-721 share. */
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/** A log of a token's transfer. Addresses and value are hexadecimal. */
export interface TokenTransfer {
  readonly log: LogRow;
  readonly from: string;
  readonly to: string;
  /** Amount of an ERC-20 token, or number of an ERC-721 token. */
  readonly value: string;
}

/** The transfer in a log with the indexed values of standard ERC-20 tokens; undefined for other logs. */
export function erc20Transfer(log: LogRow): TokenTransfer | undefined {
  return log.topics.length === 3 ? transferOf(log) : undefined;
}

/** The transfer in a log, whichever of its three values are indexed; undefined for other logs. */
export function transferOf(log: LogRow): TokenTransfer | undefined {
  const { data } = log.log;
  if (log.topics[0] !== TRANSFER || typeof data !== "string" || (data.length - 2) % 64 !== 0)
    return undefined;
  const words = [...log.topics.slice(1), ...wordsOf(data)];
  const [from, to, value] = words;
  if (words.length !== 3 || typeof from !== "string" || typeof to !== "string" || typeof value !== "string")
    return undefined;
  return { log, from: addressIn(from), to: addressIn(to), value };
}

function wordsOf(data: string): readonly string[] {
  // A transfer has three words at most; a longer log is not one.
  if (data.length > 2 + 3 * 64) return ["", "", "", ""];
  return Array.from(
    { length: (data.length - 2) / 64 },
    (_, index) => `0x${data.slice(2 + 64 * index, 66 + 64 * index)}`,
  );
}

function addressIn(word: string): string {
  return `0x${word.slice(-40)}`;
}
