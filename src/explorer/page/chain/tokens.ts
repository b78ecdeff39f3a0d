import { call } from "./connection.ts";

/** Answers of explorer_* (docs/explorer-api.md). */

export type TokenStandard = "ERC-20" | "ERC-721" | "ERC-1155";

/** A page of a list. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
  /** The oldest block that the index covers. */
  readonly firstBlock: string | null;
}

export interface TokenInfo {
  readonly standard: TokenStandard;
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: string | number | null;
  readonly totalSupply: string | null;
}

/** A token in the list of all (explorer_getTokens). */
export interface TokenEntry {
  readonly token: string;
  readonly standard: TokenStandard;
  readonly name: string | null;
  readonly symbol: string | null;
  readonly transfers: string;
  /** Accounts that its transfers named. */
  readonly accounts: string;
  readonly hasMoreAccounts: boolean;
  readonly lastBlock: string;
}

export interface TokenList extends ListPage<TokenEntry> {
  /** Whether there are more tokens than the node looks at. */
  readonly isCut: boolean;
}

export interface TokenTransfer {
  readonly timestamp: string;
  readonly transactionHash: string;
  readonly logIndex: string;
  readonly token: string;
  readonly standard: TokenStandard;
  readonly from: string;
  readonly to: string;
  readonly amounts: readonly { readonly tokenId: string | null; readonly value: string }[];
  readonly isCut: boolean;
}

export interface TokenHolding {
  readonly token: string;
  readonly tokenId: string | null;
  readonly balance: string | null;
}

export interface TokenHolder {
  readonly holder: string;
  readonly tokenId: string | null;
  readonly balance: string | null;
}

/** The decimals of a token; zero when it names none, or more than the standard's byte can hold. */
export function decimalsOf(facts: TokenInfo | null | undefined): number {
  const decimals = Number(facts?.decimals ?? 0);
  return decimals <= 255 ? decimals : 0;
}

const known = new Map<string, Promise<TokenInfo | null>>();
/** Time for which it is remembered that the node does not know a contract as a token: a file of its transfers asks for each row. */
const UNKNOWN_MS = 500;

/**
 * The description of a token, requested once for each contract. Null for a contract that the node does not know as a token, which may
 * only be because its index is some blocks behind, so that it is requested again later.
 */
export function tokenInfo(address: string): Promise<TokenInfo | null> {
  const asked = known.get(address) ?? call<TokenInfo | null>("explorer_getToken", [address]);
  known.set(address, asked);
  const forget = (): void => void known.delete(address);
  asked.then((info) => info === null && setTimeout(forget, UNKNOWN_MS), forget);
  return asked;
}
