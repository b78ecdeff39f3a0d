import type { FoundLogs } from "../../logs/findLogs.ts";
import type { JsonPiece } from "../../primitives/jsonPieces.ts";
import type { Core } from "./core.ts";

/** Names of all calls of the core, such as "pool.nextNonce". */
type CoreCallName = {
  [Group in keyof Core]: `${Group}.${keyof Core[Group] & string}`;
}[keyof Core];

/**
 * The calls that are requests to the main thread. Transactions have a message and limits of their own (callerSide/transactionSender.ts):
 * an object for each would cost the main thread more than everything else that it does until the pool has it.
 */
export type RequestedCallName = Exclude<CoreCallName, "pool.submit">;

type CallOf<Name> = Name extends `${infer Group extends keyof Core}.${infer Call}`
  ? Call extends keyof Core[Group]
    ? Core[Group][Call]
    : never
  : never;
type ResultOf<Call> = Call extends (...args: never) => Promise<infer Result> ? Result : never;

export interface CoreCallRules<Result = unknown> {
  /** The answer may be very large: one such answer is made at a time for the callers of a thread. */
  readonly takesTurns?: boolean;
  /** Memory of a result that nobody else uses: it is handed to the other thread, not copied. */
  readonly owned?: (result: Result) => readonly (string | ArrayBufferView)[];
  /** The first argument is a job for a third thread: it is sealed, since the main thread passes it on unread. */
  readonly sealsJob?: true;
  /** What a call resolves to when too many wait for the main thread; one without it rejects with TooManyRequests. */
  readonly whenBusy?: Result;
}

const PLAIN = {};
const FOUND_LOGS = { owned: (result: FoundLogs | undefined) => piecesOf(result) };
const BUSY = { kind: "busy" } as const;

/** The pieces of an answer, whose memory the thread that wrote them has transferred. */
function piecesOf(
  result: { readonly pieces: readonly JsonPiece[] } | { readonly kind: string } | undefined,
): readonly JsonPiece[] {
  return result !== undefined && "pieces" in result ? result.pieces : [];
}

/** The requested calls as they cross threads. */
export const CORE_CALLS: { readonly [Name in RequestedCallName]: CoreCallRules<ResultOf<CallOf<Name>>> } = {
  "pool.transaction": { owned: (packed) => [packed] },
  "pool.nextNonce": PLAIN,
  "pool.statistics": PLAIN,
  "pool.bySender": {
    takesTurns: true,
    owned: ({ pending, queued }) => [pending.transactions, queued.transactions],
  },
  "pool.matching": {
    takesTurns: true,
    owned: (listing) => (listing === "tooLarge" ? [] : [listing.transactions]),
  },
  "pool.entries": {
    takesTurns: true,
    owned: (entries) => (entries === "tooMany" ? [] : [entries.hashes, entries.areLocal, entries.addedAtMs]),
  },
  "pool.waiting": { takesTurns: true },
  "filters.addLogs": PLAIN,
  "filters.addBlocks": PLAIN,
  "filters.addPending": PLAIN,
  "filters.changes": FOUND_LOGS,
  "filters.logs": FOUND_LOGS,
  "filters.remove": PLAIN,
  "network.info": PLAIN,
  "network.peers": PLAIN,
  "network.addPeer": PLAIN,
  "network.removePeer": PLAIN,
  "consensus.status": PLAIN,
  "consensus.propose": PLAIN,
  "consensus.discard": PLAIN,
  "consensus.pending": PLAIN,
  "mining.status": PLAIN,
  "mining.start": PLAIN,
  "mining.stop": PLAIN,
  "mining.setCoinbase": PLAIN,
  "mining.setTargetGasLimit": PLAIN,
  "mining.setExtraData": PLAIN,
  "mining.setPriceFloors": PLAIN,
  "permissions.items": PLAIN,
  "permissions.change": PLAIN,
  "permissions.reload": PLAIN,
  "history.setHead": PLAIN,
  "history.replayBlock": PLAIN,
  "history.resyncWorldState": PLAIN,
  "wallet.send": PLAIN,
  "wallet.sign": PLAIN,
  "wallet.impersonate": PLAIN,
  "wallet.stopImpersonating": PLAIN,
  "wallet.impersonateAll": PLAIN,
  "logIndex.status": PLAIN,
  "logIndex.generate": PLAIN,
  "logIndex.remove": PLAIN,
  "logIndex.repair": PLAIN,
  "node.info": PLAIN,
  "node.syncStatus": PLAIN,
  "node.arrivals": PLAIN,
  "node.badBlocks": { takesTurns: true, owned: (blocks) => blocks.map(({ raw }) => raw) },
  "node.badBlock": { owned: (raw) => (raw === undefined ? [] : [raw]) },
  "node.metrics": PLAIN,
  "node.changeLogLevel": PLAIN,
  "jobs.simulate": { sealsJob: true, whenBusy: BUSY },
  "jobs.query": { sealsJob: true, whenBusy: BUSY },
  "jobs.trace": { sealsJob: true, whenBusy: BUSY, owned: piecesOf },
  "jobs.traceToFile": { sealsJob: true, whenBusy: BUSY },
  "jobs.findLogs": { whenBusy: BUSY, owned: piecesOf },
  "serving.readiness": { whenBusy: ["too many requests wait"] },
  "serving.login": { whenBusy: "busy" },
  "serving.gift": { whenBusy: "busy" },
  "serving.descriptor": { whenBusy: undefined },
  "development.mine": PLAIN,
  "development.increaseTime": PLAIN,
  "development.setTime": PLAIN,
  "development.setNextTimestamp": PLAIN,
  "development.nextTimestamp": PLAIN,
  "development.setTimestampInterval": PLAIN,
  "development.setGasLimit": PLAIN,
  "development.isAutomatic": PLAIN,
  "development.intervalMs": PLAIN,
  "development.instanceId": PLAIN,
  "development.setAutomatic": PLAIN,
  "development.setInterval": PLAIN,
  "development.snapshot": PLAIN,
  "development.revert": PLAIN,
  "development.reorganise": PLAIN,
  "development.reset": PLAIN,
  "development.alter": PLAIN,
  "development.load": PLAIN,
  "development.sendAs": PLAIN,
  "development.drop": PLAIN,
  "development.dropOf": PLAIN,
  "development.dropAll": PLAIN,
};
