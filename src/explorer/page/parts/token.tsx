import { tokenPath, withChecksum } from "../chain/addresses.ts";
import { useLoaded } from "../chain/hooks.ts";
import { tokenIdPath } from "../chain/tokenIds.ts";
import { decimalsOf, type TokenInfo, tokenInfo } from "../chain/tokens.ts";
import { showAmount, showShortHex, showText } from "../format.ts";
import { AccountMark } from "./accountMark.tsx";

/** The name that a token gives itself, as text from the chain. */
function tokenName(facts: TokenInfo | null | undefined, address: string): string {
  const name = showText(facts?.symbol ?? facts?.name ?? "", 24).trim();
  return name === "" ? showShortHex(withChecksum(address)) : name;
}

export function TokenLink({ address }: { readonly address: string }) {
  const facts = useLoaded(() => tokenInfo(address), [address]);
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
  const facts = useLoaded(() => tokenInfo(token), [token]);
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
