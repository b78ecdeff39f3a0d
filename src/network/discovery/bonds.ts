import { dropOldest } from "../../primitives/boundedCache.ts";
import type { Clock } from "../../primitives/clock.ts";
import { toHex } from "../../primitives/hex.ts";

/**
 * Tracks who has proved an endpoint to whom (p2p.md#bonding): a node proves that it is at an address by a pong that names
 * our ping. Only such a node may be sent more than it sent itself, since anyone can forge the source address of a datagram.
 */
export interface Bonds {
  /** Notes that the node answered our ping from `ip`. */
  noteProof(nodeId: Uint8Array, ip: string): void;
  /** Whether the node has proved in the last 24 hours that it is at `ip`. */
  isProven(nodeId: Uint8Array, ip: string): boolean;
  /** Whether the address that the node has proved in the last 24 hours is another one. */
  isProvenElsewhere(nodeId: Uint8Array, ip: string): boolean;
  /** Notes that the node has pinged us from `ip` and announced its TCP port; our pong has proved our endpoint to it. */
  notePinged(nodeId: Uint8Array, ip: string, tcpPort: number): void;
  /** The TCP port in the node's last ping, if that came from `ip`. */
  tcpPortOf(nodeId: Uint8Array, ip: string): number | undefined;
  /** Whether our endpoint is probably still proven to the node. */
  knowsUs(nodeId: Uint8Array, ip: string): boolean;
  forget(nodeId: Uint8Array): void;
}

/** Lifetime of a bond, as in go-ethereum; Besu keeps bonds until it restarts. */
const BOND_MS = 24 * 60 * 60 * 1000;
/** Most nodes remembered: more than any table holds. */
const MAX_BONDS = 8192;

interface Proof {
  readonly ip: string;
  readonly atMs: number;
}

interface Call extends Proof {
  readonly tcpPort: number;
}

export function createBonds({ nowMs }: Pick<Clock, "nowMs">): Bonds {
  const proofs = new Map<string, Proof>();
  const pings = new Map<string, Call>();

  function note<T extends Proof>(of: Map<string, T>, nodeId: Uint8Array, proof: T): void {
    const id = toHex(nodeId);
    of.delete(id);
    of.set(id, proof);
    dropOldest(of, MAX_BONDS);
  }

  function valid<T extends Proof>(of: Map<string, T>, nodeId: Uint8Array): T | undefined {
    const proof = of.get(toHex(nodeId));
    return proof !== undefined && nowMs() < proof.atMs + BOND_MS ? proof : undefined;
  }

  function find<T extends Proof>(of: Map<string, T>, nodeId: Uint8Array, ip: string): T | undefined {
    const proof = valid(of, nodeId);
    return proof?.ip === ip ? proof : undefined;
  }

  return {
    noteProof: (nodeId, ip) => note(proofs, nodeId, { ip, atMs: nowMs() }),
    isProven: (nodeId, ip) => find(proofs, nodeId, ip) !== undefined,
    isProvenElsewhere: (nodeId, ip) => (valid(proofs, nodeId)?.ip ?? ip) !== ip,
    notePinged: (nodeId, ip, tcpPort) => note(pings, nodeId, { ip, tcpPort, atMs: nowMs() }),
    tcpPortOf: (nodeId, ip) => find(pings, nodeId, ip)?.tcpPort,
    knowsUs: (nodeId, ip) => find(pings, nodeId, ip) !== undefined,
    forget(nodeId) {
      proofs.delete(toHex(nodeId));
      pings.delete(toHex(nodeId));
    },
  };
}
