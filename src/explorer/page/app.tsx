import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { call } from "./chain/connection.ts";
import { faucetTerms } from "./chain/faucet.ts";
import { useLoaded } from "./chain/hooks.ts";
import { showShortHex } from "./format.ts";
import { ConnectionNotice } from "./parts/notices.tsx";
import { Search } from "./parts/search.tsx";
import { ThemeSwitch } from "./parts/themeSwitch.tsx";
import { type Route, useRoute, type ViewProps } from "./router.ts";
import { AccountView } from "./views/account.tsx";
import { BlockView } from "./views/block.tsx";
import { BlocksView } from "./views/blocks.tsx";
import { ChartsView } from "./views/charts.tsx";
import { FaucetView } from "./views/faucet.tsx";
import { Home } from "./views/home.tsx";
import { NetworkView } from "./views/network.tsx";
import { NotFound } from "./views/notFound.tsx";
import { PoolView } from "./views/pool.tsx";
import { SearchView } from "./views/search.tsx";
import { TokenView } from "./views/token.tsx";
import { TokensView } from "./views/tokens.tsx";
import { TransactionView } from "./views/transaction.tsx";

interface View {
  readonly title: string;
  readonly component: ComponentType<ViewProps>;
}

/** The pages by the first part of their path. Add a page here, and its link, if it has one, to NAVIGATION. */
const VIEWS: Readonly<Record<string, View>> = {
  "": { title: "Overview", component: Home },
  address: { title: "Account", component: AccountView },
  block: { title: "Block", component: BlockView },
  blocks: { title: "Blocks", component: BlocksView },
  charts: { title: "Charts", component: ChartsView },
  faucet: { title: "Faucet", component: FaucetView },
  network: { title: "Network", component: NetworkView },
  pool: { title: "Pool", component: PoolView },
  search: { title: "Search", component: SearchView },
  token: { title: "Token", component: TokenView },
  tokens: { title: "Tokens", component: TokensView },
  tx: { title: "Transaction", component: TransactionView },
};

const NAVIGATION = [
  { path: "/", name: "Overview" },
  { path: "/blocks", name: "Blocks" },
  { path: "/pool", name: "Pool" },
  { path: "/tokens", name: "Tokens" },
  { path: "/charts", name: "Charts" },
  { path: "/network", name: "Network" },
];

/** Navigation entry of a node that has a faucet. */
const FAUCET_LINK = { path: "/faucet", name: "Faucet" };

const NOT_FOUND: View = { title: "Not found", component: NotFound };

export function App() {
  const route = useRoute();
  const { title, component: Component } = viewOf(route);
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const path = route.parts.join("/");

  useEffect(() => {
    document.title = `${[title, shortSubject(route)].filter(Boolean).join(" ")} · Ibex explorer`;
    // The focus moves to the page after following a link; the first page begins at its top.
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
  }, [path]);

  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Header current={route.parts[0] ?? ""} />
      <main id="main" ref={main} tabIndex={-1}>
        <ConnectionNotice />
        <Component route={route} key={path} />
      </main>
      <Footer />
    </>
  );
}

/** The subject of the page, short enough to distinguish tabs: a number, or the ends of an address or hash. */
function shortSubject({ parts: [, subject = ""] }: Route): string {
  return subject.length <= 14 ? subject : showShortHex(subject);
}

function viewOf({ parts: [name = ""] }: Route): View {
  return (Object.hasOwn(VIEWS, name) ? VIEWS[name] : undefined) ?? NOT_FOUND;
}

function Header({ current }: { readonly current: string }) {
  const faucet = useLoaded(faucetTerms, []);
  const links = faucet.value ? [...NAVIGATION, FAUCET_LINK] : NAVIGATION;
  return (
    <header class="top">
      <div class="top-inner">
        <a class="brand" href="/">
          <img src="/favicon.svg" alt="" width="26" height="26" />
          <span>Ibex</span>
        </a>
        <nav aria-label="Pages">
          {links.map(({ path, name }) => (
            <a key={path} href={path} aria-current={path === `/${current}` ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <Search />
        <ThemeSwitch />
      </div>
    </header>
  );
}

function Footer() {
  const version = useLoaded(() => call<string>("web3_clientVersion"), []);
  const chainId = useLoaded(() => call<string>("eth_chainId"), []);
  return (
    <footer class="bottom">
      <p>
        {chainId.value !== undefined && `Chain ${Number(chainId.value)}`}
        {version.value !== undefined && ` · ${version.value}`}
      </p>
      <p>Everything here comes from this node. No other service is asked.</p>
    </footer>
  );
}
