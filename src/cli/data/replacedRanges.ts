import { memberOf } from "../compare/differingPlaces.ts";
import type { Endpoint } from "../compare/endpoint.ts";
import type { DoneRange } from "./record.ts";

/**
 * The ranges whose blocks differ from the node's now: a chain with immediate finality changes only when an operator rewinds
 * it (debug_setHead). A range above the node's newest block is undecided, and kept, unless one below it was replaced.
 */
export async function replacedRanges(
  ranges: readonly DoneRange[],
  node: Endpoint,
): Promise<readonly DoneRange[]> {
  const newestFirst = ranges.toSorted((a, b) => b.to - a.to);
  let replaced = 0;
  for (const [index, { to, lastHash }] of newestFirst.entries()) {
    const hash = await hashOf(to, node);
    if (hash === lastHash) break;
    if (hash !== undefined) replaced = index + 1;
  }
  return newestFirst.slice(0, replaced);
}

async function hashOf(number: number, node: Endpoint): Promise<string | undefined> {
  const [answer] = await node.ask([
    { method: "eth_getBlockByNumber", params: [`0x${number.toString(16)}`, false] },
  ]);
  const hash = answer?.kind === "answer" ? memberOf(answer.result, "hash") : undefined;
  return typeof hash === "string" ? hash : undefined;
}
