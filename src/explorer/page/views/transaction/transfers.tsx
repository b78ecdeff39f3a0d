import { useState } from "preact/hooks";
import { transferIn } from "../../chain/tokenLogs.ts";
import type { Receipt } from "../../chain/types.ts";
import { showNumber } from "../../format.ts";
import { Panel } from "../../parts/panel.tsx";
import { TransferTable } from "../../parts/transferTable.tsx";

/** Number of transfers shown at first, and with each further click. */
const SHOWN = 20;

/** The token transfers of a transaction, from its logs; absent if it has none. */
export function Transfers({ receipt: { transactionHash, logs } }: { readonly receipt: Receipt }) {
  const [shown, setShown] = useState(SHOWN);
  const transfers = logs.flatMap((log, index) => {
    const transfer = transferIn(log);
    return transfer === undefined
      ? []
      : [{ ...transfer, transactionHash, logIndex: log.logIndex ?? `${index}` }];
  });
  if (transfers.length === 0) return null;
  return (
    <Panel title="Transfers of tokens" aside={showNumber(transfers.length)}>
      <TransferTable
        transfers={transfers.slice(0, shown)}
        caption="Tokens that the transaction moved, in the order of its logs"
        hasToken
      />
      {shown < transfers.length && (
        <button type="button" class="button" onClick={() => setShown(shown + SHOWN)}>
          Show more
        </button>
      )}
    </Panel>
  );
}
