/** The functions of the node that the health routes need. */
interface HealthPorts {
  /** Undefined when peer-to-peer networking is disabled. */
  peerCount(): number | undefined;
  /** Free bytes of disk at which blocks are made again; undefined while no pause by an almost full disk keeps them. */
  diskPauseEndsAtBytes(): number | undefined;
  /** Undefined while the node is not synchronizing. */
  syncStatus(): { readonly currentBlock: bigint; readonly highestBlock: bigint } | undefined;
  /** Whether it is known how many blocks the peers have. */
  isCompared(): boolean;
  /** How old the newest block is by its timestamp, seconds. */
  headAgeSeconds(): number;
}

/** Why the node is not ready; empty when it is. */
export type Objections = readonly string[];

const DEFAULT_MIN_PEERS = "1";
const DEFAULT_MAX_BLOCKS_BEHIND = "2";

/**
 * /readiness: nothing is objected when the node is not paused, has enough peers, and is not far behind; with
 * maxHeadAgeSeconds, which Besu does not know, when its newest block is not older (json-rpc-errors.md#health).
 */
export function readiness(query: URLSearchParams, ports: HealthPorts): Objections {
  const objections: string[] = [];
  const limitOf = (name: string, assumed?: string): bigint | undefined => {
    const text = query.get(name) ?? assumed;
    const limit = text === undefined ? undefined : parseInteger(text);
    if (text !== undefined && limit === undefined) objections.push(`${name} is not a number`);
    return limit;
  };
  const minPeers = limitOf("minPeers", DEFAULT_MIN_PEERS);
  const maxBlocksBehind = limitOf("maxBlocksBehind", DEFAULT_MAX_BLOCKS_BEHIND);
  const maxHeadAgeSeconds = limitOf("maxHeadAgeSeconds");
  const resumeBytes = ports.diskPauseEndsAtBytes();
  if (resumeBytes !== undefined)
    objections.push(
      `the disk is almost full, so no blocks are made until ${resumeBytes} bytes (${Math.ceil(resumeBytes / 1024 ** 2)} MB) are free`,
    );
  const peers = ports.peerCount();
  if (peers !== undefined && minPeers !== undefined && BigInt(peers) < minPeers)
    objections.push(`${peers} peers, minPeers is ${minPeers}`);
  const sync = ports.syncStatus();
  // Otherwise a node that has just started, hours behind, would be ready for a moment.
  if (sync === undefined && peers !== undefined && peers > 0 && !ports.isCompared())
    objections.push("it is not known yet how many blocks the peers have");
  const behind = sync === undefined ? 0n : sync.highestBlock - sync.currentBlock;
  if (maxBlocksBehind !== undefined && sync !== undefined && behind > maxBlocksBehind)
    objections.push(`${behind} blocks behind #${sync.highestBlock}, maxBlocksBehind is ${maxBlocksBehind}`);
  const age = ports.headAgeSeconds();
  if (maxHeadAgeSeconds !== undefined && age > Number(maxHeadAgeSeconds))
    objections.push(
      `the newest block is ${Math.floor(age)} s old, maxHeadAgeSeconds is ${maxHeadAgeSeconds}`,
    );
  return objections;
}

/** The body in Besu's layout; the reasons, which Besu does not give, only when there are any. */
export function healthBody(objections: Objections): string {
  if (objections.length === 0) return `{\n  "status" : "UP"\n}`;
  const reasons = objections.map((reason) => JSON.stringify(reason)).join(", ");
  return `{\n  "status" : "DOWN",\n  "reasons" : [ ${reasons} ]\n}`;
}

function parseInteger(text: string): bigint | undefined {
  return /^[+-]?[0-9]{1,19}$/.test(text) ? BigInt(text) : undefined;
}
