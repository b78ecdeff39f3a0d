import type { Settings } from "../../config/settings.ts";
import { equalBytes } from "../../primitives/hex.ts";
import type { ConnectedPeer, NodeFacts } from "../../rpc/nodeFacts.ts";
import type { DataDirectory } from "../dataDirectory.ts";
import { createDiskUse } from "../diskUse.ts";
import { countOpenFiles, hostLimits } from "../hostLimits.ts";
import type { Conductors } from "../openNetwork.ts";

/** Facts older than this are read again, however many ask: they take system calls. */
const REFRESH_MS = 1_000;

/** Reads what explorer_getNodeStatus shows. */
export function createNodeFacts(
  { minFreeDiskBytes, maxPeers }: Pick<Settings, "minFreeDiskBytes" | "maxPeers">,
  directory: DataDirectory,
  conductors: Conductors,
): () => Promise<NodeFacts> {
  const readDiskUse = createDiskUse(directory);
  const { memoryBytes, openFiles } = hostLimits();
  let facts: Promise<NodeFacts> | undefined;
  let readAtMs = 0;

  async function read(): Promise<NodeFacts> {
    const { peering, pauseReasons } = conductors;
    const disk = await readDiskUse();
    return {
      startedAtMs: performance.timeOrigin,
      pauses: pauseReasons.reasons,
      isInSync: peering.sync.isInSync,
      peers: connectedPeers(conductors),
      maxPeers,
      disk: { ...disk, reserveBytes: minFreeDiskBytes },
      memory: { residentBytes: process.memoryUsage.rss(), limitBytes: memoryBytes },
      openFiles: { open: countOpenFiles(), limit: openFiles },
    };
  }

  return () => {
    const nowMs = performance.now();
    if (facts === undefined || nowMs - readAtMs >= REFRESH_MS) {
      readAtMs = nowMs;
      facts = read();
    }
    return facts;
  };
}

function connectedPeers({ network, engine }: Conductors): readonly ConnectedPeer[] | undefined {
  const { members } = engine.status();
  return network?.peers
    .filter(({ isReady }) => isReady)
    .map(({ address, hello, isInbound }) => ({
      clientId: hello.clientId,
      isInbound,
      validator: members.find((member) => equalBytes(member.address, address))?.address,
    }));
}
