/**
 * The known names that a mistyped one most likely stands for, best first; none when nothing is close. Close means few
 * edits for the length, or one name being the beginning of the other.
 */
export function nearestNames(mistyped: string, known: readonly string[]): readonly string[] {
  const allowed = Math.max(2, Math.floor(mistyped.length / 5));
  const sameButForCase = known.filter((name) => name.toLowerCase() === mistyped.toLowerCase());
  if (sameButForCase.length > 0) return sameButForCase;
  return known
    .map((name) => ({ name, distance: editDistance(mistyped.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= allowed || isBeginning(mistyped, name))
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, MOST_SUGGESTIONS)
    .map(({ name }) => name);
}

const MOST_SUGGESTIONS = 3;
const SHORTEST_BEGINNING = 5;

function isBeginning(mistyped: string, name: string): boolean {
  return mistyped.length >= SHORTEST_BEGINNING && name.startsWith(mistyped);
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one text into the other. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (last[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      let best = Math.min(replaced, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        best = Math.min(best, (beforeLast[j - 2] ?? best) + 1);
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[to.length] ?? 0;
}
