import { keccak256 } from "../../primitives/hash.ts";
import { toHex } from "../../primitives/hex.ts";
import { BUCKET_SIZE, compareDistance } from "./nodeTable.ts";
import type { NodeContact } from "./packets.ts";

/** Number of nodes asked at the same time. */
const CONCURRENCY = 3;
/** Most rounds: a lookup over a million nodes takes five. */
const MAX_ROUNDS = 20;

/**
 * Searches for the nodes closest to a node id: asks the closest known ones for closer ones, until the closest have been
 * asked (Kademlia). The result reaches the caller through `ask`, which returns undefined for a node that does not answer.
 */
export async function lookUp(
  target: Uint8Array,
  known: readonly NodeContact[],
  ask: (node: NodeContact) => Promise<readonly NodeContact[] | undefined>,
): Promise<void> {
  const key = keccak256(target);
  const asked = new Set<string>();
  let closest = sorted(known, key);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const next = closest.filter(({ nodeId }) => !asked.has(toHex(nodeId))).slice(0, CONCURRENCY);
    if (next.length === 0) return;
    for (const { nodeId } of next) asked.add(toHex(nodeId));
    const answers = await Promise.all(next.map(ask));
    const silent = new Set(next.filter((_, at) => answers[at] === undefined));
    closest = sorted(
      [...closest.filter((node) => !silent.has(node)), ...answers.flatMap((nodes) => nodes ?? [])],
      key,
    );
  }
}

/** The closest nodes, each once. */
function sorted(nodes: readonly NodeContact[], key: Uint8Array): readonly NodeContact[] {
  const byId = new Map<string, { readonly node: NodeContact; readonly at: Uint8Array }>();
  for (const node of nodes) {
    const id = toHex(node.nodeId);
    if (!byId.has(id)) byId.set(id, { node, at: keccak256(node.nodeId) });
  }
  return [...byId.values()]
    .sort((a, b) => compareDistance(key, a.at, b.at))
    .slice(0, BUCKET_SIZE)
    .map(({ node }) => node);
}
