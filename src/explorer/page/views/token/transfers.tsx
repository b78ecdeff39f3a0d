import { tokenPath } from "../../chain/addresses.ts";
import { call } from "../../chain/connection.ts";
import { coverageOf } from "../../chain/coverage.ts";
import { useLoaded } from "../../chain/hooks.ts";
import { useHeight } from "../../chain/recentBlocks.ts";
import type { ListPage, TokenTransfer } from "../../chain/tokens.ts";
import { Empty, IndexProblem, Loading } from "../../parts/notices.tsx";
import { CursorPager } from "../../parts/pager.tsx";
import { Panel } from "../../parts/panel.tsx";
import { TransferTable } from "../../parts/transferTable.tsx";
import type { Route } from "../../router.ts";

const PAGE = 25;

/** Transfers of the token, the newest first; the first page follows the chain. */
export function TokenTransfers({ address, route }: { readonly address: string; readonly route: Route }) {
  const cursor = route.query.get("after");
  // The height is known, since the token's page waits for it.
  const height = useHeight();
  const found = useLoaded(
    () => call<ListPage<TokenTransfer>>("explorer_getTransfersOfToken", [address, { size: PAGE, cursor }]),
    [address, cursor, cursor === null ? height : undefined],
  );
  const { items, next } = found.value ?? { items: [], next: null };
  return (
    <Panel title="Transfers" aside={coverageOf(found.value)}>
      {found.error !== undefined && <IndexProblem error={found.error} />}
      {found.value === undefined && found.error === undefined && <Loading />}
      {found.value !== undefined && items.length === 0 && <Empty>There are no more transfers.</Empty>}
      {items.length > 0 && (
        <TransferTable
          transfers={items}
          caption="Transfers of the token, the newest first"
          hasToken={false}
        />
      )}
      <CursorPager path={tokenPath(address)} parameter="after" cursor={cursor} next={next} />
    </Panel>
  );
}
