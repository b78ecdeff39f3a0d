import { parametersAt } from "../../chainspec/ibftParameters.ts";
import type { Settings } from "../../config/settings.ts";
import type { Network } from "../../network/network.ts";
import type { RecentWarning } from "../../observability/recentWarnings.ts";
import { durationClock } from "../../primitives/clock.ts";
import { equalBytes, toDigits, toHex } from "../../primitives/hex.ts";
import type { Json } from "../../rpc/method.ts";
import { showConsensus } from "../../rpc/methods/ibft/status.ts";
import type { StateRemovalStatus } from "../../state/removal/stateRemover.ts";
import type { BlockRemovalStatus } from "../../storage/removal/blockRemover.ts";
import { countOpenFiles, hostLimits } from "../host/hostLimits.ts";
import { processMemory } from "../host/processMemory.ts";
import type { OpenNode } from "../openNode.ts";
import type { SignerHealth } from "../signer/signerHealth.ts";
import { openStatusSocket } from "./statusSocket.ts";

/** What a running node tells of itself: numbers and texts only, ready for JSON. Times are milliseconds since 1970. */
export interface StatusReport {
  readonly version: string;
  readonly processId: number;
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly chainId: string;
  readonly networkId: string;
  readonly genesisHash: string;
  readonly head: { readonly number: number; readonly hash: string; readonly timestamp: number };
  readonly isInSync: boolean;
  /** A head older than this means that the chain has stalled: the time of a block, of a round, and some seconds. */
  readonly headAgeLimitMs: number;
  /** Undefined when no blocks are fetched. */
  readonly sync?: { readonly startingBlock: number; readonly highestBlock: number };
  /** Why this node makes no blocks and casts no votes; empty when nothing keeps it. */
  readonly pauses: readonly string[];
  /** The answer of ibft_status. */
  readonly consensus: Json;
  /** Transactions in the pool. */
  readonly pooled: number;
  /** Undefined when peer-to-peer is off. */
  readonly peerToPeer?: PeerToPeerReport;
  /** Endpoints of the servers that are open. */
  readonly servers: Readonly<Record<string, string>>;
  readonly openFiles: { readonly open?: number; readonly limit?: number };
  /** Bytes; `own` is without mapped files, and absent where the system does not tell. */
  readonly memory: { readonly resident: number; readonly own?: number; readonly limit: number };
  /** Free space below which no blocks are made. */
  readonly minFreeDiskBytes: number;
  /**
   * The first block that is stored whole, how many below the head are kept, and how many are still to be removed. Absent where every
   * block is there and is kept.
   */
  readonly blockHistory?: HistoryReport;
  /** History of states, like `blockHistory`; `first` is the first block whose state is kept. */
  readonly stateHistory?: HistoryReport & {
    /** Trie nodes moved and pages deleted by the removal under way, or by the last one. */
    readonly movedNodes: number;
    readonly deletedPages: number;
  };
  /** Warnings about options, from the start. */
  readonly optionWarnings: readonly string[];
  readonly recentWarnings: readonly RecentWarning[];
  /** Absent where the node's own key is the validator's. */
  readonly signer?: SignerHealth;
}

export interface HistoryReport {
  readonly first: number;
  /** Blocks below the head; absent for all. */
  readonly kept?: number;
  /** Blocks before the first that still take room; absent until it is known. */
  readonly toRemove?: number;
}

export interface PeerToPeerReport {
  readonly enode?: string;
  readonly maxPeers: number;
  readonly peers: readonly {
    readonly address: string;
    readonly remote: string;
    readonly client: string;
    readonly isInbound: boolean;
    readonly isValidator: boolean;
  }[];
  /** Nodes that discovery knows. */
  readonly discovered: number;
  /** Bootnodes, static nodes and those of admin_addPeer without a connection. */
  readonly unreachable: readonly {
    readonly enode: string;
    readonly seconds: number;
    readonly explanation: string;
  }[];
}

interface ReportTimes {
  readonly startedAtMs: number;
  readonly nowMs: number;
}

/** Lets `ibex status` and `ibex doctor` ask the node. */
export async function openStatus(node: OpenNode): Promise<void> {
  const { settings, logger, clock, openParts } = node;
  const startedAtMs = clock.nowMs();
  const report = () => createStatusReport(node, { startedAtMs, nowMs: clock.nowMs() });
  const textOf = (): string => `${JSON.stringify(report())}\n`;
  const socket = await openStatusSocket(settings.dataPath, textOf);
  if ("close" in socket) openParts.add(socket);
  else logger.warn({ reason: socket.problem }, "ibex status and ibex doctor cannot ask this node");
}

