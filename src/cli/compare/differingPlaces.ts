import { COMPARE_LIMITS } from "./limits.ts";

/** A place where two answers differ. */
export interface DifferingPlace {
  /** Member names and list indexes from the root, such as ["result", "3", "gas"]. */
  readonly path: readonly string[];
  /** Our value; undefined when the answer has no such member. */
  readonly ours: unknown;
  readonly theirs: unknown;
}

/** The places where two parsed answers differ, the first ones if there are many. The order of members does not matter. */
export function differingPlaces(ours: unknown, theirs: unknown): readonly DifferingPlace[] {
  const places: DifferingPlace[] = [];
  collect([], ours, theirs, places);
  return places;
}

function collect(path: readonly string[], ours: unknown, theirs: unknown, places: DifferingPlace[]): void {
  if (ours === theirs || places.length >= COMPARE_LIMITS.placesPerAnswer) return;
  if (isComposite(ours) && isComposite(theirs) && Array.isArray(ours) === Array.isArray(theirs)) {
    for (const name of new Set([...Object.keys(ours), ...Object.keys(theirs)]))
      collect([...path, name], memberOf(ours, name), memberOf(theirs, name), places);
    return;
  }
  places.push({ path, ours, theirs });
}

function isComposite(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** Reads an own member only, so that a name such as `constructor` finds nothing inherited. */
export function memberOf(value: unknown, name: string): unknown {
  if (!isComposite(value)) return undefined;
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
