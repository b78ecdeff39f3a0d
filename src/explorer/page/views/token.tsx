import type { ViewProps } from "../app.tsx";
import { call } from "../chain/connection.ts";
import { useLoaded } from "../chain/hooks.ts";
import { type ListPage, type TokenFacts, type TokenTransfer, tokenFacts } from "../chain/tokens.ts";
import { showAmount, showText } from "../format.ts";
import { AccountMark } from "../parts/accountMark.tsx";
import { AccountLink } from "../parts/links.tsx";
import { Empty, IndexProblem, Loading } from "../parts/notices.tsx";
import { Pager } from "../parts/pager.tsx";
import { Figure, Panel } from "../parts/panel.tsx";
import { TokenAmount, tokenName } from "../parts/token.tsx";
import { TransferTable } from "../parts/transferTable.tsx";
import type { Route } from "../router.ts";

/** A token: what it says of itself, its transfers, and who holds it. */
export function TokenView({ route }: ViewProps) {
  const address = (route.parts[1] ?? "").toLowerCase();
  const facts = useLoaded(
    () => (/^0x[0-9a-f]{40}$/.test(address) ? tokenFacts(address) : Promise.resolve(null)),
    [address],
  );
  if (facts.error !== undefined)
    return (
      <article class="page narrow">
        <h1>Token</h1>
        <IndexProblem error={facts.error} />
      </article>
    );
  if (facts.value === undefined) return <Loading />;
  if (facts.value === null) return <NoToken address={address} />;
  return (
    <article class="page">
      <header class="title">
        <p class="kicker">{facts.value.standard} token</p>
        <h1>
          <AccountMark address={address} />
          <bdi>
            {facts.value.name === null ? tokenName(facts.value, address) : showText(facts.value.name, 64)}
          </bdi>
        </h1>
        <p class="note">
          Its names are what the contract says. The contract: <AccountLink address={address} isWhole />
        </p>
      </header>
      <Facts facts={facts.value} />
      <Transfers address={address} route={route} />
      <Holders address={address} route={route} />
    </article>
  );
}

function NoToken({ address }: { readonly address: string }) {
  return (
    <article class="page narrow">
      <h1>No such token</h1>
      <p>
        No transfer of a token has come from <code>{showText(address, 80)}</code>.
      </p>
    </article>
  );
}

function Facts({ facts: { symbol, decimals, totalSupply } }: { readonly facts: TokenFacts }) {
  const places = Math.min(255, Number(decimals ?? 0));
  return (
    <dl class="figures">
      <Figure name="Symbol">{symbol === null ? "–" : <bdi>{showText(symbol, 32)}</bdi>}</Figure>
      <Figure name="Supply">{totalSupply === null ? "–" : showAmount(BigInt(totalSupply), places)}</Figure>
      <Figure name="Decimals">{decimals === null ? "–" : places}</Figure>
    </dl>
  );
}

function Transfers({ address, route }: { readonly address: string; readonly route: Route }) {
  const cursor = route.query.get("transfers");
  const found = useLoaded(
    () => call<ListPage<TokenTransfer>>("explorer_getTransfersOfToken", [address, { size: 25, cursor }]),
    [address, cursor],
  );
  if (found.value === undefined) return null;
  const { items, next } = found.value;
  const path = `/token/${address}`;
  return (
    <Panel title="Transfers">
      {items.length === 0 ? (
        <Empty>No transfers on this page.</Empty>
      ) : (
        <TransferTable
          transfers={items}
          caption="Transfers of the token, the newest first"
          hasToken={false}
        />
      )}
      <Pager
        newer={cursor === null ? undefined : path}
        older={next === null ? undefined : `${path}?transfers=${encodeURIComponent(next)}`}
        names={["Newest", "Older"]}
      />
    </Panel>
  );
}

interface Holding {
  readonly holder: string;
  readonly tokenId: string | null;
  readonly balance: string | null;
}

function Holders({ address, route }: { readonly address: string; readonly route: Route }) {
  const cursor = route.query.get("holders");
  const found = useLoaded(
    () => call<ListPage<Holding>>("explorer_getTokenHolders", [address, { size: 50, cursor }]),
    [address, cursor],
  );
  if (found.value === undefined) return null;
  const { items, next } = found.value;
  const path = `/token/${address}`;
  return (
    <Panel title="Holders" aside="in the order of their addresses">
      {items.length === 0 && <Empty>Nobody holds it on this page.</Empty>}
      <ul class="tokens">
        {items.map(({ holder, tokenId, balance }) => (
          <li key={`${holder}.${tokenId}`}>
            <AccountLink address={holder} />
            <TokenAmount token={address} tokenId={tokenId} value={balance} />
          </li>
        ))}
      </ul>
      <Pager
        newer={cursor === null ? undefined : path}
        older={next === null ? undefined : `${path}?holders=${encodeURIComponent(next)}`}
        names={["First", "Next"]}
      />
    </Panel>
  );
}
