import type { ConsensusStatus } from "../../chain/validators.ts";
import { showDuration } from "../../format.ts";
import { AccountLink } from "../../parts/links.tsx";
import { Panel } from "../../parts/panel.tsx";

/** Half of the axis, seconds. */
const SPAN = 3;
/** Difference above which the node warns (src/consensus/monitor/clockSkew.ts). */
const AHEAD = 1;
const BEHIND = -1.5;

/** Age above which a validator's last message no longer says anything about its clock, milliseconds. */
const STALE_MS = 60_000;

interface Measured {
  readonly address: string;
  /** Time since the validator was last heard, if that is long ago. */
  readonly staleMs: number | undefined;
  /** Seconds, the oldest first. */
  readonly ahead: readonly number[];
}

/** The clocks of the other validators compared with this machine's, as far as their proposals show. */
export function Clocks({ status }: { readonly status: ConsensusStatus }) {
  const measured = status.validators.flatMap(({ address, clockAheadMs, lastHeard }) => {
    if (clockAheadMs === null || clockAheadMs.length === 0) return [];
    const agoMs = lastHeard?.agoMs ?? 0;
    const staleMs = agoMs > STALE_MS ? agoMs : undefined;
    return [{ address, staleMs, ahead: clockAheadMs.map((milliseconds) => milliseconds / 1_000) }];
  });
  return (
    <Panel title="Clocks" aside="beside this machine's">
      {measured.length === 0 ? (
        <p class="muted">
          {status.validators.length === 1
            ? "There is no other validator."
            : "Not known: a validator measures them by the proposals of the others."}
        </p>
      ) : (
        <>
          <ul class="clocks">
            {measured.map((one) => (
              <ClockRow key={one.address} {...one} />
            ))}
          </ul>
          <p class="note after">
            By the last proposals of each. Timestamps are whole seconds, so half a second means nothing; a
            slow link looks like a clock that is behind.
          </p>
        </>
      )}
    </Panel>
  );
}

function ClockRow({ address, ahead, staleMs }: Measured) {
  const nearest = ahead.reduce((least, one) => (Math.abs(one) < Math.abs(least) ? one : least));
  const isWrong = nearest >= AHEAD || nearest <= BEHIND;
  return (
    <li>
      <AccountLink address={address} />
      <span
        class="clock"
        aria-hidden="true"
        style={{ "--from": percentOf(BEHIND), "--to": percentOf(AHEAD) }}
      >
        {(staleMs === undefined ? ahead : []).map((one, index) => (
          <span key={index} class={isWrong ? "wrong" : ""} style={{ left: percentOf(one) }} />
        ))}
      </span>
      {staleMs === undefined ? (
        <span class={isWrong ? "badge bad" : "note"}>{showDifference(nearest)}</span>
      ) : (
        <span class="note">not known: last heard {showDuration(staleMs / 1_000)} ago</span>
      )}
    </li>
  );
}

function percentOf(seconds: number): string {
  const within = Math.max(-SPAN, Math.min(SPAN, seconds));
  return `${(50 * (within + SPAN)) / SPAN}%`;
}

function showDifference(seconds: number): string {
  const size = Math.abs(seconds).toFixed(1);
  if (size === "0.0") return "alike";
  return `${size} s ${seconds > 0 ? "ahead" : "behind"}`;
}
