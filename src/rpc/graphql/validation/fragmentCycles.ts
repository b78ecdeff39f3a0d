import { type FragmentDefinitionNode, Kind, type SelectionSetNode } from "graphql";
import type { Steps } from "../../../primitives/steps.ts";
import type { WorkLimit } from "./workLimit.ts";

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/**
 * How many errors graphql-java reports for a fragment that is in circles, or leads to some: one for each fragment that is found
 * below itself by a search from this one.
 */
export function* fragmentCycles(name: string, fragments: Fragments, work: WorkLimit): Steps<number> {
  const below = new Map<string, Set<string>>();
  yield* collectBelow([name], below, fragments, work);
  let cycles = 0;
  for (const [fragment, names] of below) if (names.has(fragment)) cycles++;
  return cycles;
}

/** Adds to each fragment of the path, whose newest is the last, what its newest spreads, and searches on. */
function* collectBelow(
  path: string[],
  below: Map<string, Set<string>>,
  fragments: Fragments,
  work: WorkLimit,
): Steps<void> {
  const name = path.at(-1) ?? "";
  if (below.has(name)) return;
  const spreads = spreadsOf(fragments.get(name), work);
  if (spreads.size === 0) return;
  work.enter();
  for (const ancestor of path) {
    const known = below.get(ancestor) ?? new Set();
    below.set(ancestor, known);
    work.spend(spreads.size);
    for (const spread of spreads) known.add(spread);
    if (work.isStepFull()) yield;
  }
  for (const spread of spreads) {
    if (path.includes(spread) || below.has(spread)) continue;
    path.push(spread);
    yield* collectBelow(path, below, fragments, work);
    path.pop();
  }
  work.leave();
}

function spreadsOf(fragment: FragmentDefinitionNode | undefined, work: WorkLimit): ReadonlySet<string> {
  const spreads = new Set<string>();
  if (fragment !== undefined) gather(fragment.selectionSet, spreads, work);
  return spreads;
}

function gather({ selections }: SelectionSetNode, spreads: Set<string>, work: WorkLimit): void {
  work.spend(selections.length);
  for (const selection of selections) {
    if (selection.kind === Kind.FRAGMENT_SPREAD) spreads.add(selection.name.value);
    else if (selection.selectionSet !== undefined) gather(selection.selectionSet, spreads, work);
  }
}
