import { useEffect } from "preact/hooks";
import { accountPath, readAddress, withChecksum } from "../chain/addresses.ts";
import { call } from "../chain/connection.ts";
import { useLoaded } from "../chain/hooks.ts";
import { contractsNamed } from "../chain/knownContracts.ts";
import type { TokenEntry, TokenList } from "../chain/tokens.ts";
import { showText } from "../format.ts";
import { AccountLink } from "../parts/links.tsx";
import { Loading, Problem } from "../parts/notices.tsx";
import { OldBlocksNote } from "../parts/oldBlocks.tsx";
import { Panel } from "../parts/panel.tsx";
import type { ViewProps } from "../router.ts";
import { replace } from "../router.ts";
import { TokenTable } from "./tokens.tsx";

/** Tokens shown of those that have the text in a name. */
const TOKENS = 10;
/** Most characters of a name that the node looks for. */
const LONGEST_NAME = 64;

/**
 * Redirects to the object of the search: a block, a transaction or an account; or lists contracts that the visitor has named,
 * and tokens by their own names.
 */
export function SearchView({ route }: ViewProps) {
  const text = (route.query.get("q") ?? "").trim();
  const found = useLoaded(() => find(text), [text]);
  const { value } = found;
  useEffect(() => {
    if (value !== undefined && "path" in value) replace(value.path);
  }, [value]);
  if (found.error !== undefined) return <Problem error={found.error} />;
  if (found.isLoading || value === undefined || "path" in value) return <Loading />;
  const named = text === "" ? [] : contractsNamed(text);
  const isFound = named.length + value.tokens.length > 0;
  return (
    <article class={`page ${value.tokens.length > 0 ? "" : "narrow"}`}>
      <h1>{isFound ? `“${showText(text, 60)}”` : "Nothing found"}</h1>
      {named.length > 0 && (
        <Panel title="Contracts that you have described">
          {named.map(({ address, name }) => (
            <p key={address}>
              <AccountLink address={address}>{showText(name, 60)}</AccountLink>{" "}
              <span class="note hex">{withChecksum(address)}</span>
            </p>
          ))}
        </Panel>
      )}
      {value.tokens.length > 0 && (
        <Panel title="Tokens" aside={<a href={`/tokens?q=${encodeURIComponent(text)}`}>All of them</a>}>
          <TokenTable tokens={value.tokens} />
        </Panel>
      )}
      {!isFound && (
        <p>
          <code>{showText(text, 100)}</code> is neither a block, a transaction nor an account of this chain,
          nor part of the name of a token, or of a contract that you have described here.
        </p>
      )}
      {HASH.test(text) && <OldBlocksNote wanted={text} what="an older block, or a transaction of one," />}
    </article>
  );
}

/** The path of what the text names, or the tokens that have it in a name. */
type Found = { readonly path: string } | { readonly tokens: readonly TokenEntry[] };

async function find(text: string): Promise<Found> {
  const path = await pathOf(text);
  if (path !== null) return { path };
  if (text === "" || text.length > LONGEST_NAME || HASH.test(text)) return { tokens: [] };
  try {
    const { items } = await call<TokenList>("explorer_getTokens", [{ size: TOKENS }, text]);
    return { tokens: items };
  } catch {
    // The node keeps no index.
    return { tokens: [] };
  }
}

const HASH = /^(?:0x)?([0-9a-f]{64})$/i;

async function pathOf(text: string): Promise<string | null> {
  if (/^[\d,.'\s]{1,20}$/.test(text)) return `/block/${text.replace(/\D/g, "")}`;
  const reading = readAddress(text);
  if (reading.kind === "address") return accountPath(reading.address);
  // The page of the address says what is wrong.
  if (reading.kind === "mistyped") return `/address/${text}`;
  const [, digits] = HASH.exec(text) ?? [];
  if (digits === undefined) return null;
  const hash = `0x${digits.toLowerCase()}`;
  const [transaction, block] = await Promise.all([
    call<object | null>("eth_getTransactionByHash", [hash]),
    call<object | null>("eth_getBlockByHash", [hash, false]),
  ]);
  if (transaction !== null) return `/tx/${hash}`;
  return block === null ? null : `/block/${hash}`;
}
