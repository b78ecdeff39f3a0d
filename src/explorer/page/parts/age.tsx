import { useNow } from "../chain/hooks.ts";
import { showDuration, showTime } from "../format.ts";

/** How long ago, counting on. */
export function Age({ timestamp }: { readonly timestamp: number }) {
  const seconds = useNow() / 1_000 - timestamp;
  return (
    <time dateTime={new Date(timestamp * 1_000).toISOString()} title={showTime(timestamp)}>
      {showDuration(seconds)} ago
    </time>
  );
}
