import { useClock } from "../chain/clock.ts";
import { showDuration, showTime } from "../format.ts";

/** Time since a timestamp, updated each second. */
export function Age({ timestamp }: { readonly timestamp: number }) {
  const age = useClock((nowMs) => showDuration(nowMs / 1_000 - timestamp));
  return (
    <time dateTime={new Date(timestamp * 1_000).toISOString()} title={showTime(timestamp)}>
      {age} ago
    </time>
  );
}
