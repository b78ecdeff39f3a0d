import { toHex } from "../../primitives/hex.ts";
import { isLocal } from "./endpoint.ts";
import type { NodeContact } from "./packets.ts";

/** Most held requests: each waits for a second at most, and is then repeated by its sender. */
const MAX_HELD = 64;
/** Most held requests of one address. Local addresses are exempt, because whole networks may share one. */
const MAX_HELD_OF_ADDRESS = 8;

/** Requests of nodes that must prove their endpoint first: one of each node, bounded in all and for each address. */
export class HeldRequests {
  /** The addresses of the nodes, by id and address. */
  private readonly held = new Map<string, string>();

  /** Holds a request; false when there is no room, or one of the node waits already; otherwise `release` follows. */
  take(node: NodeContact): boolean {
    const place = placeOf(node);
    if (this.held.has(place) || this.isFull(node.ip)) return false;
    this.held.set(place, node.ip);
    return true;
  }

  release(node: NodeContact): void {
    this.held.delete(placeOf(node));
  }

  private isFull(ip: string): boolean {
    if (this.held.size >= MAX_HELD) return true;
    let count = 0;
    for (const other of this.held.values()) if (other === ip) count += 1;
    return count >= MAX_HELD_OF_ADDRESS && !isLocal(ip);
  }
}

function placeOf({ nodeId, ip }: NodeContact): string {
  return `${toHex(nodeId)} ${ip}`;
}
