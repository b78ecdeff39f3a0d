import type { Settings } from "../../config/settings.ts";
import { equalBytes } from "../../primitives/hex.ts";
import {
  type ConnectedPeer,
  MOST_UNMINED,
  type NodeInfo,
  type UnminedInfo,
  type WalletRpc,
} from "../../rpc/nodeInfo.ts";
import type { UnminedTransaction } from "../../txpool/unminedWatch.ts";
import { createDiskUse } from "../dataFolder/diskUse.ts";
import { countOpenFiles, hostLimits } from "../host/hostLimits.ts";
import { processMemory } from "../host/processMemory.ts";
import type { OpenNode } from "../openNode.ts";

/** Age at which the status is read again, however many ask: it takes system calls. */
const REFRESH_MS = 1_000;

/** Reads what explorer_getNodeStatus shows. */
export function createNodeInfo(node: OpenNode): () => Promise<NodeInfo> {
  const { minFreeDiskBytes, maxPeers, http } = node.settings;
  const { peering, diskGuard, blockRemover, stateRemover } = node;
  const { pauseReasons } = node.consensus;
  const { unmined } = node.txPool;
  const readDiskUse = createDiskUse(node.directory);
  const { memoryBytes, openFiles } = hostLimits();
  let info: Promise<NodeInfo> | undefined;
  let readAtMs = 0;

  async function read(): Promise<NodeInfo> {
    const disk = await readDiskUse();
    return {
      startedAtMs: performance.timeOrigin,
      pauses: pauseReasons.reasons,
      isInSync: peering.sync.isInSync,
      peers: connectedPeers(node),
      maxPeers,
      disk: { ...disk, reserveBytes: minFreeDiskBytes, resumeBytes: diskGuard.resumeBytes },
      unmined: unmined.list(MOST_UNMINED).map(showUnmined),
      unminedCount: unmined.count,
      walletRpc: walletRpc(http, node.services.now.jsonrpc?.port),
      memory: memoryInfo(memoryBytes),
      openFiles: { open: countOpenFiles(), limit: openFiles },
      blockHistory: blockRemover.status,
      stateHistory: stateRemover.status,
    };
  }

  return () => {
    const nowMs = performance.now();
    if (info === undefined || nowMs - readAtMs >= REFRESH_MS) {
      readAtMs = nowMs;
      info = read();
    }
    return info;
  };
}

function memoryInfo(limitBytes: number): NodeInfo["memory"] {
  const memory = processMemory();
  return {
    residentBytes: process.memoryUsage.rss(),
    ownBytes: memory?.ownBytes,
    mappedBytes: memory?.mappedBytes,
    limitBytes,
  };
}

function showUnmined({ entry, ...why }: UnminedTransaction): UnminedInfo {
  const { transaction, addedAtMs } = entry;
  const { hash, sender, nonce } = transaction;
  return { hash, sender, nonce, addedAtMs, ...why };
}

function walletRpc(http: Settings["http"], port: number | undefined): WalletRpc | undefined {
  if (http === undefined || port === undefined || http.authentication !== undefined) return undefined;
  if (!http.groups.includes("ETH")) return undefined;
  return { port, isSecure: http.tls !== undefined, isLocal: /^(127\.|::1$|localhost$)/i.test(http.host) };
}

function connectedPeers({ network, consensus }: OpenNode): readonly ConnectedPeer[] | undefined {
  const { members } = consensus.engine.status();
  return network?.peers
    .filter(({ isReady }) => isReady)
    .map(({ address, hello, isInbound }) => ({
      clientId: hello.clientId,
      isInbound,
      validator: members.find((member) => equalBytes(member.address, address))?.address,
    }));
}
