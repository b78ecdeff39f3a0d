import { tokenPath } from "../../chain/addresses.ts";
import { call } from "../../chain/connection.ts";
import { useLoaded } from "../../chain/hooks.ts";
import type { ListPage, TokenFacts, TokenHolder } from "../../chain/tokens.ts";
import { AccountLink } from "../../parts/links.tsx";
import { Empty, IndexProblem, Loading } from "../../parts/notices.tsx";
import { CursorPager } from "../../parts/pager.tsx";
import { Panel } from "../../parts/panel.tsx";
import { TokenAmount } from "../../parts/token.tsx";
import type { Route } from "../../router.ts";
import { coverageOf } from "./coverage.ts";

const PAGE = 25;

interface HoldersProps {
  readonly address: string;
  readonly facts: TokenFacts;
  readonly route: Route;
}

/** Who holds the token at the head, as its contract answers. */
export function TokenHolders({ address, facts, route }: HoldersProps) {
  const cursor = route.query.get("after");
  const found = useLoaded(
    () => call<ListPage<TokenHolder>>("explorer_getTokenHolders", [address, { size: PAGE, cursor }]),
    [address, cursor],
  );
  const { items, next } = found.value ?? { items: [], next: null };
  return (
    <Panel title="Holders" aside={coverageOf(found.value) ?? "in the order of their addresses"}>
      {found.error !== undefined && <IndexProblem error={found.error} />}
      {found.value === undefined && found.error === undefined && <Loading />}
      {found.value !== undefined && items.length === 0 && (
        <Empty>
          {next === null ? "There are no more holders." : "None of those asked for this page holds any."}
        </Empty>
      )}
      {items.length > 0 && <HolderTable address={address} facts={facts} holders={items} />}
      <CursorPager
        path={`${tokenPath(address)}/holders`}
        parameter="after"
        cursor={cursor}
        next={next}
        names={["First", "Next"]}
      />
    </Panel>
  );
}

function HolderTable({
  address,
  facts: { standard, totalSupply },
  holders,
}: Pick<HoldersProps, "address" | "facts"> & { readonly holders: readonly TokenHolder[] }) {
  const supply = standard === "ERC-20" && totalSupply !== null ? BigInt(totalSupply) : 0n;
  return (
    <div class="scroll">
      <table>
        <caption class="hidden">Holders of the token, in the order of their addresses</caption>
        <thead>
          <tr>
            <th scope="col">Holder</th>
            <th scope="col" class="number">
              {standard === "ERC-721" ? "Token" : "Balance"}
            </th>
            {supply > 0n && (
              <th scope="col" class="number">
                Share
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {holders.map(({ holder, tokenId, balance }) => (
            <tr key={`${holder}.${tokenId}`}>
              <td>
                <AccountLink address={holder} />
              </td>
              <td class="number">
                <TokenAmount token={address} tokenId={tokenId} value={balance} />
              </td>
              {supply > 0n && <td class="number">{showShare(balance, supply)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Of a supply that the contract tells as well, and may tell wrongly. */
function showShare(balance: string | null, supply: bigint): string {
  if (balance === null) return "–";
  const share = (BigInt(balance) * 10_000n) / supply;
  if (share > 10_000n) return "over 100 %";
  return share === 0n ? "under 0.01 %" : `${Number(share) / 100} %`;
}
