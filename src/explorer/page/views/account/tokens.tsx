import { call } from "../../chain/connection.ts";
import { useLoaded } from "../../chain/hooks.ts";
import type { ListPage, TokenHolding } from "../../chain/tokens.ts";
import { Panel } from "../../parts/panel.tsx";
import { TokenAmount, TokenLink } from "../../parts/token.tsx";

/** Tokens that the account holds; absent if it holds none, or the index is off. */
export function AccountTokens({ address }: { readonly address: string }) {
  const found = useLoaded(
    () => call<ListPage<TokenHolding>>("explorer_getTokensOf", [address, { size: 100 }]),
    [address],
  );
  const { items, next } = found.value ?? { items: [], next: null };
  if (items.length === 0) return null;
  return (
    <Panel title="Tokens" aside={next === null ? undefined : "the first 100"}>
      <ul class="tokens">
        {items.map(({ token, tokenId, balance }) => (
          <li key={`${token}.${tokenId}`}>
            <TokenLink address={token} />
            <TokenAmount token={token} tokenId={tokenId} value={balance} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
