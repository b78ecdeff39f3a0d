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

export function Problem({ error }: { readonly error: Error }) {
  return (
    <p class="problem" role="alert">
      {error.message}
    </p>
  );
}

export function Empty({ children }: { readonly children: string }) {
  return <p class="empty">{children}</p>;
}

/** Placeholder while loading; empty at first, so that quick loads do not flicker. */
export function Loading() {
  return <p class="loading">Asking the node…</p>;
}

/** Says what to do when an answer needs the index by address. */
export function IndexProblem({ error }: { readonly error: Error }) {
  const isOff =
    /index/i.test(error.message) || ("code" in error && [-32601, -32604].includes(Number(error.code)));
  if (!isOff) return <Problem error={error} />;
  return (
    <Empty>
      What accounts did is known to a node that keeps an index by address, which this one does not.
    </Empty>
  );
}
