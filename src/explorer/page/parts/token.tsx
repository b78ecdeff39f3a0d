import { useLoaded } from "../chain/hooks.ts";
import { type TokenFacts, tokenFacts } from "../chain/tokens.ts";
import { showAmount, showShortHex, showText } from "../format.ts";
import { AccountMark } from "./accountMark.tsx";

/** The name that a token gives itself, as text of the chain. */
export function tokenName(facts: TokenFacts | null | undefined, address: string): string {
  const name = showText(facts?.symbol ?? facts?.name ?? "", 24).trim();
  return name === "" ? showShortHex(address) : name;
}

export function TokenLink({ address }: { readonly address: string }) {
  const facts = useLoaded(() => tokenFacts(address), [address]);
  return (
    <a class="account" href={`/token/${address}`} title={address}>
      <AccountMark address={address} />
      <span>
        <bdi>{tokenName(facts.value, address)}</bdi>
      </span>
    </a>
  );
}

/** An amount of a token, in its decimals; of a token that is one of a kind, its number. */
export function TokenAmount({
  token,
  tokenId,
  value,
}: {
  readonly token: string;
  readonly tokenId: string | null;
  readonly value: string | null;
}) {
  const facts = useLoaded(() => tokenFacts(token), [token]);
  if (value === null) return <span class="note">no answer</span>;
  const decimals = Math.min(255, Number(facts.value?.decimals ?? 0));
  const isOneOfAKind = facts.value?.standard === "ERC-721";
  return (
    <span>
      {!isOneOfAKind && showAmount(BigInt(value), decimals)}
      {tokenId !== null && <span class="note"> № {showText(BigInt(tokenId).toString(), 24)}</span>}
    </span>
  );
}
