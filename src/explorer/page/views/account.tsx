import { useMemo } from "preact/hooks";
import { activityIn, filterOf, queryOf } from "../chain/activity.ts";
import { accountPath, readAddress, withChecksum } from "../chain/addresses.ts";
import { useCoinSymbol } from "../chain/coin.ts";
import { call } from "../chain/connection.ts";
import { delegateIn } from "../chain/delegation.ts";
import { useLoaded, useLoadedAtHead } from "../chain/hooks.ts";
import { useKnownContract } from "../chain/knownContracts.ts";
import { tokenInfo } from "../chain/tokens.ts";
import { showBytes, showCoins, showNumber, showText } from "../format.ts";
import { AccountMark } from "../parts/accountMark.tsx";
import { Copy } from "../parts/copy.tsx";
import { AccountLink, TransactionLink } from "../parts/links.tsx";
import { NoAddress } from "../parts/noAddress.tsx";
import { Loading, Problem } from "../parts/notices.tsx";
import { Figure } from "../parts/panel.tsx";
import { TokenLink } from "../parts/token.tsx";
import type { ViewProps } from "../router.ts";
import { ActivityFilters } from "./account/filters.tsx";
import { AccountLogs } from "./account/logs.tsx";
import { AccountTokens } from "./account/tokens.tsx";
import { AccountTransactions } from "./account/transactions.tsx";
import { AccountTransfers } from "./account/transfers.tsx";
import { Contract } from "./contract/contract.tsx";

/** An account: what it has, what it did, and, of a contract, what it can do. */
export function AccountView({ route }: ViewProps) {
  const text = route.parts[1] ?? "";
  const reading = readAddress(text);
  if (reading.kind !== "address")
    return <NoAddress text={text} reading={reading} what="account" pathOf={accountPath} />;
  return <Account address={reading.address} route={route} />;
}

interface AccountInfo {
  readonly balance: string;
  readonly nonce: string;
  readonly code: string;
}

async function readAccount(address: string): Promise<AccountInfo> {
  const [balance, nonce, code] = await Promise.all([
    call<string>("eth_getBalance", [address, "latest"]),
    call<string>("eth_getTransactionCount", [address, "latest"]),
    call<string>("eth_getCode", [address, "latest"]),
  ]);
  return { balance, nonce, code };
}

function Account({ address, route }: ViewProps & { readonly address: string }) {
  const facts = useLoadedAtHead(() => readAccount(address), [address]);
  const known = useKnownContract(address);
  const { code = "0x" } = facts.value ?? {};
  const delegate = delegateIn(code);
  const hasCode = code !== "0x";
  const isContract = hasCode && delegate === undefined;
  const query = activityIn(route.query);
  const reading = filterOf(query);
  const filter = "filter" in reading ? reading.filter : {};
  // The lists render with their own answers, not with each block.
  const lists = useMemo(
    () => (
      <>
        {hasCode && <Contract address={address} />}
        <ActivityFilters
          address={address}
          query={query}
          problem={"problem" in reading ? reading.problem : undefined}
          key={queryOf(query)}
        />
        <AccountTransactions address={address} route={route} filter={filter} />
        <AccountTokens address={address} />
        <AccountTransfers address={address} route={route} filter={filter} />
        {hasCode && <AccountLogs address={address} filter={filter} />}
      </>
    ),
    [address, route, hasCode],
  );
  return (
    <article class="page">
      <header class="title">
        <p class="kicker">{isContract ? "Contract" : "Account"}</p>
        <h1 class="long">
          <AccountMark address={address} />
          {known !== undefined && <span>{showText(known.name, 60)} </span>}
          <span class="hex">{withChecksum(address)}</span>{" "}
          <Copy text={withChecksum(address)} what="the address" />
        </h1>
        {isContract && <Creator address={address} />}
        {isContract && <TokenOf address={address} />}
        {delegate !== undefined && (
          <p class="note">
            runs the code of <AccountLink address={delegate} isWhole /> (EIP-7702)
          </p>
        )}
      </header>
      {facts.error !== undefined && <Problem error={facts.error} />}
      {facts.value === undefined && facts.error === undefined && <Loading />}
      {facts.value !== undefined && <Facts {...facts.value} isContract={isContract} />}
      {lists}
    </article>
  );
}

function Facts({ balance, nonce, code, isContract }: AccountInfo & { readonly isContract: boolean }) {
  const symbol = useCoinSymbol();
  return (
    <dl class="figures">
      <Figure name="Balance" note={symbol}>
        {showCoins(balance)}
      </Figure>
      <Figure name="Nonce" note={`of its next ${isContract ? "creation" : "transaction"}`}>
        {showNumber(Number(nonce))}
      </Figure>
      {isContract && (
        <Figure name="Code" note="at the head">
          {showBytes((code.length - 2) / 2)}
        </Figure>
      )}
    </dl>
  );
}

/** Link to the page of the token, if the contract is one. */
function TokenOf({ address }: { readonly address: string }) {
  const { value } = useLoaded(() => tokenInfo(address), [address]);
  if (value === undefined || value === null) return null;
  return (
    <p class="note">
      {value.standard} token <TokenLink address={address} />
    </p>
  );
}

interface ContractCreator {
  readonly hash: string;
  readonly creator: string;
}

/** Creator of a contract, which is known if the index by address is on. */
function Creator({ address }: { readonly address: string }) {
  const { value } = useLoaded(
    () => call<ContractCreator | null>("ots_getContractCreator", [address]),
    [address],
  );
  if (value === undefined || value === null) return null;
  return (
    <p class="note">
      created by <TransactionLink hash={value.hash} />
    </p>
  );
}
