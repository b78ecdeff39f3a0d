import type { Logger } from "../../observability/logger.ts";
import { assertNever, expectDefined } from "../../primitives/assert.ts";
import { type Clock, durationClock, systemClock } from "../../primitives/clock.ts";
import type { Result } from "../../primitives/result.ts";
import type { Core } from "../../rpc/core/core.ts";
import { SERVER_ITSELF } from "../../rpc/core/serverItself.ts";
import { createDispatcher } from "../../rpc/dispatcher.ts";
import type { RpcMethod } from "../../rpc/method.ts";
import type { RpcBackend } from "../../rpc/ports.ts";
import type { RpcMetrics } from "../../rpc/rpcMetrics.ts";
import type { ListeningSocket } from "../../rpc/server/acceptBalance.ts";
import type { CallerTime } from "../../rpc/server/callerTime.ts";
import { openHttpServer } from "../../rpc/server/http.ts";
import { InFlightResponses } from "../../rpc/server/inFlightResponses.ts";
import { ALL_ANSWERS_BYTES } from "../../rpc/server/limits.ts";
import type { MessageReader } from "../../rpc/server/messageReader.ts";
import type { OpenServer, ServerErrorCode } from "../../rpc/server/server.ts";
import {
  type CallerServerName,
  type GuardedServerName,
  THREAD_SERVERS,
  type ThreadServerName,
} from "../../rpc/server/serverTable.ts";
import { type SharedHosts, shareHosts } from "../../rpc/server/sharedHosts.ts";
import type { SharedTotals } from "../../rpc/server/sharedTotals.ts";
import type { HandshakeTime } from "../../rpc/server/tls/handshakeTime.ts";
import { UnreadLimits } from "../../rpc/server/unreadLimits.ts";
import { openWebSocketServer } from "../../rpc/server/websocket.ts";
import { createSubscriptionMethods, type SubscriptionPorts } from "../../rpc/subscriptions/subscriptions.ts";
import type { EventFeed } from "../../rpc/threads/callerSide/eventFeed.ts";
import { offered } from "../access/callerAccess.ts";
import { serverGate } from "../access/serverGate.ts";
import type { ServerSettings } from "./serverSettings.ts";
import type { RpcThreadData, Sockets } from "./threadData.ts";

interface ThreadServerParts {
  readonly methods: readonly RpcMethod[];
  readonly backend: RpcBackend;
  readonly view: SubscriptionPorts["chain"];
  readonly serving: Core["serving"];
  readonly reader: MessageReader;
  readonly callerTime: CallerTime;
  readonly handshakeTime: HandshakeTime;
  readonly metrics: RpcMetrics | undefined;
  readonly feed: Pick<EventFeed, "pool" | "onSyncChanged" | "onLost">;
  readonly totals: SharedTotals;
  readonly logger: Logger;
}

/** What its servers need, and share. */
interface OpenParts extends ThreadServerParts {
  readonly clock: Clock;
  /** Bounds what clients of WebSocket and IPC leave unread together. */
  readonly unread: UnreadLimits;
  /** Bounds what clients of HTTP and GraphQL leave unread together. */
  readonly inFlight: InFlightResponses;
}

/** The servers of one thread. */
interface ThreadServers {
  /** Why one of them is not open. */
  readonly failure: string | undefined;
  /** Replaces what callers may do. */
  changeAccess(access: ServerSettings): void;
  /** Closes the servers, which answer what has arrived completely, and then what reads it. */
  close(): Promise<void>;
}

/** What the servers of one thread need to know of it. */
type ThreadServerData = Pick<RpcThreadData, "servers" | "held" | "index" | "issuedKeys" | "subscriptions">;

/** Opens the servers on sockets that listen already. */
export async function openThreadServers(
  data: ThreadServerData,
  sockets: Sockets,
  parts: ThreadServerParts,
): Promise<ThreadServers> {
  let access = data.servers;
  const { totals, logger } = parts;
  const clock = durationClock;
  const unread = new UnreadLimits({ clock, totals, logger });
  const inFlight = new InFlightResponses(ALL_ANSWERS_BYTES, { logger, total: totals.httpAnswers });
  const openParts = { ...parts, clock, unread, inFlight };
  const opened: Result<OpenServer, ServerErrorCode>[] = [];
  for (const name of THREAD_SERVERS) {
    const { [name]: socket } = sockets;
    if (socket !== undefined) opened.push(await openServer(name, socket, data, () => access, openParts));
  }
  const open = opened.flatMap((server) => (server.ok ? [server.value] : []));
  return {
    failure: opened.flatMap((server) => (server.ok ? [] : [server.error.message]))[0],
    changeAccess(replaced) {
      access = replaced;
    },
    async close() {
      unread.stop();
      await Promise.all(open.map((server) => server.close()));
      parts.reader.close();
    },
  };
}

function openServer(
  name: ThreadServerName,
  socket: number,
  data: ThreadServerData,
  access: () => ServerSettings,
  parts: OpenParts,
): Promise<Result<OpenServer, ServerErrorCode>> {
  switch (name) {
    case "http":
      return openHttp(data, socket, () => access().http, parts);
    case "webSocket":
      return openWebSocket(data, socket, () => access().webSocket, parts);
    case "ipc":
      return openIpc(data, socket, () => access().ipc, parts);
    case "graphQl":
      return openGraphQl(data, socket, () => access().graphQl, parts);
    case "explorer":
      return openExplorer(data, socket, () => access().explorer, parts);
    default:
      return assertNever(name);
  }
}

