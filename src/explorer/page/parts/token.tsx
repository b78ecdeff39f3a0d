import { useRef } from "preact/hooks";
import { tokenPath, withChecksum } from "../chain/addresses.ts";
import { type Loaded, useLoaded } from "../chain/hooks.ts";
import { useHeight } from "../chain/recentBlocks.ts";
import { tokenIdPath } from "../chain/tokenIds.ts";
import { decimalsOf, type TokenInfo, tokenInfo } from "../chain/tokens.ts";
import { showAmount, showShortHex, showText } from "../format.ts";
import { AccountMark } from "./accountMark.tsx";

/** Number of blocks with each of which a token that the node does not know yet is asked for again. */
const MOST_ATTEMPTS = 60;

/** The description of a token that has transfers. The node's index may know it only some blocks later. */
export function useTokenInfo(address: string): Loaded<TokenInfo | null> {
  const height = useHeight();
  const attempts = useRef(0);
  const isKnown = useRef(false);
  const mayAskAgain = !isKnown.current && attempts.current < MOST_ATTEMPTS;
  const load = (): Promise<TokenInfo | null> => {
    attempts.current++;
    return tokenInfo(address);
  };
  const info = useLoaded(load, [address, mayAskAgain ? height : undefined]);
  isKnown.current = info.value !== undefined && info.value !== null;
  return info;
}

/** The name that a token gives itself, as text from the chain. */
function tokenName(facts: TokenInfo | null | undefined, address: string): string {
  const name = showText(facts?.symbol ?? facts?.name ?? "", 24).trim();
  return name === "" ? showShortHex(withChecksum(address)) : name;
}

export function TokenLink({ address }: { readonly address: string }) {
  const facts = useTokenInfo(address);
  return (
    <a class="account" href={tokenPath(address)} title={withChecksum(address)}>
      <AccountMark address={address} />
      <span>
        <bdi>{tokenName(facts.value, address)}</bdi>
      </span>
    </a>
  );
}

/** An amount of a token, with its decimals; for a non-fungible token, its id. */
export function TokenAmount({
  token,
  tokenId,
  value,
}: {
  readonly token: string;
  readonly tokenId: string | null;
  readonly value: string | null;
}) {
  const facts = useTokenInfo(token);
  if (value === null) return <span class="note">no answer</span>;
  const isOneOfAKind = facts.value?.standard === "ERC-721";
  return (
    <span>
      {!isOneOfAKind && <CutNumber text={showAmount(BigInt(value), decimalsOf(facts.value))} />}
      {tokenId !== null && (
        <span class="note">
          {" "}
          <a href={tokenIdPath(token, BigInt(tokenId))}>
            № <CutNumber text={BigInt(tokenId).toString()} />
          </a>
        </span>
      )}
    </span>
  );
}

/** Most digits shown of a number: contracts answer up to 78, with 255 decimals. */
const SHOWN_DIGITS = 32;

/** A number from the chain, shortened if it is very long; the whole one is in the title. */
export function CutNumber({ text }: { readonly text: string }) {
  return text.length <= SHOWN_DIGITS ? <>{text}</> : <span title={text}>{showText(text, SHOWN_DIGITS)}</span>;
}
