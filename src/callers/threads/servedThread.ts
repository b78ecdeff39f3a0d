import type { AuthenticatedSettings } from "../../config/settings.ts";
import type { Logger } from "../../observability/logger.ts";
import { expectDefined } from "../../primitives/assert.ts";
import { durationClock, systemClock } from "../../primitives/clock.ts";
import type { Gate } from "../../rpc/access/gate.ts";
import type { Core } from "../../rpc/core/core.ts";
import { SERVER_ITSELF } from "../../rpc/core/serverItself.ts";
import type { RpcMethod } from "../../rpc/method.ts";
import type { RpcBackend } from "../../rpc/ports.ts";
import type { RpcMetrics } from "../../rpc/rpcMetrics.ts";
import type { ListeningSocket } from "../../rpc/server/acceptBalance.ts";
import type { CallerTime } from "../../rpc/server/callerTime.ts";
import { InFlightResponses } from "../../rpc/server/inFlightResponses.ts";
import { ALL_ANSWERS_BYTES } from "../../rpc/server/limits.ts";
import type { MessageReader } from "../../rpc/server/messageReader.ts";
import type { GuardedServerName, ThreadServerName } from "../../rpc/server/serverTable.ts";
import { type SharedHosts, shareHosts } from "../../rpc/server/sharedHosts.ts";
import type { SharedTotals } from "../../rpc/server/sharedTotals.ts";
import type { HandshakeTime } from "../../rpc/server/tls/handshakeTime.ts";
import { UnreadLimits } from "../../rpc/server/unreadLimits.ts";
import { createSubscriptionMethods, type SubscriptionPorts } from "../../rpc/subscriptions/subscriptions.ts";
import type { EventFeed } from "../../rpc/threads/callerSide/eventFeed.ts";
import { serverGate } from "../access/serverGate.ts";
import type { ServerSettings } from "./serverSettings.ts";
import type { RpcThreadData, Sockets } from "./threadData.ts";

/** What the servers of one thread need to know of it. */
type ThreadServerData = Pick<RpcThreadData, "servers" | "held" | "index" | "issuedKeys" | "subscriptions">;

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

/** What each server has of its thread, besides the parts. */
interface OnThread<Settings> {
  readonly configured: Settings;
  /** The settings of now, of what may change. */
  readonly current: () => Settings;
  readonly socket: ListeningSocket;
  /** What its callers have on all threads. */
  readonly shared: SharedHosts;
}

/** A thread for callers as its servers have it: what all of them share, and what each has of it. */
export class ServedThread {
  /** What callers may do now. */
  access: ServerSettings;
  readonly data: ThreadServerData;
  /** Shared by all servers. `unread` bounds what clients of WebSocket and IPC leave unread together, `inFlight` those of HTTP. */
  readonly parts: ThreadServerParts & {
    readonly clock: typeof durationClock;
    readonly unread: UnreadLimits;
    readonly inFlight: InFlightResponses;
  };
  readonly sockets: Sockets;

  constructor(data: ThreadServerData, sockets: Sockets, parts: ThreadServerParts) {
    const { totals, logger } = parts;
    const clock = durationClock;
    this.access = data.servers;
    this.data = data;
    this.sockets = sockets;
    this.parts = {
      ...parts,
      clock,
      unread: new UnreadLimits({ clock, totals, logger }),
      inFlight: new InFlightResponses(ALL_ANSWERS_BYTES, { logger, total: totals.httpAnswers }),
    };
  }

  /**
   * What the server with these settings has of the thread. One that is the only thread has nobody to share connections with: it would
   * ask for a spare descriptor for ever.
   */
  serve<Settings>(
    name: ThreadServerName,
    settingsOf: (servers: ServerSettings) => Settings | undefined,
  ): OnThread<Settings> {
    const { servers, held, index } = this.data;
    const configured = expectDefined(settingsOf(servers), `the settings of ${name}`);
    const descriptor = expectDefined(this.sockets[name], `the socket of ${name}`);
    const { serving } = this.parts;
    return {
      configured,
      current: () => settingsOf(this.access) ?? configured,
      socket:
        name === "explorer" || held.credits.threads === 1
          ? { descriptor }
          : { descriptor, another: () => serving.descriptor(name, SERVER_ITSELF) },
      shared: shareHosts(held[name], index),
    };
  }

  /** The same, with the gate that its callers pass. Log-ins are checked on the main thread, where the keys are. */
  async guard<Settings extends AuthenticatedSettings>(
    name: GuardedServerName,
    settingsOf: (servers: ServerSettings) => Settings | undefined,
  ): Promise<OnThread<Settings> & { readonly gate: Gate | undefined }> {
    const served = this.serve(name, settingsOf);
    const { serving, logger, metrics } = this.parts;
    const hasUsers = served.configured.authentication?.users !== undefined;
    const gate = await serverGate(served.configured, served.current, {
      issuedKey: this.data.issuedKeys[name],
      login: hasUsers ? (attempt) => serving.login(name, attempt, SERVER_ITSELF) : undefined,
      nowMs: systemClock.nowMs,
      logger,
      metrics,
    });
    return { ...served, gate };
  }

  /** The methods of a server whose clients may subscribe. */
  methodsWithSubscriptions(): readonly RpcMethod[] {
    const { subscriptions, held, index } = this.data;
    const newest = new Int32Array(subscriptions);
    const { methods, view, feed } = this.parts;
    const added = createSubscriptionMethods({
      ...this.parts,
      chain: view,
      pool: feed.pool,
      onSyncChanged: feed.onSyncChanged,
      onLost: feed.onLost,
      nextId: () => Atomics.add(newest, 0, 1) + 1,
      criteria: shareHosts(held.criteria, index),
    });
    return [...methods, ...added];
  }
}
