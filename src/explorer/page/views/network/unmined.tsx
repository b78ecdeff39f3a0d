import type { NodeStatus, UnminedTransaction } from "../../chain/nodeStatus.ts";
import { showNumber } from "../../format.ts";
import { Age } from "../../parts/age.tsx";
import { AccountLink, TransactionLink } from "../../parts/links.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Sideways } from "../../parts/sideways.tsx";
import { whyUnmined } from "../../parts/whyUnmined.ts";

/** Transactions sent to this node that no block includes; absent if there are none. */
export function Unmined({ node: { unmined, unminedCount } }: { readonly node: NodeStatus }) {
  if (unmined.length === 0) return null;
  const count = Number(unminedCount);
  return (
    <Panel
      title="Transactions that no block takes"
      aside={count > unmined.length ? `${unmined.length} of ${showNumber(count)}` : showNumber(count)}
    >
      <p class="note">
        They were sent to this node, are next in the turn of their senders, and waited for more than a minute
        while blocks had room.
      </p>
      <Sideways>
        <table class="unmined">
          <caption class="hidden">Transactions that no block takes, those that wait longest first</caption>
          <thead>
            <tr>
              <th scope="col">Transaction</th>
              <th scope="col">From</th>
              <th scope="col" class="number">
                Nonce
              </th>
              <th scope="col">Sent</th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {unmined.map((one) => (
              <Row key={one.hash} transaction={one} />
            ))}
          </tbody>
        </table>
      </Sideways>
    </Panel>
  );
}

function Row({ transaction }: { readonly transaction: UnminedTransaction }) {
  const { hash, from, nonce, since } = transaction;
  return (
    <tr>
      <td>
        <TransactionLink hash={hash} />
      </td>
      <td>
        <AccountLink address={from} />
      </td>
      <td class="number">{showNumber(Number(nonce))}</td>
      <td>
        <Age timestamp={Number(since)} />
      </td>
      <td class="why">{whyUnmined(transaction)}</td>
    </tr>
  );
}
