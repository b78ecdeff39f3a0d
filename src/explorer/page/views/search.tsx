import { useEffect } from "preact/hooks";
import { accountPath, readAddress, withChecksum } from "../chain/addresses.ts";
import { call } from "../chain/connection.ts";
import { useLoaded } from "../chain/hooks.ts";
import { contractsNamed } from "../chain/knownContracts.ts";
import { showText } from "../format.ts";
import { AccountLink } from "../parts/links.tsx";
import { Loading, Problem } from "../parts/notices.tsx";
import { OldBlocksNote } from "../parts/oldBlocks.tsx";
import type { ViewProps } from "../router.ts";
import { replace } from "../router.ts";

/** Redirects to the object of the search: a block, a transaction, an account, or a contract that the visitor has named. */
export function SearchView({ route }: ViewProps) {
  const text = (route.query.get("q") ?? "").trim();
  const found = useLoaded(() => pathOf(text), [text]);
  useEffect(() => {
    if (found.value !== undefined && found.value !== null) replace(found.value);
  }, [found.value]);
  if (found.error !== undefined) return <Problem error={found.error} />;
  if (found.isLoading || found.value !== null) return <Loading />;
  const named = text === "" ? [] : contractsNamed(text);
  return (
    <article class="page narrow">
      <h1>{named.length > 0 ? "Contracts" : "Nothing found"}</h1>
      {named.map(({ address, name }) => (
        <p key={address}>
          <AccountLink address={address}>{showText(name, 60)}</AccountLink>{" "}
          <span class="note hex">{withChecksum(address)}</span>
        </p>
      ))}
      {named.length === 0 && (
        <p>
          <code>{showText(text, 100)}</code> is neither a block, a transaction nor an account of this chain,
          nor part of the name of a contract that you have described here.
        </p>
      )}
      {HASH.test(text) && <OldBlocksNote wanted={text} what="an older block, or a transaction of one," />}
    </article>
  );
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
