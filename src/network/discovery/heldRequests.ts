import { toHex } from "../../primitives/hex.ts";
import { isLocal } from "./endpoint.ts";
import type { NodeContact } from "./packets.ts";

/** Requests of nodes that are to prove their endpoint first: one of each node, within a number for all and for each address. */
export interface HeldRequests {
  /** False when there is no room, or the node has one that waits already; otherwise `release` follows. */
  take(node: NodeContact): boolean;
  release(node: NodeContact): void;
}

/** A request waits for a second at most, and is then asked again. */
const MAX_HELD = 64;
/** Local addresses are exempt, where whole networks share one. */
const MAX_HELD_OF_ADDRESS = 8;

export function createHeldRequests(): HeldRequests {
  /** The addresses of the nodes, by id and address. */
  const held = new Map<string, string>();

  function isFull(ip: string): boolean {
    if (held.size >= MAX_HELD) return true;
    let count = 0;
    for (const other of held.values()) if (other === ip) count += 1;
    return count >= MAX_HELD_OF_ADDRESS && !isLocal(ip);
  }

  return {
    take(node) {
      const place = placeOf(node);
      if (held.has(place) || isFull(node.ip)) return false;
      held.set(place, node.ip);
      return true;
    },
    release: (node) => void held.delete(placeOf(node)),
  };
}

function placeOf({ nodeId, ip }: NodeContact): string {
  return `${toHex(nodeId)} ${ip}`;
}
