import type { ChainReader } from "../../chain/chainReader.ts";
import { createLogMatcher, createLogMatcherInSteps, criteriaOf } from "../../logs/logMatcher.ts";
import type { Logger } from "../../observability/logger.ts";
import { onceKnown } from "../../primitives/eventual.ts";
import { toHex } from "../../primitives/hex.ts";
import { inSteps } from "../../primitives/steps.ts";
import type { SyncStatus } from "../../sync/syncProgress.ts";
import type { SentTransaction } from "../../types/transaction.ts";
import { ERRORS, RpcError } from "../errors/errors.ts";
import {
  defineMethod,
  type JsonSchema,
  optional,
  type Parameter,
  type RpcMethod,
  required,
} from "../method.ts";
import {
  decodeSubscription,
  decodeSubscriptionId,
  type PendingDetail,
  SUBSCRIPTION_KINDS,
  SUBSCRIPTION_OPTIONS,
  type SubscriptionKind,
  type SubscriptionParameters,
  type WantedEvents,
} from "../parameters/subscriptionParameters.ts";
import { pendingDetailJson } from "../results/pendingDetailResult.ts";
import { syncingResult } from "../results/syncingResult.ts";
import { pooledTransactionJson } from "../results/transactionResult.ts";
import type { RpcMetrics } from "../rpcMetrics.ts";
import { BOOLEAN, GIVEN_QUANTITY, INTEGER, QUANTITY } from "../schemas.ts";
import { CallerPacer, CallerTime } from "../server/callerTime.ts";
import type { SharedHosts } from "../server/sharedHosts.ts";
import { FanOut } from "./fanOut.ts";
import { type Notifications, ofHeadChange } from "./headNotifications.ts";
import { EventText } from "./notificationText.ts";
import { SubscriptionTable } from "./subscriptionTable.ts";

export interface SubscriptionPorts {
  readonly chain: Pick<ChainReader, "onHeadChanged">;
  readonly pool: {
    onAdded(listener: (added: { readonly transaction: SentTransaction }) => void): () => void;
    onDropped(
      listener: (dropped: { readonly transaction: Pick<SentTransaction, "hash"> }) => void,
    ): () => void;
  };
  /** Calls `listener` whenever the target of a synchronization is set, moved or cleared. */
  onSyncChanged(listener: (status: SyncStatus | undefined) => void): () => void;
  readonly logger: Logger;
  readonly metrics?: RpcMetrics | undefined;
  /** Numbers subscriptions; where several threads have some, from one counter. */
  readonly nextId?: (() => number) | undefined;
  /** Counts addresses and topics of logs; where several threads have subscriptions, together. */
  readonly criteria?: SharedHosts | undefined;
  /** The thread's time for answers; that of the subscriptions alone if not given. */
  readonly callerTime?: CallerTime | undefined;
  /** Calls `listener` when pool events were lost, so that their subscribers must be cut. */
  readonly onLost?: ((listener: () => void) => void) | undefined;
}

/**
 * eth_subscribe and eth_unsubscribe (json-rpc.md#eth_subscribe), over WebSocket and IPC whatever the modules, and never
 * over HTTP.
 *
 * An event is encoded as JSON once for all subscribers, and its source is observed only while it has subscribers.
 * Notifications are sent in event-loop slices (fanOut.ts), those of a block connection by connection
 * (headNotifications.ts).
 */
export function createSubscriptionMethods(ports: SubscriptionPorts): readonly RpcMethod<object>[] {
  const { callerTime = new CallerTime() } = ports;
  const table = new SubscriptionTable(() => sources.listenAsNeeded(), ports);
  const sources = createSources(ports, table);

  const subscribe = defineMethod({
    name: "eth_subscribe",
    namespace: "EVERY",
    summary:
      "Sends a notification for every new head, log, pooled or dropped transaction, or change of syncing.",
    parameters: [
      mandatory("type", { enum: SUBSCRIPTION_KINDS }),
      optional("options", asIs, SUBSCRIPTION_OPTIONS),
    ],
    result: { name: "subscription", schema: QUANTITY },
    run([type, options], context) {
      const { connection, remoteHost } = context;
      const wanted = decodeSubscription(type, options);
      if (wanted === undefined || connection === undefined) return ERRORS.invalidRequest;
      const place = table.reserve(connection, remoteHost, wanted);
      if (place === undefined) return TOO_MANY;
      const pacer = new CallerPacer(callerTime, remoteHost);
      return onceKnown(prepare(wanted, pacer), (parameters) => {
        if (!context.isAbandoned()) return table.add(place, parameters);
        // Nobody would end a subscription of a connection that closed meanwhile.
        table.leave(place);
        return TOO_MANY;
      });
    },
  });

  const unsubscribe = defineMethod({
    name: "eth_unsubscribe",
    namespace: "EVERY",
    summary: "Ends a subscription of this connection.",
    parameters: [mandatory("subscription", { anyOf: [GIVEN_QUANTITY, INTEGER] })],
    result: { name: "done", schema: BOOLEAN },
    run([given], { connection }) {
      const id = decodeSubscriptionId(given);
      if (id === undefined) return ERRORS.invalidRequest;
      const subscription = table.find(id);
      if (subscription === undefined || subscription.connection !== connection) {
        return ERRORS.subscriptionNotFound;
      }
      table.remove(subscription);
      return true;
    },
  });

  return [subscribe, unsubscribe];
}

