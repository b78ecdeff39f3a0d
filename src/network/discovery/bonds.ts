import { dropOldest } from "../../primitives/boundedCache.ts";
import type { Clock } from "../../primitives/clock.ts";
import { toHex } from "../../primitives/hex.ts";

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

/**
 * Tracks who has proved an endpoint to whom (p2p.md#bonding): a node proves that it is at an address by a pong that names
 * our ping. Only such a node may be sent more than it sent itself, since anyone can forge the source address of a datagram.
 */
export class Bonds {
  private readonly clock: Pick<Clock, "nowMs">;
  private readonly proofs = new Map<string, Proof>();
  private readonly pings = new Map<string, Call>();

  constructor(clock: Pick<Clock, "nowMs">) {
    this.clock = clock;
  }

  /** Notes that the node answered our ping from `ip`. */
  noteProof(nodeId: Uint8Array, ip: string): void {
    this.note(this.proofs, nodeId, { ip, atMs: this.clock.nowMs() });
  }

  /** Whether the node has proved in the last 24 hours that it is at `ip`. */
  isProven(nodeId: Uint8Array, ip: string): boolean {
    return this.find(this.proofs, nodeId, ip) !== undefined;
  }

  /** Whether the address that the node has proved in the last 24 hours is another one. */
  isProvenElsewhere(nodeId: Uint8Array, ip: string): boolean {
    return (this.valid(this.proofs, nodeId)?.ip ?? ip) !== ip;
  }

  /** Notes that the node has pinged us from `ip` and announced its TCP port; our pong has proved our endpoint to it. */
  notePinged(nodeId: Uint8Array, ip: string, tcpPort: number): void {
    this.note(this.pings, nodeId, { ip, tcpPort, atMs: this.clock.nowMs() });
  }

  /** The TCP port in the node's last ping, if that came from `ip`. */
  tcpPortOf(nodeId: Uint8Array, ip: string): number | undefined {
    return this.find(this.pings, nodeId, ip)?.tcpPort;
  }

  /** Whether our endpoint is probably still proven to the node. */
  knowsUs(nodeId: Uint8Array, ip: string): boolean {
    return this.find(this.pings, nodeId, ip) !== undefined;
  }

  forget(nodeId: Uint8Array): void {
    this.proofs.delete(toHex(nodeId));
    this.pings.delete(toHex(nodeId));
  }

  private note<T extends Proof>(of: Map<string, T>, nodeId: Uint8Array, proof: T): void {
    const id = toHex(nodeId);
    of.delete(id);
    of.set(id, proof);
    dropOldest(of, MAX_BONDS);
  }

  private valid<T extends Proof>(of: Map<string, T>, nodeId: Uint8Array): T | undefined {
    const proof = of.get(toHex(nodeId));
    return proof !== undefined && this.clock.nowMs() < proof.atMs + BOND_MS ? proof : undefined;
  }

  private find<T extends Proof>(of: Map<string, T>, nodeId: Uint8Array, ip: string): T | undefined {
    const proof = this.valid(of, nodeId);
    return proof?.ip === ip ? proof : undefined;
  }
}
