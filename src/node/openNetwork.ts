import { BlockArrivals } from "../chain/blockArrivals.ts";
import { BlockLog } from "../chain/blockLog.ts";
import { ChainRewinder } from "../chain/rewindAndReplay.ts";
import { Consensus } from "../consensus/consensus.ts";
import { createIbfTransport } from "../network/ibf/protocol.ts";
import type { Network } from "../network/network.ts";
import { createPeerCounters, declarePeerMetrics } from "../network/networkMetrics.ts";
import { durationClock } from "../primitives/clock.ts";
import { ok, type Result } from "../primitives/result.ts";
import { DiskGuard } from "../storage/diskGuard.ts";
import { openVotesOf } from "../storage/votes/votesOwner.ts";
import { watchFirstSync } from "../sync/firstSync.ts";
import type { ChainAndPool } from "./openChainAndPool.ts";
import type { OpenContext } from "./openContext.ts";
import type { Stores } from "./openStores.ts";
import { openNodePermissioning } from "./peers/nodePermissioning.ts";
import { Peering } from "./peers/peering.ts";
import { openPeers, type Peers } from "./peers/peers.ts";

/** Consensus, not yet started, and the peer-to-peer network. */
export interface ConsensusAndPeers {
  readonly consensus: Consensus;
  readonly peering: Peering;
  readonly rewinder: ChainRewinder;
  /** When this node had its newest blocks. */
  readonly arrivals: BlockArrivals;
  /** Pauses consensus while the disk is almost full. */
  readonly diskGuard: DiskGuard;
  /** Undefined when peer-to-peer is off, as `peerToPeer`. */
  readonly network: Network | undefined;
  readonly peerToPeer: Peers["facts"] | undefined;
}

/** Opens the vote log, consensus, and the peer-to-peer port. `onFailure` is called when consensus stops itself. */
export async function openNetwork(
  node: OpenContext & Stores & ChainAndPool,
  onFailure: (error: unknown) => void,
): Promise<Result<ConsensusAndPeers, "addressInUse" | "cannotListen" | "unusablePermissions">> {
  const { settings, logger, clock, signedTimes, metrics, openParts, directory, validator, key } = node;
  const { chain, permissions } = node;
  const { pool } = node.txPool;
  const { chainSpec: spec } = settings;
  const { address: self } = validator;
  const consensusLogger = logger.child("consensus");
  const networkLogger = logger.child("network");
  const voteLog = openParts.add(await openVotesOf(directory.voteFile, self, consensusLogger));
  const blockLog = new BlockLog({
    clock,
    logger: logger.child("chain"),
    self,
    pending: () => pool.statistics.pending,
    isCalm: settings.logging.format === "terminal",
    mayCallersRewind: settings.development !== undefined,
    metrics,
  });
  blockLog.follow(chain);
  const counters = createPeerCounters(metrics, networkLogger);
  const consensus = new Consensus({
    ...{ spec, chain, pool, voteLog, clock, signedTimes, metrics, onFailure },
    validator: { ...validator, privateKey: key.privateKey },
    nodeAddress: key.address,
    openIbf: createIbfTransport,
    durations: durationClock,
    logger: consensusLogger,
    onBlockStarted: (number) => blockLog.started(number),
  });
  const { engine, messages } = consensus;
  const peering = openParts.add(
    new Peering({ ...node, consensus, clock: durationClock, onRefused: counters.refused }),
  );
  const { eth, sync, protocols } = peering;
  openParts.onClose(() => engine.stop());
  const permissioning = await openNodePermissioning(node);
  if (!permissioning.ok) return permissioning;
  const peers = await openPeers(settings, {
    ...{ key, permissions, protocols, counters, metrics },
    openNodePermissions: permissioning.value,
    headOf: (nodeId) => eth.announcedBy(nodeId),
    isValidator: (address) => chain.isValidator(address) || messages.isValidatorNode(address),
    forks: eth.forks,
    onSharedKey: (address, sign) => engine.keyWatch.seen(address, sign),
    knownNodesFile: directory.knownNodesFile,
    clock: durationClock,
    logger: networkLogger,
  });
  if (!peers.ok) return peers;
  const { network, facts: peerToPeer, byContract } = peers.value ?? {};
  if (peers.value !== undefined) openParts.add(peers.value);
  if (network !== undefined && byContract !== undefined)
    watchFirstSync(byContract, { chain, network, sync, eth });
  chain.onHeadChanged("connections", () => network?.review());
  if (metrics !== undefined)
    declarePeerMetrics(metrics, { maxPeers: settings.maxPeers, peerCount: () => network?.peerCount ?? 0 });
  const rewinder = new ChainRewinder({
    chain,
    self,
    isStopped: () => consensus.isStoppedByOperator,
    logger: logger.child("chain"),
  });
  const arrivals = new BlockArrivals(chain, { isInSync: () => sync.isInSync, nowMs: clock.nowMs });
  const diskGuard = new DiskGuard(
    { path: settings.dataPath, reserveBytes: settings.minFreeDiskBytes },
    { clock: durationClock, logger, hold: consensus.pauseReasons },
  );
  openParts.onClose(() => diskGuard.stop());
  return ok({ consensus, peering, rewinder, arrivals, diskGuard, network, peerToPeer });
}
