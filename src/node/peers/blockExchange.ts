import type { Chain } from "../../chain/createChain.ts";
import type { RecoverSigners } from "../../chain/signerRecovery.ts";
import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import { ForkIds, forkPoints } from "../../chainspec/forkId.ts";
import { isValidator } from "../../ibft/validatorVotes.ts";
import { createEth, type Eth } from "../../network/eth/protocol.ts";
import type { SubProtocol } from "../../network/subProtocol.ts";
import type { InputRefusal } from "../../network/traffic.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Address } from "../../primitives/address.ts";
import type { Clock } from "../../primitives/clock.ts";
import { equalBytes } from "../../primitives/hex.ts";
import type { OnProcessed } from "../../sync/context.ts";
import { type LostBlock, LostEndSearch } from "../../sync/lostEnd.ts";
import type { SyncChain } from "../../sync/ports.ts";
import { onlyAdmitted, untilRestored } from "../../sync/restoration.ts";
import { createSync, type Sync } from "../../sync/sync.ts";
import { PeerPool } from "../../txpool/peerTransactions.ts";
import type { AskContract } from "../../txpool/ports.ts";
import type { TxPool } from "../../txpool/txPool.ts";
import type { FindPeerHead } from "./peerInfo.ts";

/**
 * Exchanges blocks and transactions with peers:
 *
 *     eth ── blocks ── sync ── chain
 *      └── transactions ── pool
 */
interface BlockExchange extends Pick<Eth, "broadcastBlock" | "noteImpliedHeight"> {
  readonly protocols: readonly SubProtocol[];
  readonly sync: Sync;
  /** Undefined when nothing was lost. */
  readonly lostEnd: LostEndSearch | undefined;
  /** Best block announced by a peer. */
  readonly headOf: FindPeerHead;
  /** Calls `listener` whenever the sync target is set, moved or cleared. */
  onSyncChanged(listener: (status: Sync["status"]) => void): () => void;
  /** Calls `listener` whenever a peer is greeted and its height known, has a greater one, or leaves: also before the begin. */
  onPeersChanged(listener: () => void): void;
  /** Starts to sync, and to announce the pool's transactions. */
  begin(): void;
  close(): Promise<void>;
}

export interface BlockExchangeParts {
  readonly spec: ChainSpec;
  readonly networkId: bigint;
  readonly chain: Chain;
  readonly pool: TxPool;
  readonly recoverSigners: RecoverSigners;
  /** Absent where no contract decides who may send. */
  readonly askContract?: AskContract | undefined;
  readonly clock: Clock;
  readonly logger: { readonly network: Logger; readonly sync: Logger };
  /** A peer did something in vain, so many times. */
  readonly onRefused?: (reason: InputRefusal, count: number) => void;
  readonly onProcessed?: OnProcessed;
  /** Called when the import of a block of this number begins. */
  readonly onImportStarted: (number: bigint) => void;
  /** The node may be in sync now, or no longer; called before the listeners. */
  readonly onSyncChanged: () => void;
  /** What this validator has lost with the end of its database, and restores before it takes part; its addresses. */
  readonly lost?: { readonly block: LostBlock; readonly addresses: readonly Address[] } | undefined;
  /** 0 to 1; default Math.random. */
  readonly chance?: () => number;
}

export function createBlockExchange(parts: BlockExchangeParts): BlockExchange {
  const { spec, chain, pool, clock, logger, onRefused } = parts;
  const listeners = new Set<(status: Sync["status"]) => void>();
  const peerListeners: (() => void)[] = [];
  let hasBegun = false;
  const eth = createEth({
    identity: {
      networkId: parts.networkId,
      forkIds: new ForkIds(chain.genesis.hash, forkPoints(spec.forks, chain.genesis.header.timestamp)),
    },
    chain,
    pool: new PeerPool({ ...parts, logger: logger.network }, () => sync.isInSync),
    clock,
    chance: parts.chance ?? Math.random,
    logger: logger.network,
    onRefused,
    onBlock(announced) {
      if (hasBegun && maySync()) sync.offer(announced);
    },
    onPeersChanged() {
      if (hasBegun) {
        sync.wake();
        lostEnd?.wake();
      }
      for (const listener of peerListeners) listener();
    },
  });
  const exchanged = syncChain(chain, parts.onImportStarted);
  const lostEnd =
    parts.lost &&
    new LostEndSearch(parts.lost.block, parts.lost.addresses, {
      ...{ chain: exchanged, peers: () => eth.peers, clock, logger: logger.sync },
      onProven: () => sync.wake(),
    });
  const maySync = (): boolean => lostEnd?.isProven !== false;
  const sync = createSync({
    peers: () => (maySync() ? eth.peers : []),
    chain: lostEnd === undefined ? exchanged : onlyAdmitted(exchanged, lostEnd),
    isValidator: (address) => isValidator(chain.tallyAfter(chain.head), address),
    clock,
    logger: logger.sync,
    onRefused: (reason) => onRefused?.(reason, 1),
    ...(parts.onProcessed !== undefined && { onProcessed: parts.onProcessed }),
    relay: (block) => eth.broadcastBlock(block, chain.head.totalDifficulty + block.header.difficulty),
    onStatusChanged() {
      parts.onSyncChanged();
      for (const listener of [...listeners]) listener(sync.status);
    },
  });
  return {
    protocols: eth.protocols,
    sync: lostEnd === undefined ? sync : untilRestored(sync, lostEnd),
    lostEnd,
    headOf: (nodeId) => headOf(eth, nodeId),
    noteImpliedHeight: (validator, number) => eth.noteImpliedHeight(validator, number),
    broadcastBlock: (block, totalDifficulty) => eth.broadcastBlock(block, totalDifficulty),
    onSyncChanged(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onPeersChanged: (listener) => void peerListeners.push(listener),
    begin() {
      hasBegun = true;
      pool.onAdded(({ transaction }) => eth.announceTransactions([transaction]));
      sync.wake();
      lostEnd?.begin();
    },
    async close() {
      lostEnd?.close();
      eth.close();
      await sync.close();
    },
  };
}

function syncChain(chain: Chain, onImportStarted: (number: bigint) => void): SyncChain {
  return {
    get head() {
      return chain.head;
    },
    headerByHash: (hash) => chain.headerByHash(hash),
    checkNextHeader: (header) => chain.checkNextHeader(header),
    headerRun: (from) => chain.headerRun(from),
    prepareBlock: (block) => chain.prepareBlock(block),
    bulkImport: () => chain.bulkImport(),
    importBlock(block) {
      onImportStarted(block.header.number);
      return chain.importBlock(block);
    },
  };
}

function headOf(eth: Eth, nodeId: Uint8Array): ReturnType<FindPeerHead> {
  const { best, status } = eth.peers.find((peer) => equalBytes(peer.nodeId, nodeId)) ?? {};
  if (best === undefined || status === undefined) return undefined;
  return { ...best, headHash: best.hash, version: status.protocolVersion };
}
