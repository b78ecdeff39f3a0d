import type { StateQuery, StateQueryResult } from "../../execution/simulation/stateQuery.ts";
import { unpackCriteria } from "../../logs/packedCriteria.ts";
import { expectDefined } from "../../primitives/assert.ts";
import { equalBytes } from "../../primitives/hex.ts";
import { EventLoopPacer } from "../../primitives/pacer.ts";
import type { Requester } from "../../primitives/requester.ts";
import { encodeBlock } from "../../types/block.ts";
import { isOnLastValidator } from "../../types/extraData.ts";
import type { Unread } from "../../workers/sealed.ts";
import { Filters } from "../filters/filters.ts";
import { numberOf } from "../parameters/blockParameter.ts";
import { readiness } from "../server/health.ts";
import type { BadBlock, Core, FilterCalls } from "./core.ts";
import type { CoreParts, RpcPermissions } from "./coreParts.ts";
import { packTransactions } from "./packedTransactions.ts";
import { listBySender, listEntries, listMatching, listWaiting } from "./poolListings.ts";

/** The core of the process, on its main thread. It has no spare descriptors: threads ask the listeners for these. */
export function createMainCore(parts: CoreParts): Core {
  const { chain, pool, consensus, mining, history, logIndex } = parts;
  const isKnown = (number: bigint, first: bigint): boolean =>
    number >= first && number <= chain.head.header.number;
  return {
    pool: {
      submit: (raw) => parts.submit(raw),
      async transaction(hash) {
        const entry = pool.get(hash);
        return packTransactions(entry === undefined ? [] : [entry.transaction]);
      },
      nextNonce: async (address) => pool.nextNonce(address),
      statistics: async () => pool.statistics,
      bySender: (sender, limitBytes) => listBySender(pool, sender, limitBytes),
      matching: (filter, limit, limitBytes) => listMatching(pool, filter, { limit, limitBytes }),
      entries: (limit) => listEntries(pool, limit),
      waiting: (query) => listWaiting(pool, chain.head.header, query),
    },
    filters: filterCalls(new Filters(parts)),
    network: networkCalls(parts),
    consensus: {
      status: async () => consensus.status(),
      async propose(vote, isForced) {
        const validators = consensus.status().members.map(({ address }) => address);
        if (!isForced && isOnLastValidator(validators, vote)) return "lastValidator";
        return consensus.proposals.propose(vote, isForced ? "forced" : undefined) ? "proposed" : "full";
      },
      discard: async (recipient) => consensus.proposals.discard(recipient),
      pending: async () => consensus.proposals.pending(),
    },
    mining: {
      status: async () => ({
        isMining: parts.isMining(),
        coinbase: mining.coinbase,
        extraData: mining.extraData,
        priceFloors: pool.blockFloors,
      }),
      start: async () => mining.start(),
      stop: async () => mining.stop(),
      setCoinbase: async (address) => mining.setCoinbase(address),
      async setTargetGasLimit(gas) {
        mining.targetGasLimit = gas;
      },
      async setExtraData(extraData) {
        mining.extraData = extraData;
      },
      setPriceFloors: async (floors) => pool.changeBlockFloors(floors),
    },
    permissions: permissionCalls(parts.permissions),
    history: {
      async setHead(block) {
        const number = numberOf(chain, block);
        return isKnown(number, 0n) ? history.setHead(number) : "unknownBlock";
      },
      async replayBlock(block) {
        const number = numberOf(chain, block);
        return isKnown(number, 1n) ? history.replayBlock(number) : "unknownBlock";
      },
      resyncWorldState: () => history.resyncWorldState(),
    },
    wallet: walletCalls(parts),
    logIndex: {
      status: async () => logIndex.status,
      generate: async (from, to) => logIndex.generate(from, to),
      remove: (from, to) => logIndex.remove(from, to),
      repair: async (before) => logIndex.repair(before),
    },
    node: nodeCalls(parts),
    jobs: jobCalls(parts),
    serving: servingCalls(parts),
    development: developmentCalls(parts),
  };
}

function filterCalls(filters: Filters): FilterCalls {
  return {
    addLogs: async (filter, { remoteHost }) => filters.addLogFilter(filter, remoteHost),
    addBlocks: async ({ remoteHost }) => filters.addBlockFilter(remoteHost),
    addPending: async ({ remoteHost }) => filters.addPendingFilter(remoteHost),
    changes: (id, requester) => filters.changes(id, requester),
    logs: (id, requester) => filters.logs(id, requester),
    remove: async (id) => filters.remove(id),
  };
}

function networkCalls({ network }: Pick<CoreParts, "network">): Core["network"] {
  return {
    async info() {
      const { peerToPeer, ethVersion } = network;
      // Servers are their own endpoints; they do not cross threads.
      const services = Object.fromEntries(
        Object.entries(network.services()).map(([name, { host, port }]) => [name, { host, port }]),
      );
      if (peerToPeer === undefined) return { ethVersion, services, peerToPeer };
      const { isListening, peerCount, enode, nodeId, advertised } = peerToPeer;
      return {
        ethVersion,
        services,
        peerToPeer: { isListening, peerCount, enode, nodeId, advertised },
      };
    },
    peers: async () => network.peerToPeer?.peers ?? "disabled",
    addPeer: async (enode) => (await network.peerToPeer?.addPeer(enode)) ?? "disabled",
    removePeer: async (enode) => (await network.peerToPeer?.removePeer(enode)) ?? "disabled",
  };
}

