import { readAddress, tokenPath, withChecksum } from "../chain/addresses.ts";
import { call } from "../chain/connection.ts";
import { useLoaded, useLoadedAtHead } from "../chain/hooks.ts";
import type { IndexStatus } from "../chain/nodeStatus.ts";
import { readTokenId } from "../chain/tokenIds.ts";
import { decimalsOf, type TokenInfo } from "../chain/tokens.ts";
import { showAmount, showNumber, showText } from "../format.ts";
import { AccountMark } from "../parts/accountMark.tsx";
import { Copy } from "../parts/copy.tsx";
import { AccountLink } from "../parts/links.tsx";
import { NoAddress } from "../parts/noAddress.tsx";
import { IndexProblem, Loading } from "../parts/notices.tsx";
import { Figure } from "../parts/panel.tsx";
import { CutNumber } from "../parts/token.tsx";
import type { ViewProps } from "../router.ts";
import { TokenHolders } from "./token/holders.tsx";
import { TokenIdView } from "./token/tokenId.tsx";
import { TokenTransfers } from "./token/transfers.tsx";

/** Most characters of a name and of a symbol, which contracts choose. */
const NAME = 64;
const SYMBOL = 24;

/**
 * A token: its contract's description and its transfers; at /token/…/holders its holders, and at /token/…/id/… one of its
 * ids.
 */
export function TokenView({ route }: ViewProps) {
  const text = route.parts[1] ?? "";
  const reading = readAddress(text);
  if (reading.kind !== "address")
    return <NoAddress text={text} reading={reading} what="token" pathOf={tokenPath} />;
  return <Token address={reading.address} route={route} />;
}

function Token({ address, route }: ViewProps & { readonly address: string }) {
  const facts = useLoadedAtHead(() => call<TokenInfo | null>("explorer_getToken", [address]), [address]);
  const { value, error } = facts;
  if (value === undefined || value === null)
    return (
      <article class="page narrow">
        <h1>{value === null ? "No token" : "Token"}</h1>
        {error !== undefined && <IndexProblem error={error} />}
        {value === undefined && error === undefined && <Loading />}
        {value === null && <NoToken address={address} />}
      </article>
    );
  const [, , tab, number = ""] = route.parts;
  const id = tab === "id" && value.standard !== "ERC-20" ? readTokenId(number) : undefined;
  if (id !== undefined) return <TokenIdView address={address} facts={value} id={id} route={route} />;
  return (
    <article class="page">
      <Title address={address} facts={value} />
      <Facts facts={value} />
      <Tabs address={address} current={tab} />
      {tab === "holders" ? (
        <TokenHolders address={address} facts={value} route={route} />
      ) : (
        <TokenTransfers address={address} route={route} />
      )}
    </article>
  );
}

/** Shown when the index does not know the token, which may be because it lags behind. */
function NoToken({ address }: { readonly address: string }) {
  const index = useLoaded(() => call<IndexStatus>("explorer_getIndexStatus"), [address]);
  return (
    <>
      <p>
        <AccountLink address={address} isWhole /> has moved no tokens, as far as the node knows.
      </p>
      {index.value?.isCatchingUp && (
        <p class="muted">
          Its index by address is at block {showNumber(Number(index.value.lastBlock ?? 0))} of{" "}
          {showNumber(Number(index.value.headBlock))}.
        </p>
      )}
    </>
  );
}

function Title({ address, facts }: { readonly address: string; readonly facts: TokenInfo }) {
  const name = showText(facts.name ?? "", NAME).trim();
  const symbol = showText(facts.symbol ?? "", SYMBOL).trim();
  return (
    <header class="title">
      <p class="kicker">Token</p>
      <h1 class="token-name">
        <AccountMark address={address} />
        <bdi>{name === "" ? "Without a name" : name}</bdi>
        {symbol !== "" && <bdi class="symbol">{symbol}</bdi>}
      </h1>
      <p class="token-contract">
        <AccountLink address={address} isWhole /> <Copy text={withChecksum(address)} what="the address" />
      </p>
      <p class="note">The contract chose these names. Only its address tells it from another token.</p>
    </header>
  );
}

function Facts({ facts }: { readonly facts: TokenInfo }) {
  const { standard, totalSupply, decimals } = facts;
  const unit = standard === "ERC-20" ? "in whole tokens" : "tokens";
  return (
    <dl class="figures">
      <Figure name="Supply" note={totalSupply === null ? "the contract tells none" : unit}>
        {totalSupply === null ? "–" : <CutNumber text={showAmount(BigInt(totalSupply), decimalsOf(facts))} />}
      </Figure>
      {standard === "ERC-20" && (
        <Figure name="Decimals" note={decimals === null ? "the contract tells none" : "of a token"}>
          {decimals === null ? "–" : <CutNumber text={BigInt(decimals).toString()} />}
        </Figure>
      )}
      <Figure name="Standard" note="by its transfers">
        {standard}
      </Figure>
    </dl>
  );
}

function Tabs({ address, current }: { readonly address: string; readonly current: string | undefined }) {
  const path = tokenPath(address);
  const isHolders = current === "holders";
  return (
    <nav class="tabs" aria-label="Of this token">
      <a href={path} aria-current={isHolders ? undefined : "page"}>
        Transfers
      </a>
      <a href={`${path}/holders`} aria-current={isHolders ? "page" : undefined}>
        Holders
      </a>
    </nav>
  );
}
