import { useState } from "preact/hooks";
import { withChecksum } from "../../chain/addresses.ts";
import { call } from "../../chain/connection.ts";
import { delegateIn } from "../../chain/delegation.ts";
import { useLoaded } from "../../chain/hooks.ts";
import type { AccountState, StateDifference } from "../../chain/types.ts";
import { showCoins, showNumber, showShortHex } from "../../format.ts";
import { AccountLink } from "../../parts/links.tsx";
import { Loading, Problem } from "../../parts/notices.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Sideways } from "../../parts/sideways.tsx";

/** Most accounts and slots that are shown. */
const SHOWN = 100;

/**
 * The state changes of a transaction: balances, nonces, code and slots. They need a click, because the transaction is traced
 * again.
 */
export function StateChanges({ hash }: { readonly hash: string }) {
  const [isWanted, setWanted] = useState(false);
  return (
    <Panel title="State changes">
      {isWanted ? (
        <Changes hash={hash} />
      ) : (
        <button type="button" class="button" onClick={() => setWanted(true)}>
          Show what changed
        </button>
      )}
    </Panel>
  );
}

const OPTIONS = { tracer: "prestateTracer", tracerConfig: { diffMode: true } };

function Changes({ hash }: { readonly hash: string }) {
  const traced = useLoaded(() => call<StateDifference>("debug_traceTransaction", [hash, OPTIONS]), [hash]);
  if (traced.error !== undefined) return <Problem error={traced.error} />;
  if (traced.value === undefined) return <Loading />;
  const { pre, post } = traced.value;
  const accounts = [...new Set([...Object.keys(pre), ...Object.keys(post)])];
  return (
    <ul class="changes">
      {accounts.slice(0, SHOWN).map((address) => (
        <li key={address}>
          <AccountLink address={address} isWhole />
          <AccountChanges before={pre[address] ?? {}} after={post[address] ?? {}} />
        </li>
      ))}
      {accounts.length > SHOWN && (
        <li class="note">and {showNumber(accounts.length - SHOWN)} more accounts</li>
      )}
    </ul>
  );
}

interface Change {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

function AccountChanges({ before, after }: { readonly before: AccountState; readonly after: AccountState }) {
  const changes = changesOf(before, after);
  return (
    <Sideways class="inner">
      <table>
        <caption class="hidden">Before and after</caption>
        <thead class="hidden">
          <tr>
            <th scope="col">What</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {changes.slice(0, SHOWN).map(({ name, before: old, after: now }) => (
            <tr key={name}>
              <th scope="row" class="hex">
                {name}
              </th>
              <td class="was">{old}</td>
              <td>{now}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Sideways>
  );
}

const ZERO = `0x${"0".repeat(64)}`;

/** The changes of an account. In diff mode, `after` has only changed values, and lacks a slot that became zero. */
function changesOf(before: AccountState, after: AccountState): readonly Change[] {
  const changes: Change[] = [];
  if (after.balance !== undefined)
    changes.push({
      name: "balance",
      before: showCoins(before.balance ?? "0x0"),
      after: showCoins(after.balance),
    });
  if (after.nonce !== undefined)
    changes.push({ name: "nonce", before: showNumber(before.nonce ?? 0), after: showNumber(after.nonce) });
  if (after.code !== undefined)
    changes.push({
      name: "code",
      before: before.code === undefined ? "none" : "other code",
      after: showCode(after.code),
    });
  const slots = [...new Set([...Object.keys(before.storage ?? {}), ...Object.keys(after.storage ?? {})])];
  for (const slot of slots)
    changes.push({
      name: `slot ${shortSlot(slot)}`,
      before: shortSlot(before.storage?.[slot] ?? ZERO),
      after: shortSlot(after.storage?.[slot] ?? ZERO),
    });
  return changes;
}

function showCode(code: string): string {
  const delegate = delegateIn(code);
  return delegate === undefined
    ? `${(code.length - 2) / 2} bytes`
    : `that of ${showShortHex(withChecksum(delegate))}`;
}

/** Formats a slot without leading zeros, shortened if it is long. */
function shortSlot(word: string): string {
  const digits = word.slice(2).replace(/^0+(?=.)/, "");
  return digits.length > 20 ? `0x${digits.slice(0, 8)}…${digits.slice(-8)}` : `0x${digits}`;
}
