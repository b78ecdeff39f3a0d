import { BlockLog } from "../chain/blockLog.ts";
import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { ForkIds } from "../chainspec/forkId.ts";
import { connectConsensus } from "../consensus/chainAdapter.ts";
import type { Engine } from "../consensus/engine.ts";
import { PauseReasons } from "../consensus/pauseReasons.ts";
import type { Network } from "../network/network.ts";
import { createPeerCounters, declarePeerMetrics } from "../network/networkMetrics.ts";
import type { Address } from "../primitives/address.ts";
import { durationClock } from "../primitives/clock.ts";
import { equalBytes } from "../primitives/hex.ts";
import { ok, type Result } from "../primitives/result.ts";
import { DiskGuard } from "../storage/diskGuard.ts";
import { openVotesOf } from "../storage/votes/votesOwner.ts";
import { watchFirstSync } from "../sync/firstSync.ts";
import type { ChainAndPool } from "./openChainAndPool.ts";
import type { OpenContext } from "./openContext.ts";
import type { Stores } from "./openStores.ts";
import { openNodePermissioning } from "./peers/nodePermissioning.ts";
import { Peering } from "./peers/peering.ts";
import { openPeers, type PeerForks, type Peers, type PeersParts } from "./peers/peers.ts";

/** Consensus, not yet started, and the peer-to-peer network. */
export interface ConsensusAndPeers {
  readonly engine: Engine;
  readonly peering: Peering;
  readonly pauseReasons: PauseReasons;
  /** Pauses consensus while the disk is almost full. */
  readonly diskGuard: DiskGuard;
  /** Undefined when peer-to-peer is off, as `peerToPeer`. */
  readonly network: Network | undefined;
  readonly peerToPeer: Peers["facts"] | undefined;
}

/** Opens the vote log, consensus, and the peer-to-peer port. `onFailure` is called when consensus stops itself. */
export async function openNetwork(
  context: OpenContext,
  stores: Stores,
  chainAndPool: ChainAndPool,
  onFailure: (error: unknown) => void,
): Promise<Result<ConsensusAndPeers, "addressInUse" | "cannotListen" | "unusablePermissions">> {
  const { settings, logger, clock, signedTimes, metrics, openParts } = context;
  const { directory, validator, key } = stores;
  const { chain, recoverSigners } = chainAndPool;
  const { pool, askContract } = chainAndPool.pool;
  const { chainSpec: spec, networkId } = settings;
  const voteLog = openParts.add(
    await openVotesOf(directory.voteFile, validator.address, logger.child("consensus")),
  );
  const blockLog = new BlockLog({
    clock,
    logger: logger.child("chain"),
    self: validator.address,
    pending: () => pool.statistics.pending,
    isCalm: settings.logging.format === "terminal",
    mayCallersRewind: settings.development !== undefined,
    metrics,
  });
  blockLog.follow(chain);
  const counters = createPeerCounters(metrics);
  const networkLogger = logger.child("network");
  const peering = openParts.add(
    new Peering({
      ...{ spec, networkId },
      self: validator.address,
      hasOtherNodeKey: !equalBytes(validator.address, key.address),
      chain,
      pool,
      recoverSigners,
      askContract,
      engine: () => engine,
      ...{ clock: durationClock, signedTimes },
      logger: {
        consensus: logger.child("consensus"),
        network: networkLogger,
        sync: logger.child("sync"),
      },
      metrics,
      onRefused: (reason, count) => {
        counters.traffic?.inputRefused(reason, count);
        networkLogger.often("debug", "input of a peer refused", () => ({ reason, count }));
      },
      onImportStarted: (number) => blockLog.importStarted(number),
      lost: stores.lost && { block: stores.lost, addresses: [key.address, validator.address] },
    }),
  );
  const engine = connectConsensus({
    spec,
    chain,
    pool,
    validator: { ...validator, privateKey: key.privateKey },
    outbox: peering.outbox,
    voteLog,
    clock,
    signedTimes,
    logger: logger.child("consensus"),
    metrics,
    onFailure,
    onBlockStarted: (number) => blockLog.started(number),
  });
  openParts.onClose(() => engine.stop());
  const onSharedKey = (key: Address, sign: { readonly isProven: boolean }): void =>
    engine.keyWatch.seen(key, sign);
  const permissioning = await openNodePermissioning(context, {
    ...chainAndPool,
    calls: chainAndPool.headCalls,
  });
  if (!permissioning.ok) return permissioning;
  const peers = await openPort(context, stores, chainAndPool, peering, {
    counters,
    onSharedKey,
    openNodePermissions: permissioning.value,
  });
  if (!peers.ok) return peers;
  const { network, facts: peerToPeer } = peers.value ?? {};
  if (metrics !== undefined)
    declarePeerMetrics(metrics, { maxPeers: settings.maxPeers, peerCount: () => network?.peerCount ?? 0 });
  const pauseReasons = new PauseReasons(engine, metrics);
  const diskGuard = new DiskGuard(
    { path: settings.dataPath, reserveBytes: settings.minFreeDiskBytes },
    {
      clock: durationClock,
      logger,
      pause: () => pauseReasons.pause("diskAlmostFull"),
      resume: () => pauseReasons.resume("diskAlmostFull"),
    },
  );
  openParts.onClose(() => diskGuard.stop());
  return ok({ engine, peering, pauseReasons, diskGuard, network, peerToPeer });
}

/** Opens the peer-to-peer port; undefined when peer-to-peer is off. */
async function openPort(
  { settings, logger, metrics, openParts }: OpenContext,
  { key, directory }: Stores,
  { chain, permissions }: ChainAndPool,
  peering: Peering,
  parts: Pick<PeersParts, "counters" | "onSharedKey" | "openNodePermissions">,
): Promise<Result<Peers | undefined, "addressInUse" | "cannotListen" | "unusablePermissions">> {
  const peers = await openPeers(settings, {
    ...parts,
    key,
    permissions,
    protocols: peering.protocols,
    headOf: peering.headOf,
    isValidator: (address) => chain.isValidator(address) || peering.isValidatorNode(address),
    forks: forksOf(chain, settings.chainSpec),
    knownNodesFile: directory.knownNodesFile,
    clock: durationClock,
    logger: logger.child("network"),
    metrics,
  });
  if (!peers.ok || peers.value === undefined) return peers;
  const { network, byContract } = openParts.add(peers.value);
  if (byContract !== undefined) watchFirstSync(byContract, { chain, network, peering });
  chain.onHeadChanged("connections", () => network.review());
  return peers;
}

function forksOf(chain: ChainAndPool["chain"], spec: ChainSpec): PeerForks {
  const forkIds = ForkIds.of(spec.forks, chain.genesis);
  return {
    own: () => forkIds.at(chain.head.header),
    isCompatible: (forkId) => forkIds.check(chain.head.header, forkId).ok,
  };
}
