import { useState } from "preact/hooks";
import { call } from "../chain/connection.ts";
import { coverageOf } from "../chain/coverage.ts";
import { useLoaded } from "../chain/hooks.ts";
import { decimalsOf, type TokenEntry, type TokenList } from "../chain/tokens.ts";
import { showAmount, showNumber, showText } from "../format.ts";
import { BlockLink } from "../parts/links.tsx";
import { Empty, IndexProblem, Loading } from "../parts/notices.tsx";
import { CursorPager } from "../parts/pager.tsx";
import { Panel } from "../parts/panel.tsx";
import { Sideways } from "../parts/sideways.tsx";
import { CutNumber, TokenLink, useTokenInfo } from "../parts/token.tsx";
import { navigate, type ViewProps } from "../router.ts";

const PAGE = 25;
/** Most characters of a sought name, as the node takes. */
const LONGEST = 64;
/** Most characters shown of a name, which contracts choose. */
const NAME = 32;

/** The tokens of the chain, the most moved ones first; with a part of a name those that have it. */
export function TokensView({ route }: ViewProps) {
  const text = (route.query.get("q") ?? "").slice(0, LONGEST);
  const cursor = route.query.get("from");
  const { value, error } = useLoaded(
    () => call<TokenList>("explorer_getTokens", [{ size: PAGE, cursor }, text]),
    [text, cursor],
  );
  return (
    <article class="page">
      <h1>Tokens</h1>
      <TokenSearch text={text} key={text} />
      {error !== undefined && <IndexProblem error={error} />}
      {value === undefined && error === undefined && <Loading />}
      {value !== undefined && (
        <Panel
          title={text === "" ? "The most moved tokens" : `Tokens named “${showText(text, NAME)}”`}
          aside={coverageOf(value)}
        >
          {value.items.length === 0 ? (
            <Empty>{text === "" ? "No token has moved yet." : "No token has this in its name."}</Empty>
          ) : (
            <TokenTable tokens={value.items} />
          )}
          {value.isCut && (
            <p class="note after">There are more than 10,000 tokens; these are among the first by address.</p>
          )}
          <CursorPager
            path={pathOf(text)}
            parameter="from"
            cursor={cursor}
            next={value.next}
            names={["First", "Next"]}
          />
        </Panel>
      )}
    </article>
  );
}

function pathOf(text: string): string {
  return text === "" ? "/tokens" : `/tokens?q=${encodeURIComponent(text)}`;
}

function TokenSearch({ text }: { readonly text: string }) {
  const [sought, setSought] = useState(text);
  const submit = (event: Event): void => {
    event.preventDefault();
    navigate(pathOf(sought.trim()));
  };
  return (
    <form class="search wide" onSubmit={submit}>
      <input
        type="search"
        aria-label="Search tokens by name or symbol"
        placeholder="Name or symbol"
        autocomplete="off"
        spellcheck={false}
        maxLength={LONGEST}
        value={sought}
        onInput={({ currentTarget }) => setSought(currentTarget.value)}
      />
    </form>
  );
}

export function TokenTable({ tokens }: { readonly tokens: readonly TokenEntry[] }) {
  return (
    <Sideways>
      <table>
        <caption class="hidden">Tokens, the most moved ones first</caption>
        <thead>
          <tr>
            <th scope="col">Token</th>
            <th scope="col">Name</th>
            <th scope="col">Standard</th>
            <th scope="col" class="number">
              Transfers
            </th>
            <th scope="col" class="number">
              Holders so far
            </th>
            <th scope="col" class="number">
              Supply
            </th>
            <th scope="col" class="number">
              Last moved
            </th>
          </tr>
        </thead>
        <tbody>
          {tokens.map((one) => (
            <Row key={one.token} entry={one} />
          ))}
        </tbody>
      </table>
    </Sideways>
  );
}

function Row({ entry }: { readonly entry: TokenEntry }) {
  const { token, name, standard, transfers, accounts, hasMoreAccounts, lastBlock } = entry;
  return (
    <tr>
      <td>
        <TokenLink address={token} />
      </td>
      <td>
        <bdi>{showText(name ?? "", NAME)}</bdi>
      </td>
      <td>{standard}</td>
      <td class="number">{showNumber(Number(transfers))}</td>
      <td class="number">
        {showNumber(Number(accounts))}
        {hasMoreAccounts && "+"}
      </td>
      <td class="number">
        <Supply token={token} />
      </td>
      <td class="number">
        <BlockLink number={Number(lastBlock)} />
      </td>
    </tr>
  );
}

/** What the contract says of its supply at the head. */
function Supply({ token }: { readonly token: string }) {
  const { value } = useTokenInfo(token);
  const supply = value?.totalSupply;
  if (supply === undefined || supply === null) return <>–</>;
  return <CutNumber text={showAmount(BigInt(supply), decimalsOf(value))} />;
}
