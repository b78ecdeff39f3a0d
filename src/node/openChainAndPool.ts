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
import type { Settings } from "../config/settings.ts";
import { loadInterpreter } from "../execution/blockSession.ts";
import { type Logs, openLogs } from "../logs/openLogs.ts";
import { AccountContract } from "../permissioning/contract/accountContract.ts";
import { HeadCalls } from "../permissioning/contract/headCalls.ts";
import { openPermissions, type Permissions } from "../permissioning/permissions.ts";
import { durationClock } from "../primitives/clock.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { StateRemover } from "../state/removal/stateRemover.ts";
import { BlockRemover } from "../storage/removal/blockRemover.ts";
import { withKnownSenders } from "../txpool/knownSenders.ts";
import { type OpenPool, openPool } from "../txpool/openPool.ts";
import { declareExecutorMetrics } from "../workers/executorMetrics.ts";
import { BlockTimingStore } from "./dataFolder/blockTimingFile.ts";
import { processCpuMs, threadTimes } from "./host/threadTimes.ts";
import type { OpenContext } from "./openContext.ts";
import { type OpenDevelopment, openDevelopment } from "./openDevelopment.ts";
import type { Stores } from "./openStores.ts";
import { NamedPeers } from "./peers/namedPeers.ts";
import { BlockControls } from "./settings/blockControls.ts";

/** The chain, the pool, the permission lists, and the readers of states and logs. */
export interface ChainAndPool extends OpenDevelopment {
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
  readonly pool: OpenPool;
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
  context: OpenContext,
  stores: Stores,
): Promise<Result<ChainAndPool, "differentGenesis" | "unusablePermissions">> {
  const { settings, logger, clock, openParts } = context;
  const { validator, recovery } = stores;
  const recoverSigners: RecoverSigners = (items) => recovery.recoverMany(items, "ordinary");
  const recoverUrgently: RecoverSigners = (items) => recovery.recoverMany(items, "urgent");
  const controls = new BlockControls(settings, validator);
  const chainLogger = logger.child("chain");
  const accountContract = accountContractOf(context);
  /** Undefined until the chain is open, which the pool follows: blocks that come before know no senders. */
  let pool: OpenPool | undefined;
  const opened = await createChain(controls.candidates, {
    spec: settings.chainSpec,
    stores,
    clock,
    recoverSenders: withKnownSenders(recoverUrgently, (hash) => pool?.pool.get(hash)?.transaction.sender),
    recoverSigners: recoverUrgently,
    production: controls.production,
    threadTimes,
    cpuMs: processCpuMs,
    accountContract,
    metrics: context.metrics,
    logger: chainLogger,
  });
  if (!opened.ok) return differentGenesis(settings, opened.error.message);
  const chain = opened.value;
  const shownHead = new ShownHead();
  shownHead.show(chain.head.hash);
  chain.onHeadChanged("shownHead", ({ head }) => shownHead.show(head.hash));
  chainLogger.info(networkSummary(settings.chainSpec, chain.genesis.hash), "network");
  const timing = openParts.add(
    new BlockTimingStore(settings.dataPath, {
      chain,
      clock: durationClock,
      logger: chainLogger,
      isValidator: () => chain.isValidator(validator.address),
    }),
  );
  const namedPeers = new NamedPeers(settings.peers?.maintained ?? []);
  const permissions = openPermissions(settings.permissions, {
    nodeKind: nodeListKind({ ...settings.permissions, maintained: () => namedPeers.nodes }),
    logger: logger.child("permissioning"),
    metrics: context.metrics,
  });
  if (!permissions.ok) return permissions;
  const { accounts, isSenderPermitted } = permissions.value;
  const readers = openReaders(context, stores, chain);
  const headCalls = await openHeadCalls(context, stores, { chain, readers });
  const probed = await accountContract?.probe(headCalls);
  if (probed?.ok === false) return probed;
  const view = createNextBlockView(settings.chainSpec, chain, stores.world.head, clock);
  const poolSettings = { limits: settings.pool, file: settings.poolFile };
  const txPool = openParts.add(
    openPool(poolSettings, {
      chain,
      view,
      recoverSigners,
      ...(accounts !== undefined && { isSenderPermitted }),
      askContract: accountContract?.asking(headCalls, accounts),
      beforeAnswering: () => development?.whenMined(),
      clock,
      logger: logger.child("txpool"),
      metrics: context.metrics,
    }),
  );
  pool = txPool;
  const { development, wallet } = await openDevelopment(context, stores, { chain, controls, pool: txPool });
  return ok({
    chain,
    shownHead,
    controls,
    timing,
    permissions: permissions.value,
    namedPeers,
    headCalls,
    view,
    pool: txPool,
    development,
    wallet,
    recoverSigners,
    ...readers,
    ...(await openWriters(context, stores, chain, shownHead)),
  });
}

