import type { ForkId } from "../../chainspec/forkId.ts";
import type { Endpoint } from "./endpoint.ts";
import { type NodeRecord, signNodeRecord } from "./nodeRecord.ts";

interface OwnRecordParts {
  readonly privateKey: Uint8Array;
  /** The endpoint at which others reach this node. */
  readonly endpoint: () => Endpoint;
  readonly forkId: () => ForkId;
  /** Milliseconds since 1970. */
  readonly epochMs: () => number;
}

/** Returns this node's signed record; signs a new one when the endpoint or the fork id has changed. */
export function createOwnRecord({ privateKey, endpoint, forkId, epochMs }: OwnRecordParts): () => NodeRecord {
  let record: NodeRecord | undefined;
  return () => {
    const current = { endpoint: endpoint(), forkId: forkId() };
    if (record !== undefined && says(record, current)) return record;
    // Time grows from run to run, so nothing has to be stored.
    const nowMs = BigInt(Math.floor(epochMs()));
    const sequence = record === undefined || nowMs > record.sequence ? nowMs : record.sequence + 1n;
    record = signNodeRecord({ sequence, ...current }, privateKey);
    return record;
  };
}

function says(
  { endpoint: at, forkId: of }: NodeRecord,
  { endpoint, forkId }: { readonly endpoint: Endpoint; readonly forkId: ForkId },
): boolean {
  return (
    at?.ip === endpoint.ip &&
    at.udpPort === endpoint.udpPort &&
    at.tcpPort === endpoint.tcpPort &&
    of?.checksum === forkId.checksum &&
    of.next === forkId.next
  );
}