/** Gathers the report; takes less than a millisecond, and reads two files of the system. */
function createStatusReport(node: OpenNode, { startedAtMs, nowMs }: ReportTimes): StatusReport {
  const { settings, logger, validator, chain, txPool, blockRemover, stateRemover } = node;
  const { peering, network } = node;
  const { engine, pauseReasons } = node.consensus;
  const { header, hash } = chain.head;
  const { status, isInSync } = peering.sync;
  const { pending, queued } = txPool.pool.statistics;
  const limits = hostLimits();
  const { openFiles } = limits;
  const open = countOpenFiles();
  const memory = processMemory();
  return {
    version: settings.clientVersion,
    processId: process.pid,
    startedAtMs,
    nowMs,
    chainId: `${settings.chainSpec.chainId}`,
    networkId: `${settings.networkId}`,
    genesisHash: toHex(chain.genesis.hash),
    head: { number: Number(header.number), hash: toHex(hash), timestamp: Number(header.timestamp) },
    isInSync,
    headAgeLimitMs: headAgeLimitMs(settings.chainSpec, header.number),
    ...(status !== undefined && {
      sync: { startingBlock: Number(status.startingBlock), highestBlock: Number(status.highestBlock) },
    }),
    pauses: pauseReasons.reasons,
    consensus: showConsensus(engine.status(), nowMs),
    pooled: pending + queued,
    ...(network !== undefined && {
      peerToPeer: reportPeers(network, node),
    }),
    servers: Object.fromEntries(
      Object.entries(node.services.now).map(([name, { host, port }]) => [name, `${host}:${port}`]),
    ),
    openFiles: {
      ...(open !== undefined && { open }),
      ...(openFiles !== undefined && { limit: openFiles }),
    },
    memory: {
      resident: process.memoryUsage.rss(),
      ...(memory !== undefined && { own: memory.ownBytes }),
      limit: limits.memoryBytes,
    },
    minFreeDiskBytes: settings.minFreeDiskBytes,
    ...historyReports(blockRemover.status, stateRemover.status),
    optionWarnings: settings.warnings,
    recentWarnings: logger.recentWarnings(),
    ...(validator.health !== undefined && { signer: validator.health() }),
  };
}

function historyReports(
  blocks: BlockRemovalStatus,
  states: StateRemovalStatus,
): Pick<StatusReport, "blockHistory" | "stateHistory"> {
  const { nodes: movedNodes, pages: deletedPages } = states;
  return {
    ...(isLimited(blocks) && { blockHistory: historyReport(blocks) }),
    ...(isLimited(states) && { stateHistory: { ...historyReport(states), movedNodes, deletedPages } }),
  };
}

function isLimited({ kept, start }: BlockRemovalStatus): boolean {
  return kept !== undefined || start > 0n;
}

function historyReport({ kept, start, left }: BlockRemovalStatus): HistoryReport {
  return {
    first: Number(start),
    ...(kept !== undefined && { kept: Number(kept) }),
    ...(left !== undefined && { toRemove: left }),
  };
}

function headAgeLimitMs({ ibft }: Settings["chainSpec"], number: bigint): number {
  const { blockPeriodSeconds } = parametersAt(ibft, number + 1n);
  return (Number(blockPeriodSeconds) + Number(ibft.requestTimeoutSeconds)) * 1000 + GRACE_MS;
}

/** Rounds that fail now and then are no reason to worry. */
const GRACE_MS = 5_000;

function reportPeers(network: Network, { settings, consensus, peerToPeer }: OpenNode): PeerToPeerReport {
  const nowMs = durationClock.nowMs();
  const { engine, messages } = consensus;
  const { members } = engine.status();
  const enode = peerToPeer?.enode;
  return {
    ...(enode !== undefined && { enode }),
    maxPeers: settings.maxPeers,
    peers: network.peers
      .filter(({ isReady }) => isReady)
      .map(({ address, remote, hello, isInbound }) => ({
        address: toHex(address),
        remote: `${remote.host}:${remote.port}`,
        client: hello.clientId,
        isInbound,
        isValidator:
          members.some((member) => equalBytes(member.address, address)) || messages.isValidatorNode(address),
      })),
    discovered: network.discoveredNodes.length,
    unreachable: network.unreachable.map(({ node, sinceMs, explanation }) => ({
      enode: `enode://${toDigits(node.nodeId)}@${node.host}:${node.tcpPort}`,
      seconds: Math.round((nowMs - sinceMs) / 1000),
      explanation,
    })),
  };
}
