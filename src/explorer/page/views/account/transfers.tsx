import { call } from "../../chain/connection.ts";
import { coverageOf } from "../../chain/coverage.ts";
import { TRANSFERS_CSV } from "../../chain/csv.ts";
import { useLoaded } from "../../chain/hooks.ts";
import type { ListPage, TokenTransfer } from "../../chain/tokens.ts";
import { Download } from "../../parts/download.tsx";
import { CursorPager } from "../../parts/pager.tsx";
import { Panel } from "../../parts/panel.tsx";
import { TransferTable } from "../../parts/transferTable.tsx";
import { type ActivityProps, pathWith } from "./transactions.tsx";

/** Token transfers into and out of the account; absent if it has none, or the index is off. */
export function AccountTransfers({ address, route, filter }: ActivityProps) {
  const cursor = route.query.get("transfers");
  const found = useLoaded(
    () =>
      call<ListPage<TokenTransfer>>("explorer_getTokenTransfers", [address, { size: 25, cursor }, filter]),
    [address, cursor, JSON.stringify(filter)],
  );
  if (
    found.value === undefined ||
    (found.value.items.length === 0 && cursor === null && found.value.next === null)
  )
    return null;
  const { items, next } = found.value;
  return (
    <Panel
      title="Transfers of tokens"
      aside={
        <>
          {coverageOf(found.value)}{" "}
          <Download list={TRANSFERS_CSV} account={address} filter={filter} name="transfers" />
        </>
      }
    >
      <TransferTable
        transfers={items}
        caption="Transfers of tokens of the account, the newest first"
        hasToken
      />
      <CursorPager path={pathWith(address, route)} parameter="transfers" cursor={cursor} next={next} />
    </Panel>
  );
}
