import { tokenPath } from "../../chain/addresses.ts";
import { call } from "../../chain/connection.ts";
import { coverageOf } from "../../chain/coverage.ts";
import { useLoaded } from "../../chain/hooks.ts";
import { MOST_RANKED, rankedHolders } from "../../chain/rankedHolders.ts";
import { idQuantity } from "../../chain/tokenIds.ts";
import type { ListPage, TokenHolder, TokenInfo } from "../../chain/tokens.ts";
import { showNumber } from "../../format.ts";
import { Empty, IndexProblem, Loading } from "../../parts/notices.tsx";
import { CursorPager, Pager } from "../../parts/pager.tsx";
import { Panel } from "../../parts/panel.tsx";
import type { Route } from "../../router.ts";
import { HolderTable } from "./holderTable.tsx";

const PAGE = 25;

interface HoldersProps {
  readonly address: string;
  readonly facts: TokenInfo;
  readonly route: Route;
}

/**
 * The holders of the token at the head, as its contract answers. Amounts of a fungible token can be ranked; those of
 * different ids cannot, so their holders are in the order of the index.
 */
export function TokenHolders(props: HoldersProps) {
  const { address, facts, route } = props;
  if (facts.standard !== "ERC-20" || route.query.get("by") === "address" || route.query.has("after"))
    return <HoldersByAddress {...props} />;
  const path = `${tokenPath(address)}/holders`;
  return <HoldersByBalance {...props} path={path} byAddress={`${path}?by=address`} />;
}

/** Holders of a fungible token, or of one id, the largest first. */
export function HoldersByBalance({
  address,
  facts,
  route,
  tokenId,
  path,
  byAddress,
}: HoldersProps & {
  readonly tokenId?: bigint;
  readonly path: string;
  /** Link to all holders, if there are more than are ranked. */
  readonly byAddress?: string;
}) {
  const id = tokenId === undefined ? undefined : idQuantity(tokenId);
  const found = useLoaded(() => rankedHolders(address, id), [address, id]);
  const page = Math.max(0, Math.floor(Number(route.query.get("page") ?? 0)) || 0);
  const { holders = [], isCut = false, firstBlock = null } = found.value ?? {};
  const shown = holders.slice(page * PAGE, (page + 1) * PAGE);
  return (
    <Panel title="Holders" aside={coverageOf({ firstBlock }) ?? "the largest first"}>
      {found.error !== undefined && <IndexProblem error={found.error} />}
      {found.value === undefined && found.error === undefined && <Loading />}
      {isCut && (
        <p class="muted">
          There may be more than the {showNumber(MOST_RANKED)} holders that this page compares: these{" "}
          {showNumber(holders.length)} are the first ones by address, and others may hold more.
          {byAddress !== undefined && (
            <>
              {" "}
              <a href={byAddress}>All, by address</a>
            </>
          )}
        </p>
      )}
      {found.value !== undefined && shown.length === 0 && <Empty>There are no more holders.</Empty>}
      {shown.length > 0 && (
        <HolderTable address={address} facts={facts} holders={shown} order="the largest first" />
      )}
      <Pager
        newer={page > 0 ? `${path}?page=${page - 1}` : undefined}
        older={(page + 1) * PAGE < holders.length ? `${path}?page=${page + 1}` : undefined}
        names={["Previous", "Next"]}
      />
    </Panel>
  );
}

function HoldersByAddress({ address, facts, route }: HoldersProps) {
  const cursor = route.query.get("after");
  const found = useLoaded(
    () => call<ListPage<TokenHolder>>("explorer_getTokenHolders", [address, { size: PAGE, cursor }]),
    [address, cursor],
  );
  const { items, next } = found.value ?? { items: [], next: null };
  const isFungible = facts.standard === "ERC-20";
  return (
    <Panel title="Holders" aside={coverageOf(found.value) ?? "in the order of their addresses"}>
      {found.error !== undefined && <IndexProblem error={found.error} />}
      {found.value === undefined && found.error === undefined && <Loading />}
      {facts.standard === "ERC-1155" && (
        <p class="muted">
          Amounts of different numbers cannot be compared. The page of a number has its holders, the largest
          first.
        </p>
      )}
      {found.value !== undefined && items.length === 0 && (
        <Empty>
          {next === null ? "There are no more holders." : "None of those asked for this page holds any."}
        </Empty>
      )}
      {items.length > 0 && (
        <HolderTable
          address={address}
          facts={facts}
          holders={items}
          order="in the order of their addresses"
        />
      )}
      <CursorPager
        path={`${tokenPath(address)}/holders${isFungible ? "?by=address" : ""}`}
        parameter="after"
        cursor={cursor}
        next={next}
        names={["First", "Next"]}
      />
    </Panel>
  );
}
