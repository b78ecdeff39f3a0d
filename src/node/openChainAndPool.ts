import { join } from "node:path";
import { type AccountIndex, openAccountIndex } from "../accounts/accountIndex.ts";
import { type CallPool, createCallPool, DEFAULT_CALL_POOL_SETTINGS } from "../calls/callPool.ts";
import { InlineCalls } from "../calls/inline/inlineCalls.ts";
import { createTracePool, DEFAULT_TRACE_POOL_SETTINGS, type TracePool } from "../calls/tracePool.ts";
import { type Chain, createChain } from "../chain/createChain.ts";
import { createNextBlockView, type NextBlockView } from "../chain/nextBlockView.ts";
import type { RecoverSigners } from "../chain/signerRecovery.ts";
import { ShownHead } from "../chain/view/shownHead.ts";
import { networkSummary } from "../chainspec/networkSummary.ts";
import { nodeListKind } from "../config/permissionSettings.ts";
import { loadInterpreter } from "../execution/blockSession.ts";
import { type Logs, openLogs } from "../logs/openLogs.ts";
import { AccountContract } from "../permissioning/contract/accountContract.ts";
import { HeadCalls } from "../permissioning/contract/headCalls.ts";
import { openPermissions, type Permissions } from "../permissioning/permissions.ts";
import { durationClock } from "../primitives/clock.ts";
import { ok, type Result } from "../primitives/result.ts";
import { StateRemover } from "../state/removal/stateRemover.ts";
import { BlockRemover } from "../storage/removal/blockRemover.ts";
import { type OpenPool, openPool } from "../txpool/openPool.ts";
import { SenderRecovery } from "../txpool/senderRecovery.ts";
import { declareExecutorMetrics } from "../workers/executorMetrics.ts";
import { BlockTimingStore } from "./dataFolder/blockTimingFile.ts";
import { otherGenesis } from "./dataFolder/genesisOfChain.ts";
import { processCpuMs, threadTimes } from "./host/threadTimes.ts";
import type { OpenContext } from "./openContext.ts";
import type { Stores } from "./openStores.ts";
import { NamedPeers } from "./peers/namedPeers.ts";
import { BlockControls } from "./settings/blockControls.ts";

/** The chain, the pool, the permission lists, and the readers of states and logs. */
export interface ChainAndPool {
  readonly chain: Chain;
  /** What other threads know of the head. */
  readonly shownHead: ShownHead;
  readonly controls: BlockControls;
  readonly timing: BlockTimingStore;
  readonly permissions: Permissions;
  readonly namedPeers: NamedPeers;
  readonly headCalls: HeadCalls;
  /** What decides whether the next block may hold a transaction. */
  readonly view: NextBlockView;
  readonly txPool: OpenPool;
  readonly simulator: CallPool;
  readonly tracer: TracePool;
  readonly logs: Logs;
  /** Undefined when it is off. */
  readonly accountIndex: AccountIndex | undefined;
  readonly stateRemover: StateRemover;
  readonly blockRemover: BlockRemover;
  /** Recovers the senders of transactions that are not part of a block. */
  readonly recoverSigners: RecoverSigners;
}

