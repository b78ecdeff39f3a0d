import { call } from "../../chain/connection.ts";
import { useLoaded, useLoadedAtHead } from "../../chain/hooks.ts";
import { useKnownContract } from "../../chain/knownContracts.ts";
import type { NodeStatus } from "../../chain/nodeStatus.ts";
import type { RoundRow } from "../../chain/recentBlocks.ts";
import type { CallFrame, Receipt, Transaction } from "../../chain/types.ts";
import { useDecoding } from "../../chain/useDecoding.ts";
import { showGwei, showNumber, showPercent, showText, showTime } from "../../format.ts";
import { Age } from "../../parts/age.tsx";
import { Bytes } from "../../parts/bytes.tsx";
import { Coins } from "../../parts/coins.tsx";
import { Field, Fields } from "../../parts/fields.tsx";
import { AccountLink, BlockLink } from "../../parts/links.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Target } from "../../parts/transactionTable.tsx";
import { DecodedValues } from "../../parts/values.tsx";
import { whyUnmined } from "../../parts/whyUnmined.ts";

interface SummaryProps {
  readonly transaction: Transaction;
  readonly receipt: Receipt | null;
  /** The outermost call of the transaction, once it is known. */
  readonly frame: CallFrame | undefined;
}

/** Status, position, value and fee of the transaction. */
export function Summary({ transaction, receipt, frame }: SummaryProps) {
  return (
    <Panel title="Summary" aside={<Status receipt={receipt} />}>
      <Fields>
        {receipt?.status === "0x0" && frame !== undefined && (
          <Failure transaction={transaction} frame={frame} />
        )}
        {receipt !== null && <Place receipt={receipt} index={transaction.transactionIndex} />}
        <Field name="From">
          <AccountLink address={transaction.from} isWhole />
        </Field>
        <Field name="To">
          <Target transaction={transaction} receipt={receipt} isWhole />
        </Field>
        <Field name="Value">
          <Coins wei={transaction.value} />
        </Field>
        {receipt !== null && <Fee transaction={transaction} receipt={receipt} />}
        <Field name="Nonce">{showNumber(Number(transaction.nonce))}</Field>
        {receipt === null && <Waiting hash={transaction.hash} />}
        <Field name="Type">{TYPES[Number(transaction.type)] ?? Number(transaction.type)}</Field>
      </Fields>
    </Panel>
  );
}

const TYPES = [
  "legacy",
  "access list (EIP-2930)",
  "dynamic fee (EIP-1559)",
  "blobs (EIP-4844)",
  "sets code (EIP-7702)",
];

function Status({ receipt }: Pick<SummaryProps, "receipt">) {
  if (receipt === null) return <span class="badge warn">waits in the pool</span>;
  return receipt.status === "0x0" ? (
    <span class="badge bad">failed</span>
  ) : (
    <span class="badge good">succeeded</span>
  );
}

/** Why the transaction waits; absent if it has not waited for long, or waits for another one of its sender. */
function Waiting({ hash }: { readonly hash: string }) {
  const node = useLoadedAtHead(() => call<NodeStatus>("explorer_getNodeStatus"), []);
  const unmined = node.value?.unmined.find((one) => one.hash === hash);
  if (unmined === undefined) return null;
  return (
    <Field name="Why it waits">
      No block took it for a minute, although blocks had room. {whyUnmined(unmined)}
    </Field>
  );
}

function Place({ receipt, index }: { readonly receipt: Receipt; readonly index: string | null }) {
  const rows = useLoaded(
    () => call<readonly RoundRow[]>("ibft_getRounds", [receipt.blockNumber, "0x1"]),
    [receipt.blockNumber],
  );
  const timestamp = rows.value?.[0] && Number(rows.value[0].timestamp);
  return (
    <>
      <Field name="Block">
        <BlockLink number={Number(receipt.blockNumber)} />
        {index !== null && <span class="note"> position {showNumber(Number(index))}</span>}
      </Field>
      <Field name="Time">
        {timestamp !== undefined && (
          <>
            {showTime(timestamp)}{" "}
            <span class="note">
              (<Age timestamp={timestamp} />)
            </span>
          </>
        )}
      </Field>
    </>
  );
}

function Fee({ transaction, receipt }: { readonly transaction: Transaction; readonly receipt: Receipt }) {
  const gasUsed = Number(receipt.gasUsed);
  const gas = Number(transaction.gas);
  return (
    <>
      <Field name="Fee">
        <Coins wei={BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)} />{" "}
        <span class="note">at {showGwei(receipt.effectiveGasPrice)} for each gas</span>
      </Field>
      <Field name="Gas">
        {showNumber(gasUsed)}{" "}
        <span class="note">
          {showPercent(gasUsed, gas)} of the limit of {showNumber(gas)}
        </span>
      </Field>
    </>
  );
}

/** Why the transaction failed, in the contract's words if it gave any. */
function Failure({ transaction, frame }: { readonly transaction: Transaction; readonly frame: CallFrame }) {
  const decoding = useDecoding();
  const known = useKnownContract(transaction.to);
  const decoded = frame.output === undefined ? undefined : decoding?.decodeRevert(frame.output, known?.abi);
  return (
    <Field name="Reason">
      <span class="reason">{showText(frame.error ?? "failed", 200)}</span>
      {decoded !== undefined && <DecodedValues decoded={decoded} />}
      {decoded === undefined && frame.output !== undefined && <Bytes text={showText(frame.output, 2_000)} />}
    </Field>
  );
}