/** What it takes to recognize the events: at once if it can be, or else in the caller's turns, since filters may be large. */
function prepare(
  wanted: WantedEvents,
  pacer: CallerPacer,
): SubscriptionParameters | Promise<SubscriptionParameters> {
  if (wanted.kind !== "logs") return wanted;
  const { kind, filter } = wanted;
  if (criteriaOf(filter) <= CRITERIA_AT_ONCE) return { kind, filter, matcher: createLogMatcher(filter) };
  return inSteps(createLogMatcherInSteps(filter), pacer).then((matcher) => ({ kind, filter, matcher }));
}

/** Prepared in less than a millisecond. */
const CRITERIA_AT_ONCE = 256;

const TOO_MANY = new RpcError(-32005, "Too many subscriptions");

/** A required parameter; the answer without it is -32600. */
function mandatory(name: string, schema: JsonSchema): Parameter<unknown> {
  return { ...required(name, asIs, schema), explain: () => ERRORS.invalidRequest };
}

/** Leaves decoding to the two methods, which answer -32600 where others answer -32602. */
function asIs(value: unknown): unknown {
  return value;
}

interface Source {
  readonly kinds: readonly SubscriptionKind[];
  listen(): () => void;
}

/** Connects the sources of events with the subscribers in the table. */
function createSources(ports: SubscriptionPorts, table: SubscriptionTable): { listenAsNeeded(): void } {
  const { chain, pool, logger } = ports;

  const fanOut = new FanOut({
    isLive: ({ id }) => table.find(id) !== undefined,
    onTooMany() {
      logger.warn(
        {},
        "subscribers cannot be notified as fast as events happen; the connection with the most subscriptions is closed",
      );
      table.busiestConnection()?.cut();
    },
    logger,
  });

  const sources: readonly Source[] = [
    {
      kinds: ["newHeads", "logs"],
      listen: () =>
        chain.onHeadChanged("subscriptions", (change) => {
          if (change.added.length <= BLOCKS_AT_ONCE) fanOut.publish(ofHeadChange(table, change));
          else closeFollowers(["newHeads", "logs"], "the node was held up, and blocks were missed");
        }),
    },
    {
      kinds: ["newPendingTransactions"],
      listen: () => pool.onAdded(({ transaction }) => fanOut.publish(ofPending(table, transaction))),
    },
    {
      kinds: ["droppedPendingTransactions"],
      listen: () => pool.onDropped(({ transaction }) => fanOut.publish(ofDropped(table, transaction))),
    },
    {
      kinds: ["syncing"],
      listen: () => ports.onSyncChanged((status) => fanOut.publish(ofSyncing(table, status))),
    },
  ];
  const stops = new Map<Source, () => void>();

  /** Closes the connections of subscribers who could not be told of everything: they know then that they have to begin anew. */
  function closeFollowers(kinds: readonly SubscriptionKind[], reason: string): void {
    const followers = new Set(
      kinds.flatMap((kind) => [...table.of(kind)].map(({ connection }) => connection)),
    );
    logger.warn(
      { connections: followers.size, kinds, reason },
      "subscribers cannot be notified as fast as events happen; their connections are closed",
    );
    for (const connection of followers) connection.close(reason);
  }

  ports.onLost?.(() =>
    closeFollowers(
      ["newPendingTransactions", "droppedPendingTransactions"],
      "the node was held up, and changes of the pool were missed",
    ),
  );

  return {
    listenAsNeeded() {
      for (const source of sources) {
        const isNeeded = source.kinds.some((kind) => table.has(kind));
        if (isNeeded && !stops.has(source)) {
          stops.set(source, source.listen());
        } else if (!isNeeded) {
          stops.get(source)?.();
          stops.delete(source);
        }
      }
    },
  };
}

/**
 * Blocks of one move of the head of which subscribers are told: as many as a bulk import makes in a few seconds. Only a thread that
 * was held up for longer finds more.
 */
export const BLOCKS_AT_ONCE = 2048;

function* ofPending(table: SubscriptionTable, transaction: SentTransaction): Notifications {
  const hash = new EventText(`"${toHex(transaction.hash)}"`);
  const details: Partial<Record<PendingDetail, EventText>> = { hashes: hash };
  for (const subscription of table.of("newPendingTransactions")) {
    const { detail } = subscription.parameters;
    details[detail] ??= new EventText(
      detail === "whole" ? pooledTransactionJson(transaction) : pendingDetailJson(transaction),
    );
    yield { subscription, event: details[detail] };
  }
}

function* ofDropped(table: SubscriptionTable, transaction: Pick<SentTransaction, "hash">): Notifications {
  const event = new EventText(`"${toHex(transaction.hash)}"`);
  for (const subscription of table.of("droppedPendingTransactions")) yield { subscription, event };
}

function* ofSyncing(table: SubscriptionTable, status: SyncStatus | undefined): Notifications {
  const event = new EventText(JSON.stringify(syncingResult(status)));
  for (const subscription of table.of("syncing")) yield { subscription, event };
}
