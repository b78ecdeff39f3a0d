import type { LocatedLog } from "../../chain/chainReader.ts";
import type { HeadChange } from "../../chain/onNewHead.ts";
import { locateLogs } from "../../logs/logQuery.ts";
import { logJson } from "../../logs/logResult.ts";
import { expectDefined } from "../../primitives/assert.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { StoredBlock } from "../../types/block.ts";
import type { Connection } from "../method.ts";
import { type BlockDetail, blockJson } from "../results/blockResult.ts";
import type { Notification } from "./fanOut.ts";
import { EventText } from "./notificationText.ts";
import type { SubscriptionTable, SubscriptionTo } from "./subscriptionTable.ts";

export type Notifications = Generator<Notification | undefined, void>;

/**
 * Notifications of a new head: the logs of removed blocks, then the logs and the header of each added block.
 *
 * Each connection gets all its notifications of a block before the next connection, because writes in one event-loop
 * slice are sent together. Writing to 2,000 connections for each of five logs, and for the header, took three times as
 * long. A connection gets the logs in order, each for its subscriptions by id, then the header. A connection that falls
 * behind gets the rest in parts, after the others, so that it has time to read.
 */
export function ofHeadChange(table: SubscriptionTable, { added, removed }: HeadChange): Notifications {
  return ofBlocks(table, [...removed], [...added]);
}

/** Takes the blocks off the lists, because one whose logs were read is large. */
function* ofBlocks(table: SubscriptionTable, removed: StoredBlock[], added: StoredBlock[]): Notifications {
  for (let block = removed.shift(); block !== undefined; block = removed.shift())
    yield* ofBlock(table, block, "removed");
  for (let block = added.shift(); block !== undefined; block = added.shift()) yield* ofBlock(table, block);
}

type LogSubscription = SubscriptionTo<"logs">;

/** The subscriptions of one connection that a block may concern, by id. */
interface Audience {
  readonly ofAny: LogSubscription[];
  readonly byAddress: Map<string, LogSubscription[]>;
  readonly heads: SubscriptionTo<"newHeads">[];
  logSubscriptions: number;
}

function* ofBlock(table: SubscriptionTable, block: StoredBlock, removed?: "removed"): Notifications {
  const audiences = new Map<Connection, Audience>();
  yield* addLogSubscribers(audiences, table, block);
  if (removed === undefined) yield* addHeadSubscribers(audiences, table);
  if (audiences.size === 0) return;
  const logs = yield* locate(audiences, block, removed);
  const heads = new Map<BlockDetail, EventText>();
  let behind: ConnectionNotifications[] = [];
  for (const [connection, audience] of audiences) {
    const notifications = notificationsFor(audience, logs, block, heads);
    const maxCount = audience.logSubscriptions * logs.all.length + audience.heads.length;
    // Nearly all connections have few, for which counting each notification would only cost time.
    if (maxCount <= NOTIFICATIONS_PER_PART) yield* notifications;
    else if ((yield* notifyPart({ connection, notifications })) === "behind")
      behind.push({ connection, notifications });
  }
  while (behind.length > 0) {
    const before = behind;
    behind = [];
    for (const own of before) if ((yield* notifyPart(own)) === "behind") behind.push(own);
  }
}

interface ConnectionNotifications {
  readonly connection: Connection;
  readonly notifications: Notifications;
}

/** Sends a connection its notifications until all are sent or it falls behind, but at least one part of them. */
function* notifyPart({
  connection,
  notifications,
}: ConnectionNotifications): Generator<Notification | undefined, "done" | "behind"> {
  let count = 0;
  // Not for-of, which would close the generator after the first part.
  for (let next = notifications.next(); next.done !== true; next = notifications.next()) {
    yield next.value;
    if (++count % NOTIFICATIONS_PER_PART === 0 && connection.isBehind()) return "behind";
  }
  return "done";
}

function* notificationsFor(
  audience: Audience,
  logs: WantedLogs,
  block: StoredBlock,
  heads: Map<BlockDetail, EventText>,
): Notifications {
  yield* logsFor(audience, logs);
  for (const subscription of audience.heads) {
    const { detail } = subscription.parameters;
    const event = heads.get(detail) ?? new EventText(blockJson(block, detail));
    heads.set(detail, event);
    yield { subscription, event };
  }
}

/** Rules out most subscriptions by block number or bloom filter. */
function* addLogSubscribers(
  audiences: Map<Connection, Audience>,
  table: SubscriptionTable,
  { header }: StoredBlock,
): Notifications {
  let checks = 0;
  let keys = 0;
  for (const subscription of table.of("logs")) {
    if (++checks % CHECKS_PER_STEP === 0) yield undefined;
    const { filter, matcher } = subscription.parameters;
    if (!isWithin(header.number, subscription) || !matcher.mayMatch(header.logsBloom)) continue;
    const audience = audienceOf(subscription.connection, audiences);
    audience.logSubscriptions++;
    const { ofAny, byAddress } = audience;
    if (filter.addresses.length === 0) ofAny.push(subscription);
    for (const address of filter.addresses) {
      if (++keys % ADDRESSES_PER_STEP === 0) yield undefined;
      const key = toKey(address);
      // The addresses of a filter are added in a row, so a duplicate is found at the end of the list.
      if (byAddress.get(key)?.at(-1) !== subscription) append(byAddress, key, subscription);
    }
  }
}

