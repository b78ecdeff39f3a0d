import type { ComponentChildren } from "preact";
import { accountPath, withChecksum } from "../chain/addresses.ts";
import { showNumber, showShortHex } from "../format.ts";
import { AccountMark } from "./accountMark.tsx";

/** Links to objects of the chain. Long hashes are shortened by default; the whole one is in the title. */

export function BlockLink({ number }: { readonly number: number }) {
  return <a href={`/block/${number}`}>{showNumber(number)}</a>;
}

export function TransactionLink({
  hash,
  isWhole = false,
}: {
  readonly hash: string;
  readonly isWhole?: boolean;
}) {
  return (
    <a class="hex" href={`/tx/${hash}`} title={hash}>
      {isWhole ? hash : showShortHex(hash, 6)}
    </a>
  );
}

export function AccountLink({
  address,
  isWhole = false,
  children,
}: {
  readonly address: string;
  readonly isWhole?: boolean;
  readonly children?: ComponentChildren;
}) {
  const shown = withChecksum(address);
  return (
    <a class="account" href={accountPath(address)} title={shown}>
      <AccountMark address={address} />
      <span class={children === undefined ? "hex" : ""}>
        {children ?? (isWhole ? shown : showShortHex(shown))}
      </span>
    </a>
  );
}