async function openHttp(
  data: ThreadServerData,
  socket: number,
  access: () => ServerSettings["http"],
  parts: OpenParts,
): Promise<Result<OpenServer, ServerErrorCode>> {
  const configured = expectDefined(data.servers.http, "the settings of HTTP");
  const current = () => access() ?? configured;
  return openHttpServer(configured, {
    ...parts,
    ...sharing("http", socket, data, parts),
    current,
    dispatcher: createDispatcher(offered(parts.methods, current), parts),
    readiness: (query) => parts.serving.readiness(query.toString(), SERVER_ITSELF),
    gate: await serverGate(configured, current, gateParts("http", data, parts)),
  });
}

async function openWebSocket(
  data: ThreadServerData,
  socket: number,
  access: () => ServerSettings["webSocket"],
  parts: OpenParts,
): Promise<Result<OpenServer, ServerErrorCode>> {
  const configured = expectDefined(data.servers.webSocket, "the settings of WebSocket");
  const current = () => access() ?? configured;
  const methods = [...parts.methods, ...subscriptionsOf(data, parts)];
  return openWebSocketServer(configured, {
    ...parts,
    ...sharing("webSocket", socket, data, parts),
    sharedPages: shareHosts(data.held.pages, data.index),
    current,
    dispatcher: createDispatcher(offered(methods, current), parts),
    gate: await serverGate(configured, current, gateParts("webSocket", data, parts)),
  });
}

async function openIpc(
  data: ThreadServerData,
  socket: number,
  access: () => ServerSettings["ipc"],
  parts: OpenParts,
): Promise<Result<OpenServer, ServerErrorCode>> {
  const configured = expectDefined(data.servers.ipc, "the settings of IPC");
  const methods = [...parts.methods, ...subscriptionsOf(data, parts)];
  // Not loaded where it is off.
  const { openIpcServer } = await import("../../rpc/server/ipc.ts");
  return openIpcServer(configured, {
    ...parts,
    ...sharing("ipc", socket, data, parts),
    dispatcher: createDispatcher(
      offered(methods, () => access() ?? configured),
      parts,
    ),
  });
}

async function openGraphQl(
  data: ThreadServerData,
  socket: number,
  access: () => ServerSettings["graphQl"],
  parts: OpenParts,
): Promise<Result<OpenServer, ServerErrorCode>> {
  const configured = expectDefined(data.servers.graphQl, "the settings of GraphQL");
  const current = () => access() ?? configured;
  // Not loaded where it is off.
  const { openGraphQlServer } = await import("../../rpc/server/graphQl.ts");
  const { answerGraphQlCallers } = await import("../../rpc/graphql/answerGraphQl.ts");
  return openGraphQlServer(configured, {
    ...parts,
    ...sharing("graphQl", socket, data, parts),
    current,
    answer: answerGraphQlCallers(parts),
    gate: await serverGate(configured, current, gateParts("graphQl", data, parts)),
  });
}

/** The explorer, on a thread that has no other server. */
async function openExplorer(
  data: ThreadServerData,
  descriptor: number,
  access: () => ServerSettings["explorer"],
  parts: OpenParts,
): Promise<Result<OpenServer, ServerErrorCode>> {
  const configured = expectDefined(data.servers.explorer, "the settings of the explorer");
  // Not loaded by the other threads.
  const { openExplorerServer } = await import("../../explorer/server.ts");
  return openExplorerServer(configured, {
    ...parts,
    current: () => access() ?? configured,
    socket: { descriptor },
    shared: shareHosts(data.held.explorer, data.index),
    methods: [...parts.methods, ...subscriptionsOf(data, parts)],
    give: (gift) => parts.serving.gift(gift, SERVER_ITSELF),
  });
}

function subscriptionsOf(data: ThreadServerData, parts: ThreadServerParts): readonly RpcMethod[] {
  const newest = new Int32Array(data.subscriptions);
  const { view, feed } = parts;
  return createSubscriptionMethods({
    ...parts,
    chain: view,
    pool: feed.pool,
    onSyncChanged: feed.onSyncChanged,
    onLost: feed.onLost,
    nextId: () => Atomics.add(newest, 0, 1) + 1,
    criteria: shareHosts(data.held.criteria, data.index),
  });
}

/**
 * The socket of a server, and what its callers have on all threads. A thread that is the only one has nobody to share connections
 * with: it would ask for a spare descriptor for ever.
 */
function sharing(
  server: CallerServerName,
  descriptor: number,
  { held, index }: ThreadServerData,
  { serving }: ThreadServerParts,
): { readonly socket: ListeningSocket; readonly shared: SharedHosts } {
  const isOnly = held.credits.threads === 1;
  return {
    socket: isOnly
      ? { descriptor }
      : { descriptor, another: () => serving.descriptor(server, SERVER_ITSELF) },
    shared: shareHosts(held[server], index),
  };
}

/** Log-ins are checked on the main thread's behalf, where the keys are. */
function gateParts(
  server: GuardedServerName,
  { servers, issuedKeys }: ThreadServerData,
  { serving, logger, metrics }: ThreadServerParts,
): Parameters<typeof serverGate>[2] {
  const hasUsers = servers[server]?.authentication?.users !== undefined;
  return {
    issuedKey: issuedKeys[server],
    login: hasUsers ? (attempt) => serving.login(server, attempt, SERVER_ITSELF) : undefined,
    nowMs: systemClock.nowMs,
    logger,
    metrics,
  };
}
