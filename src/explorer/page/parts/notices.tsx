import { useConnectionState } from "../chain/hooks.ts";

/** Says that the node does not answer; silent while it does. */
export function ConnectionNotice() {
  const state = useConnectionState();
  return (
    <div class="connection" role="status">
      {state === "lost" && <p>The node does not answer. The page goes on as soon as it does.</p>}
    </div>
  );
}
