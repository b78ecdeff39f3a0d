import type { LoggedTransfer } from "../chain/tokenLogs.ts";
import { Age } from "./age.tsx";
import { AccountLink, TransactionLink } from "./links.tsx";
import { Sideways } from "./sideways.tsx";
import { TokenAmount, TokenLink } from "./token.tsx";

/** A transfer with its place in the chain, which is absent on the page of its transaction. */
interface PlacedTransfer extends LoggedTransfer {
  readonly transactionHash: string;
  readonly logIndex: string;
  readonly timestamp?: string;
}

/** A table of token transfers. */
export function TransferTable({
  transfers,
  caption,
  hasToken,
}: {
  readonly transfers: readonly PlacedTransfer[];
  readonly caption: string;
  readonly hasToken: boolean;
}) {
  const hasTransaction = transfers.some(({ timestamp }) => timestamp !== undefined);
  return (
    <Sideways>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {hasTransaction && (
              <>
                <th scope="col">Transaction</th>
                <th scope="col">Age</th>
              </>
            )}
            <th scope="col">From</th>
            <th scope="col">To</th>
            {hasToken && <th scope="col">Token</th>}
            <th scope="col" class="number">
              Amount
            </th>
          </tr>
        </thead>
        <tbody>
          {transfers.map((transfer) => (
            <tr key={`${transfer.transactionHash}.${transfer.logIndex}`}>
              {hasTransaction && (
                <>
                  <td>
                    <TransactionLink hash={transfer.transactionHash} />
                  </td>
                  <td>
                    <Age timestamp={Number(transfer.timestamp)} />
                  </td>
                </>
              )}
              <td>
                <Party address={transfer.from} other="minted" />
              </td>
              <td>
                <Party address={transfer.to} other="burned" />
              </td>
              {hasToken && (
                <td>
                  <TokenLink address={transfer.token} />
                </td>
              )}
              <td class="number">
                <Amounts transfer={transfer} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Sideways>
  );
}

const NOBODY = `0x${"0".repeat(40)}`;

function Party({ address, other }: { readonly address: string; readonly other: string }) {
  return address === NOBODY ? <span class="badge plain">{other}</span> : <AccountLink address={address} />;
}

function Amounts({ transfer: { token, amounts, isCut } }: { readonly transfer: LoggedTransfer }) {
  const [first] = amounts;
  return (
    <>
      {first !== undefined && <TokenAmount token={token} {...first} />}
      {(amounts.length > 1 || isCut) && (
        <span class="note"> and {isCut ? "many" : amounts.length - 1} more</span>
      )}
    </>
  );
}
