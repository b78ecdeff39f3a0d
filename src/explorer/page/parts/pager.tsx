/** Links to the neighbouring pages of a list; absent ones are left out. */
export function Pager({
  newer,
  older,
  names = ["Newer", "Older"],
}: {
  readonly newer: string | undefined;
  readonly older: string | undefined;
  readonly names?: readonly [string, string];
}) {
  if (newer === undefined && older === undefined) return null;
  return (
    <nav class="pager" aria-label="Further entries">
      {newer !== undefined && <a href={newer}>← {names[0]}</a>}
      {older !== undefined && (
        <a class="older" href={older}>
          {names[1]} →
        </a>
      )}
    </nav>
  );
}

/** Links between pages that follow a cursor, from the first one on. */
export function CursorPager({
  path,
  parameter,
  cursor,
  next,
  names = ["Newest", "Older"],
}: {
  readonly path: string;
  /** Name of the cursor in the query. */
  readonly parameter: string;
  /** Null on the first page. */
  readonly cursor: string | null;
  readonly next: string | null;
  readonly names?: readonly [string, string];
}) {
  return (
    <Pager
      newer={cursor === null ? undefined : path}
      older={
        next === null
          ? undefined
          : `${path}${path.includes("?") ? "&" : "?"}${parameter}=${encodeURIComponent(next)}`
      }
      names={names}
    />
  );
}
