import type { ChainReader, HeadChange } from "../chain/chain.ts";
import { locateLogs } from "../chain/logQuery.ts";
import type { Logger } from "../logging/logger.ts";
import { toKey } from "../primitives/byteKey.ts";
import { toHex } from "../primitives/hex.ts";
import type { TxPool } from "../txpool/txPool.ts";
import type { StoredBlock } from "../types/block.ts";
import type { Log } from "../types/log.ts";
import type { SentTransaction } from "../types/transaction.ts";
import { type BlockDetail, blockJson } from "./blockResult.ts";
import { ERRORS, RpcError } from "./errors.ts";
import { createEventText, type EventText } from "./eventText.ts";
import { createFanOut, type Notice } from "./fanOut.ts";
import { logJson } from "./logResult.ts";
import {
  defineMethod,
  type JsonSchema,
  optional,
  type Parameter,
  type RpcMethod,
  required,
} from "./method.ts";
import { pendingDetailJson } from "./pendingDetailResult.ts";
import type { SyncStatus } from "./ports.ts";
import type { RpcMetrics } from "./rpcMetrics.ts";
import { BOOLEAN, GIVEN_QUANTITY, INTEGER, QUANTITY } from "./schemas.ts";
import {
  decodeSubscriptionId,
  decodeWish,
  WISH_KINDS,
  WISH_OPTIONS,
  type WishKind,
} from "./subscriptionParameters.ts";
import { createSubscriptionTable, type SubscriptionTable, type SubscriptionTo } from "./subscriptionTable.ts";
import { syncingResult } from "./syncingResult.ts";

export interface SubscriptionPorts {
  readonly chain: Pick<ChainReader, "onHeadChanged">;
  readonly pool: Pick<TxPool, "onAdded" | "onDropped">;
  /** Calls `listener` whenever the target of a synchronization is set, moved or cleared. */
  onSyncChanged(listener: (status: SyncStatus | undefined) => void): () => void;
  readonly logger: Logger;
  readonly metrics?: RpcMetrics | undefined;
}

/**
 * eth_subscribe and eth_unsubscribe, for every WebSocket endpoint whatever its modules, and never for HTTP: what
 * clients are told without asking (json-rpc.md, eth_subscribe).
 *
 * An event is written as JSON once, however many listen, and its source is listened to only while somebody subscribes
 * to it. Per block the logs come first, each to its subscribers in the order of their ids, then the head (fanOut.ts).
 */
