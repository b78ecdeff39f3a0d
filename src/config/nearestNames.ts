/**
 * The known names closest to a mistyped one, best first; empty when none is close. A name is close when the edit
 * distance is small for its length, or when it begins with the mistyped one.
 */
export function nearestNames(mistyped: string, known: readonly string[]): readonly string[] {
  const allowed = mistyped.length < SHORTEST_BEGINNING ? 1 : Math.max(2, Math.floor(mistyped.length / 5));
  const sameButForCase = known.filter((name) => name.toLowerCase() === mistyped.toLowerCase());
  if (sameButForCase.length > 0) return sameButForCase;
  return known
    .flatMap((name) => {
      const distance = isBeginning(mistyped, name)
        ? name.length - mistyped.length
        : editDistance(mistyped.toLowerCase(), name.toLowerCase(), allowed);
      return distance === undefined ? [] : [{ name, distance }];
    })
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, MOST_SUGGESTIONS)
    .map(({ name }) => name);
}

const MOST_SUGGESTIONS = 3;
const SHORTEST_BEGINNING = 5;

function isBeginning(mistyped: string, name: string): boolean {
  return mistyped.length >= SHORTEST_BEGINNING && name.startsWith(mistyped);
}

/**
 * Edit distance with swaps of neighbours (optimal string alignment); undefined above `most`. Stops early, because files
 * may hold hundreds of unknown keys of any length.
 */
function editDistance(from: string, to: string, most: number): number | undefined {
  if (Math.abs(from.length - to.length) > most) return undefined;
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
    if (Math.min(...last, ...row) > most) return undefined;
    beforeLast = last;
    last = row;
  }
  const distance = last[to.length] ?? 0;
  return distance <= most ? distance : undefined;
}
