import type { ChainReader } from "../../src/chain/chainReader.ts";
import type { ChainSpec } from "../../src/chainspec/chainSpec.ts";
import type { ForkName } from "../../src/chainspec/forks.ts";
import type { ConsensusStatus } from "../../src/consensus/monitor/status.ts";
import { VoteProposals } from "../../src/consensus/voteProposals.ts";
import { ZERO_ADDRESS } from "../../src/primitives/address.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { toDigits } from "../../src/primitives/hex.ts";
import { fail, ok } from "../../src/primitives/result.ts";
import { createRpcBackend } from "../../src/rpc/backend.ts";
import type { Core } from "../../src/rpc/core/core.ts";
import type { CoreParts, PeerToPeer, RpcPool } from "../../src/rpc/core/coreParts.ts";
import { createMainCore } from "../../src/rpc/core/mainCore.ts";
import type { NodeInfo } from "../../src/rpc/nodeInfo.ts";
import type { LocalPorts, RpcBackend, RpcSettings } from "../../src/rpc/ports.ts";
import type { PoolEntry } from "../../src/txpool/entry.ts";
import type { AddedListener } from "../../src/txpool/events.ts";
import type { TxPool } from "../../src/txpool/txPool.ts";
import { decodeTransaction, type SentTransaction } from "../../src/types/transaction.ts";
import { aLogFinder } from "./aLogFinder.ts";
import { aStoredBlock } from "./aStoredBlock.ts";
import { chainOf } from "./recordedChain.ts";

/** Settings of a node that takes any gas price and bounds nothing that a test does not ask for. */
export const RPC_SETTINGS: RpcSettings = {
  clientVersion: "ibex/test",
  networkId: 1337n,
  coinSymbol: "ETH",
  maxLogsRange: 1000n,
  maxTraceFilterRange: 1000n,
  gasPrice: {
    blocks: 100,
    percentile: 50,
    maxWei: 500_000_000_000n,
    minGasPriceWei: 0n,
    minPriorityFeeWei: 0n,
  },
  accounts: [],
  poolMaxSize: -1,
};

/** A node that takes no part in consensus, and knows no validators. */
export const QUIET_CONSENSUS: ConsensusStatus = {
  mode: "following",
  validators: [],
  self: ZERO_ADDRESS,
  isValidator: false,
  height: undefined,
  quorum: 0,
  round: undefined,
  silence: undefined,
  pauseCause: undefined,
  members: [],
  head: undefined,
  votes: { outstanding: [], needed: 0, expireAt: undefined },
};

/** What a test must say; everything else is a quiet node without peers that cannot simulate and has an empty pool. */
export type BackendParts = { readonly chain: ChainReader; readonly spec: ChainSpec } & Partial<AllParts>;

/** What a thread has itself, and what the core of the main thread is made of. */
export type AllParts = LocalPorts & CoreParts;

export function anRpcBackend(parts: BackendParts): RpcBackend {
  const all = rpcPorts(parts);
  return createRpcBackend(all, createMainCore(all));
}

/** What such a backend is made of. */
export function rpcPorts(parts: BackendParts): AllParts {
  return {
    newestHead: () => Promise.resolve(),
    pool: poolOf([]),
    findLogs: aLogFinder(parts.chain),
    logIndex: {
      status: { from: 0n, to: 0n, current: 0n, isIndexing: false },
      generate: () => true,
      remove: () => Promise.resolve(),
      repair: () => true,
    },
    accounts: undefined,
    simulator: { run: () => Promise.reject(new Error("this test simulates nothing")) },
    stateQueries: { query: () => Promise.reject(new Error("this test inspects nothing")) },
    writeTrace: () => Promise.resolve(undefined),
    tracer: { run: () => Promise.reject(new Error("this test traces nothing")) },
    clock: { nowMs: () => 0, at: () => ({ cancel: () => undefined }) },
    settings: RPC_SETTINGS,
    network: {
      peerToPeer: aQuietNetwork(),
      ethVersion: 68,
      services: () => ({}),
    },
    consensus: { proposals: new VoteProposals(), status: () => QUIET_CONSENSUS },
    permissions: { accounts: undefined, nodes: undefined, reload: () => ok(undefined) },
    submit: (raw) => {
      const decoded = decodeTransaction(raw);
      return decoded.ok ? Promise.reject(new Error("this test pools nothing")) : Promise.resolve(decoded);
    },
    prove: () => undefined,
    nextBaseFeePerGas: () => undefined,
    isMining: () => true,
    diskPauseEndsAtBytes: () => undefined,
    badBlocks: () => [],
    nodeInfo: async () => QUIET_NODE,
    arrivals: { at: () => undefined },
    collectMetrics: () => undefined,
    mining: aMiner(),
    history: {
      setHead: async () => ok(undefined),
      replayBlock: async () => ok(undefined),
      resyncWorldState: async () => ok(undefined),
    },
    syncStatus: () => undefined,
    isComparedWithPeers: () => true,
    development: aDevelopment(),
    wallet: aWallet(),
    changeLogLevel: () => undefined,
    ...parts,
  };
}

/** The core of a quiet node with an empty pool, apart from what a test says. */
export function aCore(parts: Partial<CoreParts>): Core {
  const chain = chainOf([aStoredBlock({ number: 0 })]);
  const spec = aChainSpec(chain, { chainId: 1n, fork: "london" });
  return createMainCore({ ...rpcPorts({ chain, spec }), ...parts });
}