function permissionCalls(permissions: RpcPermissions): Core["permissions"] {
  return {
    items: async (list) => permissions[list]?.items ?? "disabled",
    async change(list, change, items) {
      const changed = permissions[list]?.[change](items);
      if (changed === undefined) return "disabled";
      return changed.ok ? "changed" : changed.error.code;
    },
    async reload() {
      if (permissions.accounts === undefined && permissions.nodes === undefined) return "disabled";
      return permissions.reload().ok ? "reloaded" : "notReloaded";
    },
  };
}

function nodeCalls(parts: CoreParts): Core["node"] {
  return {
    info: () => parts.nodeInfo(),
    syncStatus: async () => parts.syncStatus(),
    async arrivals(newest, count) {
      const found = [];
      for (let number = newest; number >= 0n && newest - number < BigInt(count); number--) {
        const arrival = parts.arrivals.at(number);
        if (arrival !== undefined) found.push(arrival);
      }
      return found;
    },
    async badBlocks() {
      const encoded: BadBlock[] = [];
      const pacer = new EventLoopPacer();
      for (const block of parts.badBlocks()) {
        encoded.push({ hash: block.hash, raw: encodeBlock(block) });
        if (pacer.isDue()) await pacer.yield();
      }
      return encoded;
    },
    async badBlock(hash) {
      const block = parts.badBlocks().find((each) => equalBytes(each.hash, hash));
      return block && encodeBlock(block);
    },
    metrics: async () => (await parts.collectMetrics()) ?? [],
    changeLogLevel: async (level, modules) => parts.changeLogLevel(level, modules),
  };
}

function jobCalls({ simulator, stateQueries, tracer, writeTrace, findLogs }: CoreParts): Core["jobs"] {
  return {
    simulate: (job, requester) => simulator.run(job, requester),
    // A state query is answered with a result of its kind, hence the cast.
    query: <Job extends StateQuery>(job: Unread<Job>, requester: Requester) =>
      stateQueries.query(job, requester) as Promise<StateQueryResult<Job>>,
    trace: (job, requester) => tracer.run(job, requester),
    async traceToFile(job, name, requester) {
      const result = await tracer.run(job, requester);
      if (result.kind !== "traced") return result;
      const path = await writeTrace(name, result.pieces, requester.remoteHost);
      return path === undefined ? "noRoom" : { path };
    },
    findLogs: (criteria, range, requester) => findLogs(unpackCriteria(criteria), range, requester),
  };
}

function servingCalls(parts: CoreParts): Core["serving"] {
  const { network, clock, chain, give, logins } = parts;
  const health = {
    peerCount: () => network.peerToPeer?.peerCount,
    diskPauseEndsAtBytes: () => parts.diskPauseEndsAtBytes(),
    syncStatus: () => parts.syncStatus(),
    isCompared: () => parts.isComparedWithPeers(),
    headAgeSeconds: () => clock.nowMs() / 1000 - Number(chain.head.header.timestamp),
  };
  return {
    readiness: async (query) => readiness(new URLSearchParams(query), health),
    login: async (server, attempt) =>
      expectDefined(logins?.[server], "the log-in of a server with users")(attempt),
    gift: async (request) => expectDefined(give, "the faucet of a request for a gift")(request),
    descriptor: async () => undefined,
  };
}

function walletCalls(parts: Pick<CoreParts, "wallet">): Core["wallet"] {
  const wallet = () => expectDefined(parts.wallet, "the accounts of the development network");
  return {
    send: async (from, transaction) => wallet().send(from, transaction),
    sign: async (from, transaction) => wallet().sign(from, transaction),
    impersonate: async (address) => wallet().impersonate(address),
    stopImpersonating: async (address) => wallet().stopImpersonating(address),
    impersonateAll: async (isWanted) => wallet().impersonateAll(isWanted),
  };
}

function developmentCalls(parts: Pick<CoreParts, "development">): Core["development"] {
  const comforts = () => expectDefined(parts.development, "the comforts of the development network");
  return {
    mine: async (order) => comforts().mine(order),
    increaseTime: async (seconds) => comforts().increaseTime(seconds),
    setTime: async (timestamp) => comforts().setTime(timestamp),
    setNextTimestamp: async (timestamp) => comforts().setNextTimestamp(timestamp),
    nextTimestamp: async () => comforts().nextTimestamp(),
    setTimestampInterval: async (seconds) => comforts().setTimestampInterval(seconds),
    setGasLimit: async (gasLimit) => comforts().setGasLimit(gasLimit),
    isAutomatic: async () => comforts().isAutomatic,
    intervalMs: async () => comforts().intervalMs,
    instanceId: async () => comforts().instanceId,
    setAutomatic: async (isAutomatic) => comforts().setAutomatic(isAutomatic),
    setInterval: async (intervalMs, isAutomatic) => comforts().setInterval(intervalMs, isAutomatic),
    snapshot: async () => comforts().snapshot(),
    revert: async (id) => comforts().revert(id),
    reorganise: async (order) => comforts().reorganise(order),
    reset: async () => comforts().reset(),
    alter: async (alterations) => comforts().alter(alterations),
    load: async (accounts) => comforts().load(accounts),
    sendAs: async (raw, sender) => comforts().sendAs(raw, sender),
    drop: async (hash) => comforts().pool.drop(hash),
    dropOf: async (sender) => comforts().pool.dropOf(sender),
    dropAll: async () => comforts().pool.dropAll(),
  };
}