function* addHeadSubscribers(audiences: Map<Connection, Audience>, table: SubscriptionTable): Notifications {
  let checks = 0;
  for (const subscription of table.of("newHeads")) {
    if (++checks % CHECKS_PER_STEP === 0) yield undefined;
    audienceOf(subscription.connection, audiences).heads.push(subscription);
  }
}

function audienceOf(connection: Connection, audiences: Map<Connection, Audience>): Audience {
  const known = audiences.get(connection);
  if (known !== undefined) return known;
  const audience: Audience = { ofAny: [], byAddress: new Map(), heads: [], logSubscriptions: 0 };
  audiences.set(connection, audience);
  return audience;
}

/** Logs of a block from addresses with subscribers, and their texts once one is notified of them. */
interface WantedLogs {
  readonly all: readonly LocatedLog[];
  /** Indices in `all`. */
  readonly byAddress: ReadonlyMap<string, readonly number[]>;
  readonly texts: (EventText | undefined)[];
}

function* locate(
  audiences: ReadonlyMap<Connection, Audience>,
  block: StoredBlock,
  removed?: "removed",
): Generator<undefined, WantedLogs> {
  const addresses = new Set<string>();
  let isAny = false;
  for (const { ofAny } of audiences.values()) isAny ||= ofAny.length > 0;
  let keys = 0;
  // With a subscription to any address, the addresses of the others make no difference.
  for (const { byAddress } of isAny ? [] : audiences.values()) {
    for (const key of byAddress.keys()) {
      if (++keys % ADDRESSES_PER_STEP === 0) yield undefined;
      addresses.add(key);
    }
  }
  const all: LocatedLog[] = [];
  const byAddress = new Map<string, number[]>();
  if (!isAny && addresses.size === 0) return { all, byAddress, texts: [] };
  for (const located of locateLogs(block, ({ address }) => isAny || addresses.has(toKey(address)), removed)) {
    append(byAddress, toKey(located.log.address), all.length);
    if (all.push(located) % CHECKS_PER_STEP === 0) yield undefined;
  }
  return { all, byAddress, texts: [] };
}

function* logsFor({ ofAny, byAddress }: Audience, logs: WantedLogs): Notifications {
  let checks = 0;
  for (const index of indicesFor(ofAny, byAddress, logs)) {
    const located = expectDefined(logs.all[index], "a log of the block");
    const ofThis = byAddress.get(toKey(located.log.address)) ?? [];
    const candidates = ofAny.length === 0 ? ofThis : [...ofThis, ...ofAny].sort(byId);
    for (const subscription of candidates) {
      if (++checks % CHECKS_PER_STEP === 0) yield undefined;
      if (!subscription.parameters.matcher.matches(located.log)) continue;
      const event = logs.texts[index] ?? new EventText(logJson(located));
      logs.texts[index] = event;
      yield { subscription, event };
    }
  }
}

/** Indices of the logs that may match, in order. */
function indicesFor(
  ofAny: Audience["ofAny"],
  byAddress: Audience["byAddress"],
  logs: WantedLogs,
): Iterable<number> {
  if (ofAny.length > 0) return logs.all.keys();
  const [few, many] =
    byAddress.size < logs.byAddress.size ? [byAddress, logs.byAddress] : [logs.byAddress, byAddress];
  const lists: (readonly number[])[] = [];
  for (const key of few.keys()) if (many.has(key)) lists.push(logs.byAddress.get(key) ?? []);
  return lists.length === 1 ? (lists[0] ?? []) : lists.flat().sort((a, b) => a - b);
}

function append<Item>(lists: Map<string, Item[]>, key: string, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/** Notifications after which the connection's backlog is checked: some 100 kB. */
const NOTIFICATIONS_PER_PART = 100;

/** Subscriptions, or logs, that are checked in one unit of work. */
const CHECKS_PER_STEP = 100;
/** Addresses with subscribers that are checked in one unit of work; each needs a text as its key. */
const ADDRESSES_PER_STEP = 20;

function byId(a: LogSubscription, b: LogSubscription): number {
  return Number(a.id) - Number(b.id);
}

/** Only block numbers, and the tag `earliest`, bound a subscription; other tags do not. */
function isWithin(number: bigint, { parameters: { filter } }: LogSubscription): boolean {
  const { from } = filter;
  const to = filter.to === "earliest" ? 0n : filter.to;
  return (typeof from !== "bigint" || number >= from) && (typeof to !== "bigint" || number <= to);
}
