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
