import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import { ok, type Result } from "../../primitives/result.ts";
import type { RpcSettings } from "../../rpc/ports.ts";
import {
  type ListenAddress,
  listening,
  type OpenServer,
  type ServerErrorCode,
} from "../../rpc/server/server.ts";
import {
  type AddressOf,
  nameOptions,
  THREAD_SERVERS,
  type ThreadServerName,
} from "../../rpc/server/serverTable.ts";
import { allOfHosts, type HostMemory } from "../../rpc/server/sharedHosts.ts";
import { isPath } from "../../rpc/server/unixSocket.ts";
import { openInterests } from "../../rpc/threads/interests.ts";
import { openSharedFloors } from "../../rpc/threads/sharedFloors.ts";
import type { IssuedKeys } from "../access/access.ts";
import type { DescriptorCopier } from "./descriptorCopier.ts";
import { createHeldMemory } from "./heldMemory.ts";
import type { LoadingThread, LoadingThreads } from "./loadingThreads.ts";
import { RpcThread } from "./rpcThread.ts";
import type { ServerSettings } from "./serverSettings.ts";
import { openSharedListener, type SharedListener } from "./sharedListener.ts";
import type { RpcThreadData } from "./threadData.ts";
import { createThreadLines } from "./threadLines.ts";
import type { Listeners, RpcThreadsParts } from "./threadParts.ts";

export interface RpcThreadsSettings {
  readonly databasePath: string;
  readonly accountIndex: RpcThreadData["accountIndex"];
  readonly spec: ChainSpec;
  readonly gasCap: bigint;
  readonly viewLimits: RpcThreadData["viewLimits"];
  readonly servers: ServerSettings;
  readonly answers: RpcSettings;
  /** Public keys of the tokens that this node issues. */
  readonly issuedKeys: IssuedKeys;
  /** Descriptors of each listening socket to keep ready for threads that take turns to accept. */
  readonly spareDescriptors: number;
}

/**
 * All threads but the first begin when callers have a second connection, or after so long: one thread serves one connection, and
 * to start each takes more than half of what the start of the node itself takes.
 */
const OTHERS_AFTER_MS = 5000;
const SOUGHT_CHECK_MS = 50;

/** Takes the ports. */
export async function openRpcThreads(
  settings: RpcThreadsSettings,
  parts: RpcThreadsParts,
  { threads, startCopier }: LoadingThreads,
): Promise<Result<RpcThreads, ServerErrorCode>> {
  const copier = startCopier();
  const listeners = await openListeners(settings, threads.length, copier);
  copier.close();
  return listeners.ok ? ok(new RpcThreads(settings, parts, threads, listeners.value)) : listeners;
}

async function openListeners(
  { servers, spareDescriptors }: Pick<RpcThreadsSettings, "servers" | "spareDescriptors">,
  threads: number,
  copier: DescriptorCopier,
): Promise<Result<Listeners, ServerErrorCode>> {
  // A single thread shares its connections with nobody.
  const counts = { threads, spares: threads > 1 ? spareDescriptors : 0 };
  const opened: Listeners = {};
  for (const name of THREAD_SERVERS) {
    const { [name]: server } = servers;
    if (server === undefined) continue;
    const take = (address: ListenAddress): Promise<Result<void, ServerErrorCode>> =>
      listening(async () => {
        opened[name] = await openSharedListener(address, counts, copier);
      }, address);
    const address = addressOf(server);
    const wanted = await take(address);
    const isAnyPortFine = "isAnyPortFine" in server && server.isAnyPortFine;
    const isOtherFine = isAnyPortFine && !wanted.ok && wanted.error.code === "addressInUse";
    const listened = isOtherFine ? await take({ ...address, port: 0 }) : wanted;
    if (listened.ok) continue;
    for (const listener of Object.values(opened)) listener.close();
    return nameOptions(listened, name);
  }
  return ok(opened);
}

/** The address alone, without the rest of the settings. */
function addressOf(server: ListenAddress): ListenAddress {
  return isPath(server) ? { path: server.path } : { host: server.host, port: server.port };
}

/** JSON-RPC on threads of its own, which share one port for each server. */
export class RpcThreads {
  readonly servers: { readonly [Name in ThreadServerName]?: OpenServer & AddressOf<Name> };
  private readonly threads: readonly RpcThread[];
  private readonly listeners: Listeners;
  private readonly stops: readonly (() => void)[];
  private readonly beginOne: (thread: RpcThread, index: number) => Promise<void>;
  /** Whether callers have so many connections that one thread is too few. */
  private readonly isSought: () => boolean;
  /** What callers may do since it was replaced for the last time. */
  private access: ServerSettings | undefined;
  private waiting: NodeJS.Timeout | undefined;
  private closed: Promise<void> | undefined;