/** Opens the chain on the stores, the permission lists, the transaction pool, and the threads for calls and log search. */
export async function openChainAndPool(
  node: OpenContext & Stores,
): Promise<Result<ChainAndPool, "differentGenesis" | "unusablePermissions">> {
  const { settings, logger, clock, metrics, openParts, validator, recovery, world } = node;
  const { chainSpec: spec, permissions: permissionSettings } = settings;
  const recoverSigners: RecoverSigners = (items) => recovery.recoverMany(items, "ordinary");
  const recoverUrgently: RecoverSigners = (items) => recovery.recoverMany(items, "urgent");
  const controls = new BlockControls(settings, validator);
  const chainLogger = logger.child("chain");
  const permissionLogger = logger.child("permissioning");
  const { accountContract: address } = permissionSettings;
  const { gasCap } = settings.rpc;
  const accountContract =
    address && new AccountContract({ address, spec, gasCap }, { logger: permissionLogger, metrics });
  const senders = new SenderRecovery(recoverUrgently);
  const opened = await createChain(controls.candidates, {
    spec,
    stores: node,
    clock,
    recoverSenders: senders.recover,
    recoverSigners: recoverUrgently,
    production: controls.production,
    // Blocks on demand have minutes, so how much of a core the thread gets matters to none, and to read it costs each of them.
    ...(settings.development === undefined && { threadTimes }),
    cpuMs: processCpuMs,
    accountContract,
    metrics,
    logger: chainLogger,
  });
  if (!opened.ok) return otherGenesis(settings, opened.error.message);
  const chain = opened.value;
  const shownHead = new ShownHead();
  shownHead.follow(chain);
  chainLogger.info(networkSummary(spec, chain.genesis.hash), "network");
  const timing = openParts.add(
    new BlockTimingStore(settings.dataPath, {
      chain,
      clock: durationClock,
      logger: chainLogger,
      isValidator: () => chain.isValidator(validator.address),
    }),
  );
  const namedPeers = new NamedPeers(settings.peers?.maintained ?? []);
  const permissions = openPermissions(permissionSettings, {
    nodeKind: nodeListKind({ ...permissionSettings, maintained: () => namedPeers.nodes }),
    logger: permissionLogger,
    metrics,
  });
  if (!permissions.ok) return permissions;
  const { accounts, isSenderPermitted } = permissions.value;
  const readers = openReaders(node, chain);
  if (address !== undefined || permissionSettings.nodeContract !== undefined) await loadInterpreter();
  // Contracts are asked at once where their calls are short, else on a thread for calls.
  const { nowMs } = durationClock;
  const simulator = new InlineCalls({ spec, gasCap, chain, pool: readers.simulator, nowMs });
  const headCalls = new HeadCalls({ chain, state: world.head, simulator }, "nodes");
  const probed = await accountContract?.probe(headCalls);
  if (probed?.ok === false) return probed;
  const view = createNextBlockView(spec, chain, world.head, clock);
  const txPool = openParts.add(
    openPool(
      { limits: settings.pool, file: settings.poolFile },
      {
        chain,
        view,
        recoverSigners,
        ...(accounts !== undefined && { isSenderPermitted }),
        askContract: accountContract?.asking(headCalls, accounts),
        clock,
        logger: logger.child("txpool"),
        metrics,
      },
    ),
  );
  senders.know(txPool.pool);
  return ok({
    chain,
    shownHead,
    controls,
    timing,
    permissions: permissions.value,
    namedPeers,
    headCalls,
    view,
    txPool,
    recoverSigners,
    ...readers,
    ...(await openWriters(node, chain, shownHead)),
  });
}

/** Opens the readers of committed states and blocks, which have worker threads. */
function openReaders(
  { settings, logger, caches, metrics, openParts, directory, blocks, recovery }: OpenContext & Stores,
  chain: Chain,
): Pick<ChainAndPool, "simulator" | "tracer" | "logs"> {
  const executing = {
    databasePath: directory.chain,
    spec: settings.chainSpec,
    history: caches.history,
    clock: durationClock,
    logger: logger.child("chain"),
  };
  const { gasCap, isLogIndexAutomatic: isIndexAutomatic } = settings.rpc;
  const simulator = openParts.add(createCallPool({ ...DEFAULT_CALL_POOL_SETTINGS, gasCap }, executing));
  if (metrics !== undefined)
    declareExecutorMetrics(metrics, { computation: simulator, transactions: recovery });
  const tracer = openParts.add(createTracePool({ ...DEFAULT_TRACE_POOL_SETTINGS, gasCap }, executing));
  const logs = openParts.add(
    openLogs(
      { databasePath: directory.chain, bloomFolder: join(directory.path, "caches"), isIndexAutomatic },
      { chain, blocks, clock: durationClock, logger: logger.child("storage") },
    ),
  );
  return { simulator, tracer, logs };
}

/** Opens what writes on threads of its own, besides the chain. */
async function openWriters(
  { settings, caches, logger, metrics, openParts, directory, database }: OpenContext & Stores,
  chain: Chain,
  shownHead: ShownHead,
): Promise<Pick<ChainAndPool, "accountIndex" | "stateRemover" | "blockRemover">> {
  const { chainSpec: spec, accountIndex: index, stateHistory, blockHistory } = settings;
  const { chain: path } = directory;
  const parts = { chain, clock: durationClock, logger: logger.child("storage"), metrics };
  const sizes = { cacheBytes: caches.accountIndex, viewLimits: caches.view };
  const accountIndex =
    index &&
    (await openAccountIndex(
      { chainPath: path, indexPath: directory.accountIndex, ...sizes, ...index },
      { ...parts, spec, shownHead: shownHead.memory },
    ));
  if (accountIndex !== undefined) openParts.add(accountIndex);
  return {
    accountIndex,
    stateRemover: openParts.add(new StateRemover({ path, kept: stateHistory }, { ...parts, database })),
    blockRemover: openParts.add(new BlockRemover({ path, kept: blockHistory }, { ...parts, database })),
  };
}
