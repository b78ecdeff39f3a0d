import type { AccessListEntry } from "../../chain/types.ts";
import { showNumber } from "../../format.ts";
import { AccountLink } from "../../parts/links.tsx";
import { Panel } from "../../parts/panel.tsx";

/** Most accounts that are shown, and slots of each. */
const SHOWN = 50;

/** The access list of a transaction (EIP-2930); absent if it is empty. */
export function AccessList({ list }: { readonly list: readonly AccessListEntry[] }) {
  if (list.length === 0) return null;
  const slots = list.reduce((sum, { storageKeys }) => sum + storageKeys.length, 0);
  return (
    <Panel title="Access list" aside={`${counted(list.length, "account")}, ${counted(slots, "slot")}`}>
      <ul class="changes">
        {list.slice(0, SHOWN).map((entry, index) => (
          <li key={index}>
            <Entry entry={entry} />
          </li>
        ))}
        {list.length > SHOWN && <li class="note">and {counted(list.length - SHOWN, "more account")}</li>}
      </ul>
    </Panel>
  );
}

function Entry({ entry: { address, storageKeys } }: { readonly entry: AccessListEntry }) {
  return (
    <>
      <AccountLink address={address} isWhole />
      {storageKeys.length > 0 && (
        <ul class="slots">
          {storageKeys.slice(0, SHOWN).map((key, index) => (
            <li key={index} class="hex">
              {key}
            </li>
          ))}
          {storageKeys.length > SHOWN && (
            <li class="note">and {counted(storageKeys.length - SHOWN, "more slot")}</li>
          )}
        </ul>
      )}
    </>
  );
}

function counted(count: number, what: string): string {
  return `${showNumber(count)} ${what}${count === 1 ? "" : "s"}`;
}
