import { accountPath } from "../../chain/addresses.ts";
import { call } from "../../chain/connection.ts";
import { coverageOf } from "../../chain/coverage.ts";
import { useLoaded } from "../../chain/hooks.ts";
import type { ListPage, TokenTransfer } from "../../chain/tokens.ts";
import { CursorPager } from "../../parts/pager.tsx";
import { Panel } from "../../parts/panel.tsx";
import { TransferTable } from "../../parts/transferTable.tsx";
import type { Route } from "../../router.ts";

/** Token transfers into and out of the account; absent if it has none, or the index is off. */
export function AccountTransfers({ address, route }: { readonly address: string; readonly route: Route }) {
  const cursor = route.query.get("transfers");
  const found = useLoaded(
    () => call<ListPage<TokenTransfer>>("explorer_getTokenTransfers", [address, { size: 25, cursor }]),
    [address, cursor],
  );
  if (found.value === undefined || (found.value.items.length === 0 && cursor === null)) return null;
  const { items, next } = found.value;
  return (
    <Panel title="Transfers of tokens" aside={coverageOf(found.value)}>
      <TransferTable
        transfers={items}
        caption="Transfers of tokens of the account, the newest first"
        hasToken
      />
      <CursorPager path={accountPath(address)} parameter="transfers" cursor={cursor} next={next} />
    </Panel>
  );
}
