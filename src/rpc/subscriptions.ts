import type { ChainReader, HeadChange, LocatedLog } from "../chain/chain.ts";
import type { Logger } from "../logging/logger.ts";
import { toHex } from "../primitives/hex.ts";
import type { TxPool } from "../txpool/txPool.ts";
import type { StoredBlock } from "../types/block.ts";
import type { SentTransaction } from "../types/transaction.ts";
import { type BlockDetail, blockJson } from "./blockResult.ts";
import { ERRORS, RpcError } from "./errors.ts";
import { logJson } from "./logResult.ts";
import { defineMethod, optional, type RpcMethod } from "./method.ts";
import { pendingDetailJson } from "./pendingDetailResult.ts";
import type { SyncStatus } from "./ports.ts";
import type { RpcMetrics } from "./rpcMetrics.ts";
import { decodeSubscriptionId, decodeWish, type WishKind } from "./subscriptionParameters.ts";
import {
  createSubscriptionTable,
  type Subscription,
  type SubscriptionTable,
  type SubscriptionTo,
} from "./subscriptionTable.ts";
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
 * to it. Per block the logs come first, each to its subscribers in the order of their ids, then the head.
 */
export function createSubscriptionMethods(ports: SubscriptionPorts): readonly RpcMethod<unknown>[] {
  const table = createSubscriptionTable(() => sources.listenAsNeeded(), ports.metrics);
  const sources = createSources(ports, table);

  const subscribe = defineMethod({
    name: "eth_subscribe",
    namespace: "EVERY",
    summary:
      "Sends a notification for every new head, log, pooled or dropped transaction, or change of syncing.",
    parameters: [optional("type", asIs, { type: "string" }), optional("options", asIs, { type: "object" })],
    result: { name: "subscription", schema: { type: "string" } },
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
    parameters: [optional("subscription", asIs, { type: "string" })],
    result: { name: "done", schema: { type: "boolean" } },
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

  /** The chain and the pool must not suffer from what goes wrong here. */
  function guarded<Event>(tell: (event: Event) => void): (event: Event) => void {
    return (event) => {
      try {
        tell(event);
      } catch (error) {
        logger.error({ error }, "notifying subscribers failed");
      }
    };
  }

  const sources: readonly Source[] = [
    {
      kinds: ["newHeads", "logs"],
      listen: () => chain.onHeadChanged(guarded((change) => tellHeadChange(table, change))),
    },
    {
      kinds: ["newPendingTransactions"],
      listen: () => pool.onAdded(guarded(({ transaction }) => tellPending(table, transaction))),
    },
    {
      kinds: ["droppedPendingTransactions"],
      listen: () => pool.onDropped(guarded(({ transaction }) => tellDropped(table, transaction))),
    },
    {
      kinds: ["syncing"],
      listen: () => ports.onSyncChanged(guarded((status) => tellSyncing(table, status))),
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

function tellHeadChange(table: SubscriptionTable, { added, removed }: HeadChange): void {
  for (const block of removed) tellLogs(table, block, "removed");
  for (const block of added) {
    tellLogs(table, block);
    tellHead(table, block);
  }
}

function tellLogs(table: SubscriptionTable, block: StoredBlock, removed?: "removed"): void {
  const wanted = new Map<number, { readonly log: LocatedLog; readonly by: Subscription[] }>();
  for (const subscription of table.of("logs")) {
    if (!isWithin(block.header.number, subscription)) continue;
    const logs: LocatedLog[] = [];
    subscription.wish.matcher.collect(block, logs, removed);
    for (const log of logs) {
      const found = wanted.get(log.logIndex);
      if (found === undefined) wanted.set(log.logIndex, { log, by: [subscription] });
      else found.by.push(subscription);
    }
  }
  for (const [, { log, by }] of [...wanted].sort(([a], [b]) => a - b)) {
    const text = logJson(log);
    for (const subscription of by) notify(subscription, text);
  }
}

/** Only numbers bound a subscription; tags do not. */
function isWithin(number: bigint, { wish: { filter } }: SubscriptionTo<"logs">): boolean {
  const { from, to } = filter;
  return (typeof from !== "bigint" || number >= from) && (typeof to !== "bigint" || number <= to);
}

function tellHead(table: SubscriptionTable, block: StoredBlock): void {
  const texts = new Map<BlockDetail, string>();
  for (const subscription of table.of("newHeads")) {
    const { detail } = subscription.wish;
    const text = texts.get(detail) ?? blockJson(block, detail);
    texts.set(detail, text);
    notify(subscription, text);
  }
}

function tellPending(table: SubscriptionTable, transaction: SentTransaction): void {
  const hash = `"${toHex(transaction.hash)}"`;
  let detail: string | undefined;
  for (const subscription of table.of("newPendingTransactions")) {
    if (subscription.wish.detail === "hashes") {
      notify(subscription, hash);
    } else {
      detail ??= pendingDetailJson(transaction);
      notify(subscription, detail);
    }
  }
}

function tellDropped(table: SubscriptionTable, transaction: SentTransaction): void {
  const hash = `"${toHex(transaction.hash)}"`;
  for (const subscription of table.of("droppedPendingTransactions")) notify(subscription, hash);
}

function tellSyncing(table: SubscriptionTable, status: SyncStatus | undefined): void {
  const text = JSON.stringify(syncingResult(status));
  for (const subscription of table.of("syncing")) notify(subscription, text);
}

function notify({ id, connection }: Subscription, result: string): void {
  connection.send(
    `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${id}","result":${result}}}`,
  );
}
