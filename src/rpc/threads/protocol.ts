import type { SimulationJob, SimulationResult } from "../../execution/simulation/callRequest.ts";
import type { StateQuery, StateQueryResult } from "../../execution/simulation/stateQuery.ts";
import type { GiftAnswer, GiftRequest } from "../../faucet/gift.ts";
import type { FoundLogs } from "../../logs/findLogs.ts";
import type { LogCriteria } from "../../logs/logMatcher.ts";
import type { BlockRange } from "../../logs/logQuery.ts";
import type { JsonPiece } from "../../primitives/jsonPieces.ts";
import type { TraceJob, TraceResult } from "../../tracers/traceJob.ts";
import type { LoginAnswer, LoginAttempt } from "../access/gate.ts";
import type { Json } from "../method.ts";
import type { Objections } from "../server/health.ts";
import type { CallerServerName, GuardedServerName } from "../server/serverTable.ts";

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
  | { readonly kind: "descriptor"; readonly server: CallerServerName }
  | { readonly kind: "readiness"; readonly query: string }
  | { readonly kind: "gift"; readonly gift: GiftRequest }
  | { readonly kind: "login"; readonly server: GuardedServerName; readonly attempt: LoginAttempt };

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