  constructor(
    settings: RpcThreadsSettings,
    parts: RpcThreadsParts,
    threads: readonly LoadingThread[],
    listeners: Listeners,
  ) {
    this.listeners = listeners;
    this.threads = threads.map((thread) => new RpcThread(thread));
    const count = threads.length;
    const held = createHeldMemory(count);
    this.isSought = () => THREAD_SERVERS.reduce((sum, name) => sum + allOfHosts(held[name]), 0) > 1;
    const close = (): Promise<void> => this.close();
    const opened = (name: ThreadServerName): readonly [string, OpenServer & ListenAddress][] => {
      const { [name]: listener } = listeners;
      return listener === undefined ? [] : [[name, openServer(listener, held[name], close)]];
    };
    this.servers = Object.fromEntries(THREAD_SERVERS.flatMap(opened));
    const floors = openSharedFloors();
    floors.write(parts.pool.blockFloors);
    parts.pool.onFloorsChanged(floors.write);
    const writeLine = createThreadLines(parts.logger, () => performance.now());
    const interests = openInterests(count);
    const threadParts = { ...parts, listeners, writeLine, interests };
    const shared = {
      held,
      floors: floors.memory,
      interests: interests.memory,
      subscriptions: new SharedArrayBuffer(4),
    };
    this.beginOne = (thread, index) =>
      thread.begin(dataOf(settings, parts, { index, ...shared }), threadParts);
    const each = (tell: (thread: RpcThread) => void): void => this.threads.forEach(tell);
    this.stops = [
      parts.chain.onHeadChanged("callerThreads", () => each(({ heads }) => heads?.headChanged())),
      parts.pool.onAdded(({ transaction }) => each(({ events }) => events?.onAdded(transaction))),
      parts.pool.onDropped(({ transaction }) => each(({ events }) => events?.onDropped(transaction))),
      parts.sync.onStatusChanged((status) => each((thread) => thread.notifications?.tell("syncing", status))),
    ];
  }

  /**
   * Lets the threads answer, the first one at once and others when they are needed. Until then the port is theirs, and connections
   * wait. Resolves when the first one does.
   */
  async begin(): Promise<void> {
    const [first, ...others] = this.threads;
    if (first !== undefined) await this.beginOne(first, 0);
    if (others.length > 0) this.beginWhenSought(others, performance.now() + OTHERS_AFTER_MS);
  }

  private beginWhenSought(others: readonly RpcThread[], latestMs: number): void {
    if (this.closed !== undefined) return;
    if (!this.isSought() && performance.now() < latestMs) {
      this.waiting = setTimeout(() => this.beginWhenSought(others, latestMs), SOUGHT_CHECK_MS).unref();
      return;
    }
    for (const [index, thread] of others.entries()) {
      void this.beginOne(thread, index + 1);
      if (this.access !== undefined) thread.changeAccess(this.access);
    }
  }

  /** Resolves when all that the threads have counted is in the metrics. */
  async flushCounts(): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.flushCounts()));
  }

  /** Replaces what callers may do. */
  changeAccess(servers: ServerSettings): void {
    this.access = servers;
    for (const thread of this.threads) thread.changeAccess(servers);
  }

  /** Lets each open thread answer so many made-up calls (warmup/madeUpCalls.ts). */
  warmUp(calls: number): void {
    for (const thread of this.threads) thread.notifications?.tell("warmUp", calls);
  }

  /** Closes all threads and ports. The owner of each port calls it, and only the first call does anything. */
  close(): Promise<void> {
    this.closed ??= this.closeAll();
    return this.closed;
  }

  private async closeAll(): Promise<void> {
    clearTimeout(this.waiting);
    for (const stop of this.stops) stop();
    await Promise.all(this.threads.map((thread) => thread.close()));
    for (const name of THREAD_SERVERS) this.listeners[name]?.close();
  }
}

/** A server of all threads; they close it together. */
function openServer(
  { address }: SharedListener,
  connections: HostMemory,
  close: () => Promise<void>,
): OpenServer & ListenAddress {
  return {
    ...address,
    get connectionCount() {
      return allOfHosts(connections);
    },
    close,
  };
}

function dataOf(
  { databasePath, accountIndex, spec, gasCap, viewLimits, servers, answers, issuedKeys }: RpcThreadsSettings,
  { shownHead, count, logger }: RpcThreadsParts,
  own: Pick<RpcThreadData, "index" | "held" | "floors" | "interests" | "subscriptions">,
): RpcThreadData {
  return {
    databasePath,
    accountIndex,
    gasCap,
    viewLimits,
    servers,
    shownHead: shownHead.memory,
    // The price floors become values here: those of the shared memory take their place.
    settings: { ...answers, gasPrice: { ...answers.gasPrice } },
    logLevels: logger.sharedLevels,
    isMetered: count !== undefined,
    issuedKeys,
    spec: { ...spec, genesis: { ...spec.genesis, alloc: [] } },
    ...own,
  };
}
