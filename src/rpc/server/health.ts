/** The functions of the node that the health routes need. */
export interface HealthPorts {
  /** Undefined when peer-to-peer networking is disabled. */
  peerCount(): number | undefined;
  /** True while block production is paused because the disk is almost full. */
  isPaused(): boolean;
  /** Undefined while the node is not synchronizing. */
  syncStatus(): { readonly currentBlock: bigint; readonly highestBlock: bigint } | undefined;
}

export type Health = "UP" | "DOWN";

const DEFAULT_MIN_PEERS = "1";
const DEFAULT_MAX_BLOCKS_BEHIND = "2";

/**
 * /readiness: UP when the node is not paused, has enough peers and is not far behind (json-rpc-errors.md#health).
 * A parameter that is not a number means DOWN.
 */
export function readiness(query: URLSearchParams, ports: HealthPorts): Health {
  const minPeers = parseInteger(query.get("minPeers") ?? DEFAULT_MIN_PEERS);
  const maxBlocksBehind = parseInteger(query.get("maxBlocksBehind") ?? DEFAULT_MAX_BLOCKS_BEHIND);
  if (minPeers === undefined || maxBlocksBehind === undefined) return "DOWN";
  if (ports.isPaused()) return "DOWN";
  const peers = ports.peerCount();
  if (peers !== undefined && BigInt(peers) < minPeers) return "DOWN";
  const sync = ports.syncStatus();
  return sync === undefined || sync.highestBlock - sync.currentBlock <= maxBlocksBehind ? "UP" : "DOWN";
}

/** The body in Besu's layout. */
export function healthBody(health: Health): string {
  return `{\n  "status" : "${health}"\n}`;
}

function parseInteger(text: string): bigint | undefined {
  return /^[+-]?[0-9]{1,19}$/.test(text) ? BigInt(text) : undefined;
}