function accountContractOf({ settings, logger, metrics }: OpenContext): AccountContract | undefined {
  const address = settings.permissions.accountContract;
  if (address === undefined) return undefined;
  const { chainSpec: spec, rpc } = settings;
  return new AccountContract(
    { address, spec, gasCap: rpc.gasCap },
    { logger: logger.child("permissioning"), metrics },
  );
}

/** Calls of permissioning contracts at the head: at once where they are short, else on a thread for calls. */
async function openHeadCalls(
  { settings }: OpenContext,
  { world }: Stores,
  { chain, readers }: { readonly chain: Chain; readonly readers: Pick<ChainAndPool, "simulator"> },
): Promise<HeadCalls> {
  const { chainSpec: spec, rpc, permissions } = settings;
  const simulator = new InlineCalls({
    spec,
    gasCap: rpc.gasCap,
    chain,
    pool: readers.simulator,
    nowMs: () => performance.now(),
  });
  if (permissions.accountContract !== undefined || permissions.nodeContract !== undefined)
    await loadInterpreter();
  return new HeadCalls({ chain, state: world.head, simulator }, "nodes");
}

/** Opens what writes on threads of its own, besides the chain. */
async function openWriters(
  context: OpenContext,
  stores: Stores,
  chain: Chain,
  shownHead: ShownHead,
): Promise<Pick<ChainAndPool, "accountIndex" | "stateRemover" | "blockRemover">> {
  const accountIndex = await openIndex(context, stores, chain, shownHead);
  return { accountIndex, ...openRemovers(context, stores, chain) };
}

function openRemovers(
  { settings, logger, metrics, openParts }: OpenContext,
  { directory, database }: Stores,
  chain: Chain,
): Pick<ChainAndPool, "stateRemover" | "blockRemover"> {
  const path = directory.chain;
  const parts = { database, chain, clock: durationClock, logger: logger.child("storage"), metrics };
  return {
    stateRemover: openParts.add(new StateRemover({ path, kept: settings.stateHistory }, parts)),
    blockRemover: openParts.add(new BlockRemover({ path, kept: settings.blockHistory }, parts)),
  };
}

/** Opens the readers of committed states and blocks, which have worker threads. */
function openReaders(
  { settings, logger, caches, metrics, openParts }: OpenContext,
  { directory, blocks, recovery }: Stores,
  chain: Chain,
): Pick<ChainAndPool, "simulator" | "tracer" | "logs"> {
  const executing = {
    databasePath: directory.chain,
    spec: settings.chainSpec,
    history: caches.history,
    clock: durationClock,
    logger: logger.child("chain"),
  };
  const { gasCap } = settings.rpc;
  const simulator = openParts.add(createCallPool({ ...DEFAULT_CALL_POOL_SETTINGS, gasCap }, executing));
  if (metrics !== undefined)
    declareExecutorMetrics(metrics, { computation: simulator, transactions: recovery });
  const tracer = openParts.add(createTracePool({ ...DEFAULT_TRACE_POOL_SETTINGS, gasCap }, executing));
  const logs = openParts.add(
    openLogs(
      {
        databasePath: directory.chain,
        bloomFolder: join(directory.path, "caches"),
        isIndexAutomatic: settings.rpc.isLogIndexAutomatic,
      },
      { chain, blocks, clock: durationClock, logger: logger.child("storage") },
    ),
  );
  return { simulator, tracer, logs };
}

async function openIndex(
  { settings: { accountIndex, chainSpec }, caches, logger, metrics, openParts }: OpenContext,
  { directory }: Stores,
  chain: Chain,
  shownHead: ShownHead,
): Promise<AccountIndex | undefined> {
  if (accountIndex === undefined) return undefined;
  return openParts.add(
    await openAccountIndex(
      {
        chainPath: directory.chain,
        indexPath: directory.accountIndex,
        cacheBytes: caches.accountIndex,
        viewLimits: caches.view,
        ...accountIndex,
      },
      {
        chain,
        spec: chainSpec,
        shownHead: shownHead.memory,
        clock: durationClock,
        logger: logger.child("storage"),
        metrics,
      },
    ),
  );
}

function differentGenesis(settings: Settings, difference: string): Result<never, "differentGenesis"> {
  return fail(
    "local",
    "differentGenesis",
    `The genesis file ${settings.genesisFile} does not match the chain stored in ${settings.dataPath}: ${difference}. ` +
      "Give the original file with --genesis-file; or, for another chain, a folder of its own with --data-path.",
  );
}
