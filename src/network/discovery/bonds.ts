import { dropOldest } from "../../primitives/boundedCache.ts";
import type { Clock } from "../../primitives/clock.ts";
import { toHex } from "../../primitives/hex.ts";

/**
 * Who has proved an endpoint to whom (p2p.md#bonding): a node proves that it is at an address by a pong that names our
 * ping. Only to such a node may more be sent than it sent itself, since anyone can write another's address on a datagram.
 */
export interface Bonds {
  /** The node answered our ping from `ip`. */
  noteProof(nodeId: Uint8Array, ip: string): void;
  /** Whether the node has proved in the last 24 hours that it is at `ip`. */
  isProven(nodeId: Uint8Array, ip: string): boolean;
  /** The node has pinged us from `ip`, so our pong has proved our endpoint to it. */
  notePinged(nodeId: Uint8Array, ip: string): void;
  /** Whether our endpoint is probably still proven to the node. */
  knowsUs(nodeId: Uint8Array, ip: string): boolean;
  forget(nodeId: Uint8Array): void;
}

/** As go-ethereum; Besu forgets none until it restarts. */
const BOND_MS = 24 * 60 * 60 * 1000;
/** Nodes that are remembered: more than any table holds. */
const MAX_BONDS = 8192;

interface Proof {
  readonly ip: string;
  readonly atMs: number;
}

export function createBonds({ nowMs }: Pick<Clock, "nowMs">): Bonds {
  const proofs = new Map<string, Proof>();
  const pings = new Map<string, Proof>();

  function note(of: Map<string, Proof>, nodeId: Uint8Array, ip: string): void {
    const id = toHex(nodeId);
    of.delete(id);
    of.set(id, { ip, atMs: nowMs() });
    dropOldest(of, MAX_BONDS);
  }

  function holds(of: Map<string, Proof>, nodeId: Uint8Array, ip: string): boolean {
    const proof = of.get(toHex(nodeId));
    return proof !== undefined && proof.ip === ip && nowMs() < proof.atMs + BOND_MS;
  }

  return {
    noteProof: (nodeId, ip) => note(proofs, nodeId, ip),
    isProven: (nodeId, ip) => holds(proofs, nodeId, ip),
    notePinged: (nodeId, ip) => note(pings, nodeId, ip),
    knowsUs: (nodeId, ip) => holds(pings, nodeId, ip),
    forget(nodeId) {
      proofs.delete(toHex(nodeId));
      pings.delete(toHex(nodeId));
    },
  };
}
