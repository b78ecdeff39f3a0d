import type { SimulationJob, SimulationResult } from "../../execution/simulation/callRequest.ts";
import type { StateQuery, StateQueryResult } from "../../execution/simulation/stateQuery.ts";
import type { GiftAnswer, GiftRequest } from "../../faucet/gift.ts";
import type { FoundLogs } from "../../logs/findLogs.ts";
import type { LogCriteria } from "../../logs/logMatcher.ts";
import type { BlockRange } from "../../logs/logQuery.ts";
import type { LogLine } from "../../observability/remoteLogger.ts";
import type { JsonPiece } from "../../primitives/jsonPieces.ts";
import type { SyncStatus } from "../../sync/syncProgress.ts";
import type { TraceJob, TraceResult } from "../../tracers/traceJob.ts";
import type { SubmissionErrorCode } from "../../txpool/errors.ts";
import type { LoginAnswer, LoginAttempt } from "../access/gate.ts";
import type { Json } from "../method.ts";
import type { RpcCount } from "../rpcMetrics.ts";
import type { Objections } from "../server/health.ts";

/** Who asks, as the main thread needs it for its queues (Requester). */
export interface RemoteCaller {
  /** Number of the connection, within its thread. */
  readonly client: number;
  readonly remoteHost: string;
  readonly isForeignPage: boolean;
}

/** What a thread asks the main thread for; each request is answered once, with its number. */
export type ThreadRequest =
  | {
      readonly kind: "call";
      readonly method: string;
      readonly params: readonly unknown[];
      readonly caller: RemoteCaller;
    }
  /** Work for threads that can be terminated, whose queues are the main thread's: one for the callers of all threads. */
  | { readonly kind: "simulate"; readonly job: SimulationJob; readonly caller: RemoteCaller }
  | { readonly kind: "query"; readonly job: StateQuery; readonly caller: RemoteCaller }
  | { readonly kind: "trace"; readonly job: TraceJob; readonly caller: RemoteCaller }
  | {
      readonly kind: "logs";
      readonly criteria: LogCriteria;
      readonly range: BlockRange;
      readonly caller: RemoteCaller;
    }
  /** Another descriptor of a listening socket (server/acceptBalance.ts). */
  | { readonly kind: "descriptor"; readonly server: "http" | "webSocket" }
  | { readonly kind: "readiness"; readonly query: string }
  | { readonly kind: "gift"; readonly gift: GiftRequest }
  | { readonly kind: "login"; readonly server: "http" | "webSocket"; readonly attempt: LoginAttempt };

/** A method's answer as it crosses threads. */
export type RemoteAnswer =
  | { readonly kind: "value"; readonly value: Json }
  | { readonly kind: "raw"; readonly text: string }
  /** `areOwn` where nobody else uses the memory of pieces of bytes: it is handed over, not copied. */
  | { readonly kind: "pieces"; readonly pieces: readonly JsonPiece[]; readonly areOwn: boolean }
  | {
      readonly kind: "error";
      readonly code: number;
      readonly message: string;
      readonly data: string | undefined;
    };

export interface AnswerOf {
  readonly call: RemoteAnswer;
  readonly simulate: SimulationResult;
  readonly query: StateQueryResult;
  readonly trace: TraceResult;
  readonly logs: FoundLogs;
  readonly descriptor: number | undefined;
  readonly readiness: Objections;
  readonly login: LoginAnswer;
  readonly gift: GiftAnswer;
}

export interface NumberedRequest {
  readonly id: number;
  readonly request: ThreadRequest;
}

export type NumberedAnswer =
  | { readonly id: number; readonly answer: AnswerOf[keyof AnswerOf] }
  /** The main thread failed, which it has logged. */
  | { readonly id: number; readonly failed: string };

export type FromThread =
  | { readonly kind: "requests"; readonly requests: readonly NumberedRequest[] }
  /** Transactions for the pool, packed (packedBytes.ts). */
  | { readonly kind: "transactions"; readonly bytes: Uint8Array<ArrayBuffer> }
  /** Nobody waits any more for the answers to these requests. */
  | { readonly kind: "abandoned"; readonly ids: readonly number[] }
  | { readonly kind: "log"; readonly line: LogLine; readonly bytes: number }
  | { readonly kind: "counted"; readonly counts: readonly RpcCount[] }
  /** All that was counted before "flush" has been sent. */
  | { readonly kind: "flushed" }
  /** So many events of the pool, and their bytes, have been worked on. */
  | { readonly kind: "credit"; readonly events: number; readonly bytes: number }
  /** An entry of the index by address cannot be read (AccountIndex.reportDamage). */
  | { readonly kind: "indexDamage"; readonly damage: string }
  /** A notice has been worked on (notifications.ts). */
  | { readonly kind: "worked"; readonly on: "head" | "syncing" | "access" | "warmUp" }
  | { readonly kind: "opened"; readonly failure: string | undefined }
  | { readonly kind: "closed" };

export type ToThread =
  /** The pool has decided on the next `count` transactions, and refused some, by their places among these. */
  | {
      readonly kind: "submitted";
      readonly count: number;
      readonly refused: readonly (readonly [place: number, reason: SubmissionErrorCode])[];
    }
  /** `bytes` are about those of the answers. */
  | { readonly kind: "answers"; readonly answers: readonly NumberedAnswer[]; readonly bytes: number }
  /** The head was shown, so views may move. */
  | { readonly kind: "head" }
  /**
   * The pool's events for subscribers (eventFeed.ts): packed transactions that were added, and hashes of dropped ones.
   * `events` and `bytes` are what they take of the thread's credit. `areLost` when others came meanwhile that the thread had no credit for.
   */
  | {
      readonly kind: "poolEvents";
      readonly added: Uint8Array<ArrayBuffer>;
      readonly dropped: Uint8Array;
      readonly events: number;
      readonly bytes: number;
      readonly areLost: boolean;
    }
  | { readonly kind: "syncing"; readonly status: SyncStatus | undefined }
  | { readonly kind: "access"; readonly access: unknown }
  /** Answer so many made-up calls that lead nowhere (warmup/madeUpCalls.ts). */
  | { readonly kind: "warmUp"; readonly calls: number }
  /** Send what was counted: metrics are about to be read. */
  | { readonly kind: "flush" }
  | { readonly kind: "close" };
