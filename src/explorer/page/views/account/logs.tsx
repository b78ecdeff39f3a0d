import { call } from "../../chain/connection.ts";
import { LOGS_CSV } from "../../chain/csv.ts";
import { useLoaded } from "../../chain/hooks.ts";
import type { ListPage } from "../../chain/tokens.ts";
import { Download } from "../../parts/download.tsx";
import { Panel } from "../../parts/panel.tsx";

/** The logs of a contract as a file; absent where it has none among its newest transactions, or the index is off. */
export function AccountLogs({ address, filter }: { readonly address: string; readonly filter: object }) {
  const { value } = useLoaded(
    () => call<ListPage<object>>("explorer_getLogsOf", [address, { size: 1 }, filter]),
    [address, JSON.stringify(filter)],
  );
  if (value === undefined || (value.items.length === 0 && value.next === null)) return null;
  return (
    <Panel title="Logs" aside={<Download list={LOGS_CSV} account={address} filter={filter} name="logs" />}>
      <p class="note">
        What the contract emitted, as a file; each transaction shows its logs with their names. The data of a
        log is cut after 1,024 bytes.
      </p>
    </Panel>
  );
}