/** A wallet that has no account, and impersonates none. */
function aWallet(): NonNullable<CoreParts["wallet"]> {
  return {
    send: async () => fail("caller", "unknownAccount", "this test has no accounts"),
    sign: () => fail("caller", "unknownAccount", "this test has no accounts"),
    impersonate: () => true,
    stopImpersonating: () => false,
    impersonateAll: () => undefined,
  };
}

/** Comforts that do nothing, and have nothing to go back to. */
function aDevelopment(): NonNullable<CoreParts["development"]> {
  return {
    mine: async () => ok(undefined),
    increaseTime: async (seconds) => ok(seconds),
    setTime: async () => ok(0n),
    setNextTimestamp: async () => ok(undefined),
    nextTimestamp: () => 1n,
    setTimestampInterval: async () => false,
    setGasLimit: async () => ok(undefined),
    isAutomatic: false,
    intervalMs: undefined,
    instanceId: new Uint8Array(32).fill(7),
    setAutomatic: async () => undefined,
    setInterval: async () => undefined,
    snapshot: async () => ok(1n),
    revert: async () => ok(false),
    reorganise: async () => ok(undefined),
    reset: async () => ok(undefined),
    alter: async () => ok(undefined),
    load: async () => ok(undefined),
    sendAs: async () => fail("caller", "invalidSignature", "this test sends for nobody"),
    pool: { drop: () => false, dropOf: async () => undefined, dropAll: async () => undefined },
  };
}

/** A node without peers that has just started. */
export const QUIET_NODE: NodeInfo = {
  startedAtMs: 1_700_000_000_900,
  pauses: [],
  isInSync: true,
  peers: [],
  maxPeers: 25,
  disk: { freeBytes: 1_000, reserveBytes: 512, resumeBytes: 640, databaseBytes: 80 },
  unmined: [],
  unminedCount: 0,
  walletRpc: undefined,
  memory: { residentBytes: 7, ownBytes: undefined, mappedBytes: undefined, limitBytes: 9 },
  openFiles: { open: undefined, limit: undefined },
  blockHistory: { start: 0n, kept: undefined, left: 0 },
  stateHistory: { start: 0n, kept: undefined, left: 0 },
};

/** A node that has no peers. */
export function aQuietNetwork(): PeerToPeer {
  return {
    isListening: true,
    peerCount: 0,
    enode: undefined,
    nodeId: new Uint8Array(64),
    advertised: { host: "127.0.0.1", port: 30303 },
    peers: [],
    addPeer: async () => ok(false),
    removePeer: async () => ok(false),
  };
}

/** Takes what it is told, and does nothing. */
export function aMiner(): CoreParts["mining"] {
  return {
    start: () => undefined,
    stop: () => undefined,
    extraData: new Uint8Array(32),
    targetGasLimit: undefined,
    coinbase: ZERO_ADDRESS,
    setCoinbase: () => undefined,
  };
}

/** A pool that only holds what it is told; `arrive` adds one as if it had come in. */
export interface FixedPool extends RpcPool, Pick<TxPool, "onDropped"> {
  arrive(transaction: SentTransaction): void;
}

export function poolOf(transactions: readonly SentTransaction[]): FixedPool {
  const entries = new Map<string, PoolEntry>();
  const listeners = new Set<AddedListener>();
  const arrive = (transaction: SentTransaction): void => {
    const entry: PoolEntry = {
      transaction,
      origin: "local",
      isPrioritized: true,
      addedAtMs: entries.size,
      sequence: entries.size,
    };
    entries.set(toDigits(transaction.hash), entry);
    for (const listener of listeners) listener(entry, "pending");
  };
  for (const transaction of transactions) arrive(transaction);
  return {
    arrive,
    get: (hash) => entries.get(toDigits(hash)),
    entries: () => entries.values(),
    nextNonce: () => 0n,
    whyWaiting: (entry) => ({
      entry,
      reason: "nextBlock",
      priceWei: 0n,
      askedWei: undefined,
      nextNonce: 0n,
      costWei: 0n,
      balanceWei: 0n,
    }),
    get statistics() {
      return { pending: entries.size, queued: 0, local: entries.size, remote: 0, bytes: 0 };
    },
    blockFloors: { minGasPriceWei: 0n, minPriorityFeeWei: 0n },
    changeBlockFloors: () => undefined,
    onAdded(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onDropped: () => () => undefined,
  };
}

/** A chain's rules: one fork from block 0 on, a block reward, and London's base fee unless pinned to zero. */
export function aChainSpec(
  chain: ChainReader,
  rules: {
    readonly chainId: bigint;
    readonly fork: ForkName;
    readonly isZeroBaseFee?: boolean;
    readonly rewardWei?: bigint;
  },
): ChainSpec {
  return {
    chainId: rules.chainId,
    forks: { activations: [{ fork: rules.fork, at: { block: 0n } }] },
    ibft: {
      epochLength: 30_000n,
      requestTimeoutSeconds: 10,
      gossipedHistoryLimit: 1000,
      messageQueueLimit: 1000,
      duplicateMessageLimit: 100,
      futureMessagesLimit: 1000,
      futureMessagesMaxDistance: 10,
      eras: [{ fromBlock: 0n, parameters: { blockPeriodSeconds: 1, blockRewardWei: rules.rewardWei ?? 0n } }],
    },
    genesis: { header: expectDefined(chain.headerByNumber(0n), "genesis").header, alloc: [] },
    contractSizeLimitBytes: 24_576,
    evmStackSize: 1024,
    isZeroBaseFee: rules.isZeroBaseFee ?? false,
    initialBaseFeePerGas: 1_000_000_000n,
    bootnodes: [],
  };
}
