import type { Receipt, Transaction } from "../chain/types.ts";
import { numberOf, showCoins, showNumber } from "../format.ts";
import { Age } from "./age.tsx";
import { AccountLink, BlockLink, TransactionLink } from "./links.tsx";
import { Method } from "./method.tsx";
import { Sideways } from "./sideways.tsx";

export interface TransactionRow {
  readonly transaction: Transaction;
  readonly receipt: Receipt | null;
  readonly timestamp?: number | undefined;
}

/** A table of transactions; with the direction when they are one account's. */
export function TransactionTable({
  rows,
  caption,
  account,
}: {
  readonly rows: readonly TransactionRow[];
  readonly caption: string;
  readonly account?: string;
}) {
  const hasTimes = rows.some(({ timestamp }) => timestamp !== undefined);
  return (
    <Sideways>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Transaction</th>
            <th scope="col">Method</th>
            {account !== undefined && <th scope="col">Block</th>}
            {hasTimes && <th scope="col">Age</th>}
            <th scope="col">From</th>
            <th scope="col">To</th>
            <th scope="col" class="number">
              Value
            </th>
            <th scope="col" class="number">
              Gas used
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ transaction, receipt, timestamp }) => (
            <tr key={transaction.hash}>
              <td>
                <TransactionLink hash={transaction.hash} />
                {receipt?.status === "0x0" && <span class="badge bad">failed</span>}
              </td>
              <td>
                <Method to={transaction.to} input={transaction.input} />
              </td>
              {account !== undefined && (
                <td>
                  {transaction.blockNumber !== null && <BlockLink number={Number(transaction.blockNumber)} />}
                </td>
              )}
              {hasTimes && <td>{timestamp !== undefined && <Age timestamp={timestamp} />}</td>}
              <td>
                <AccountLink address={transaction.from} />
              </td>
              <td>
                <Target transaction={transaction} receipt={receipt} />
              </td>
              <td class="number">{showCoins(transaction.value)}</td>
              <td class="number">{showNumber(numberOf(receipt?.gasUsed))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Sideways>
  );
}

/** The account that a transaction called, or the contract that it created. */
export function Target({
  transaction,
  receipt,
  isWhole = false,
}: {
  readonly transaction: Transaction;
  readonly receipt: Receipt | null | undefined;
  readonly isWhole?: boolean;
}) {
  if (transaction.to !== null) return <AccountLink address={transaction.to} isWhole={isWhole} />;
  const created = receipt?.contractAddress;
  return (
    <>
      {created !== null && created !== undefined && <AccountLink address={created} isWhole={isWhole} />}
      {isWhole && <span class="badge plain">creates a contract</span>}
    </>
  );
}
