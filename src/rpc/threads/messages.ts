import type { LogLine } from "../../observability/remoteLogger.ts";
import type { SyncStatus } from "../../sync/syncProgress.ts";
import type { SubmissionErrorCode } from "../../txpool/errors.ts";
import type { Channel, Posted } from "../../workers/channel/channel.ts";
import type { CreditLimit } from "../../workers/channel/credit.ts";
import type { AnswerContents, RequestContents } from "../../workers/channel/requestSender.ts";
import type { RpcCount } from "../rpcMetrics.ts";
import type { CoreOutcome, CoreRequest } from "./protocol.ts";

/*
 * Both sides: everything that the main thread and a thread for callers send each other. MESSAGES limits how much of each kind may lie
 * between them while one is held up, and says what becomes of more.
 */

/** What a thread for callers sends to the main thread. */
export interface FromThread extends RequestContents<CoreRequest> {
  /** Transactions for the pool, packed (packedSubmissions.ts). */
  readonly transactions: Uint8Array<ArrayBuffer>;
  readonly logLine: LogLine;
  readonly counts: readonly RpcCount[];
  /** All that was counted before "flush" has been sent. */
  readonly flushed: undefined;
  /** An entry of the index by address cannot be read (AccountIndex.reportDamage). */
  readonly indexDamage: string;
  /** The thread listens, or a text says why it does not. */
  readonly opened: string | undefined;
  readonly closed: undefined;
}

/** What the main thread sends to a thread for callers. */
export interface ToThread extends AnswerContents<CoreOutcome> {
  readonly decided: DecidedTransactions;
  readonly poolEvents: PoolEvents;
  /** The head was shown, so views may move. */
  readonly head: undefined;
  readonly syncing: SyncStatus | undefined;
  /** What callers may do. */
  readonly access: unknown;
  /** Number of made-up calls to answer, which lead nowhere (warmup/madeUpCalls.ts). */
  readonly warmUp: number;
  /** Asks for what was counted: metrics are about to be read. */
  readonly flush: undefined;
  readonly close: undefined;
}

/** What the pool decided on the next `count` transactions: it refused some, by their places among these. */
export interface DecidedTransactions {
  readonly count: number;
  readonly refused: readonly (readonly [place: number, reason: SubmissionErrorCode])[];
}

/** Events of the pool for subscribers: packed transactions that were added, and hashes of dropped ones. */
export interface PoolEvents {
  readonly added: Uint8Array<ArrayBuffer>;
  readonly dropped: Uint8Array<ArrayBuffer>;
  /** Whether other events came meanwhile that were beyond the limit. */
  readonly areLost: boolean;
}

/** Ends of the channel. */
export type ThreadChannel = Channel<FromThread, ToThread>;
export type MainChannel = Channel<ToThread, FromThread>;
export type PostedFromThread = Posted<FromThread>;
export type PostedToThread = Posted<ToThread>;

/** What becomes of a message that is beyond the limit. */
export type Beyond =
  /** The caller is told that too many wait. */
  | "refused"
  /** A later message tells how many are missing. */
  | "lost"
  /** The message is lost, and the connections of those who subscribed to it are closed. */
  | "closes subscribers"
  /** Equal messages become one. */
  | "merged"
  /** The message takes the place of the one that waits. */
  | "newest wins"
  /** The work that makes the message waits. */
  | "waits";

interface MessageKind {
  readonly from: "thread" | "main thread";
  readonly most?: CreditLimit;
  readonly beyond?: Beyond;
}

const MB = 1024 * 1024;

/** A kind without a limit is sent once, or once for each message that it answers. */
export const MESSAGES = {
  /** Requests count towards their remote host until they are answered. One may use half of what the others leave. */
  requests: {
    from: "thread",
    most: { messages: 16_384, bytes: 64 * MB, of: "all threads" },
    beyond: "refused",
  },
  abandoned: { from: "thread" },
  /** Transactions count towards their remote host until the pool has decided. One may use half of what the others leave. */
  transactions: {
    from: "thread",
    most: { messages: 16_384, bytes: 64 * MB, of: "all threads" },
    beyond: "refused",
  },
  logLine: {
    from: "thread",
    most: { messages: 10_000, bytes: 8 * MB, of: "all threads" },
    beyond: "lost",
  },
  counts: { from: "thread", most: { messages: 100_000, of: "all threads" }, beyond: "merged" },
  flushed: { from: "thread" },
  indexDamage: { from: "thread" },
  opened: { from: "thread" },
  closed: { from: "thread" },
  /** The answers of requests that are in flight by then come on top. */
  answers: { from: "main thread", most: { bytes: 64 * MB, of: "each thread" }, beyond: "waits" },
  decided: { from: "main thread" },
  poolEvents: {
    from: "main thread",
    most: { messages: 65_536, bytes: 16 * MB, of: "each thread" },
    beyond: "closes subscribers",
  },
  head: { from: "main thread", most: { messages: 8, of: "each thread" }, beyond: "newest wins" },
  syncing: { from: "main thread", most: { messages: 8, of: "each thread" }, beyond: "newest wins" },
  access: { from: "main thread", most: { messages: 8, of: "each thread" }, beyond: "newest wins" },
  warmUp: { from: "main thread", most: { messages: 8, of: "each thread" }, beyond: "newest wins" },
  flush: { from: "main thread" },
  close: { from: "main thread" },
} as const satisfies Readonly<Record<keyof FromThread | keyof ToThread, MessageKind>>;

/** Kinds of messages that have this fate beyond their limit. */
export type KindsThat<Fate extends Beyond> = {
  [Kind in keyof typeof MESSAGES]: (typeof MESSAGES)[Kind] extends { readonly beyond: Fate } ? Kind : never;
}[keyof typeof MESSAGES];