export function createSubscriptionMethods(ports: SubscriptionPorts): readonly RpcMethod<unknown>[] {
  const table = createSubscriptionTable(() => sources.listenAsNeeded(), ports.metrics);
  const sources = createSources(ports, table);

  const subscribe = defineMethod({
    name: "eth_subscribe",
    namespace: "EVERY",
    summary:
      "Sends a notification for every new head, log, pooled or dropped transaction, or change of syncing.",
    parameters: [mandatory("type", { enum: WISH_KINDS }), optional("options", asIs, WISH_OPTIONS)],
    result: { name: "subscription", schema: QUANTITY },
    run([type, options], { connection }) {
      const wish = decodeWish(type, options);
      if (wish === undefined || connection === undefined) return ERRORS.invalidRequest;
      return table.add(connection, wish) ?? TOO_MANY;
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

  return [subscribe, unsubscribe] as readonly RpcMethod<unknown>[];
}

const TOO_MANY = new RpcError(-32005, "Too many subscriptions");

/** A parameter without which the answer is -32600. */
function mandatory(name: string, schema: JsonSchema): Parameter<unknown> {
  return { ...required(name, asIs, schema), explain: () => ERRORS.invalidRequest };
}

/** These two methods answer -32600 where others answer -32602, so they decode for themselves. */
function asIs(value: unknown): unknown {
  return value;
}

interface Source {
  readonly kinds: readonly WishKind[];
  listen(): () => void;
}

/** Ties the sources of events to the subscribers in the table. */
function createSources(ports: SubscriptionPorts, table: SubscriptionTable): { listenAsNeeded(): void } {
  const { chain, pool, logger } = ports;

  const fanOut = createFanOut({
    isLive: ({ id }) => table.find(id) !== undefined,
    onTooMany() {
      logger.warn(
        {},
        "subscribers cannot be told as fast as things happen; the one with most subscriptions is cut off",
      );
      table.busiestConnection()?.cut();
    },
    logger,
  });

  const sources: readonly Source[] = [
    {
      kinds: ["newHeads", "logs"],
      listen: () => chain.onHeadChanged((change) => fanOut.tell(ofHeadChange(table, change))),
    },
    {
      kinds: ["newPendingTransactions"],
      listen: () => pool.onAdded(({ transaction }) => fanOut.tell(ofPending(table, transaction))),
    },
    {
      kinds: ["droppedPendingTransactions"],
      listen: () => pool.onDropped(({ transaction }) => fanOut.tell(ofDropped(table, transaction))),
    },
    {
      kinds: ["syncing"],
      listen: () => ports.onSyncChanged((status) => fanOut.tell(ofSyncing(table, status))),
    },
  ];
  const stops = new Map<Source, () => void>();

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

type Notices = Generator<Notice | undefined, void>;

function* ofHeadChange(table: SubscriptionTable, { added, removed }: HeadChange): Notices {
  for (const block of removed) yield* ofLogs(table, block, "removed");
  for (const block of added) {
    yield* ofLogs(table, block);
    yield* ofHead(table, block);
  }
}

/** Each log to those who want it, by their ids. Most are ruled out before: by numbers, by the bloom, by the address. */
function* ofLogs(table: SubscriptionTable, block: StoredBlock, removed?: "removed"): Notices {
  const byAddress = new Map<string, LogSubscription[]>();
  const ofAny: LogSubscription[] = [];
  let looks = 0;
  for (const subscription of table.of("logs")) {
    if (++looks % LOOKS_PER_STEP === 0) yield undefined;
    const { filter, matcher } = subscription.wish;
    if (!isWithin(block.header.number, subscription) || !matcher.mayMatch(block.header.logsBloom)) continue;
    if (filter.addresses.length === 0) ofAny.push(subscription);
    for (const key of new Set(filter.addresses.map(toKey))) {
      const others = byAddress.get(key);
      if (others === undefined) byAddress.set(key, [subscription]);
      else others.push(subscription);
    }
  }
  if (ofAny.length === 0 && byAddress.size === 0) return;
  const isWanted = ({ address }: Log): boolean => ofAny.length > 0 || byAddress.has(toKey(address));
  for (const located of locateLogs(block, isWanted, removed)) {
    const ofThis = byAddress.get(toKey(located.log.address)) ?? [];
    const candidates = ofAny.length === 0 ? ofThis : [...ofThis, ...ofAny].sort(byId);
    let event: EventText | undefined;
    for (const subscription of candidates) {
      if (++looks % LOOKS_PER_STEP === 0) yield undefined;
      if (!subscription.wish.matcher.isWanted(located.log)) continue;
      event ??= createEventText(logJson(located));
      yield { subscription, event };
    }
  }
}

/** Subscriptions that are looked at for one piece of work. */
const LOOKS_PER_STEP = 100;

function byId(a: LogSubscription, b: LogSubscription): number {
  return Number(a.id) - Number(b.id);
}

type LogSubscription = SubscriptionTo<"logs">;

/** Only numbers bound a subscription, and the tag that is one; the others do not. */
function isWithin(number: bigint, { wish: { filter } }: LogSubscription): boolean {
  const { from } = filter;
  const to = filter.to === "earliest" ? 0n : filter.to;
  return (typeof from !== "bigint" || number >= from) && (typeof to !== "bigint" || number <= to);
}

function* ofHead(table: SubscriptionTable, block: StoredBlock): Notices {
  const events = new Map<BlockDetail, EventText>();
  for (const subscription of table.of("newHeads")) {
    const { detail } = subscription.wish;
    const event = events.get(detail) ?? createEventText(blockJson(block, detail));
    events.set(detail, event);
    yield { subscription, event };
  }
}

function* ofPending(table: SubscriptionTable, transaction: SentTransaction): Notices {
  const hash = createEventText(`"${toHex(transaction.hash)}"`);
  let detail: EventText | undefined;
  for (const subscription of table.of("newPendingTransactions")) {
    if (subscription.wish.detail === "hashes") {
      yield { subscription, event: hash };
    } else {
      detail ??= createEventText(pendingDetailJson(transaction));
      yield { subscription, event: detail };
    }
  }
}

function* ofDropped(table: SubscriptionTable, transaction: SentTransaction): Notices {
  const event = createEventText(`"${toHex(transaction.hash)}"`);
  for (const subscription of table.of("droppedPendingTransactions")) yield { subscription, event };
}

function* ofSyncing(table: SubscriptionTable, status: SyncStatus | undefined): Notices {
  const event = createEventText(JSON.stringify(syncingResult(status)));
  for (const subscription of table.of("syncing")) yield { subscription, event };
}
