import type { Simulator } from "../../execution/simulation/callRequest.ts";
import type { StateQueryRunner } from "../../execution/simulation/stateQuery.ts";
import type { GiftAnswer, GiftRequest } from "../../faucet/gift.ts";
import type { FindLogs } from "../../logs/findLogs.ts";
import type { RootLogger } from "../../observability/logger.ts";
import type { LogLine } from "../../observability/remoteLogger.ts";
import type { CallAnswerer } from "../../rpc/dispatcher.ts";
import type { RpcCount } from "../../rpc/rpcMetrics.ts";
import type { Objections } from "../../rpc/server/health.ts";
import type { ThreadServerName } from "../../rpc/server/serverTable.ts";
import type { Interests } from "../../rpc/threads/interests.ts";
import type { PoolHost } from "../../rpc/threads/mainSide/poolHost.ts";
import type { SyncStatus } from "../../sync/syncProgress.ts";
import type { Tracer } from "../../tracers/traceJob.ts";
import type { AdmissionQueue } from "../../txpool/admissionQueue.ts";
import type { TxPool } from "../../txpool/txPool.ts";
import type { Access } from "../access/access.ts";
import type { SharedListener } from "./sharedListener.ts";

/** What threads for callers need of the main thread. */
export interface RpcThreadsParts {
  /** Answers what threads do not answer themselves. */
  readonly dispatcher: CallAnswerer;
  /** Run what lasts, on threads that can be terminated. */
  readonly simulator: Simulator;
  readonly stateQueries: StateQueryRunner;
  readonly tracer: Tracer;
  readonly findLogs: FindLogs;
  readonly pool: Pick<TxPool, "blockFloors" | "onFloorsChanged" | "onAdded" | "onDropped">;
  readonly admission: Pick<AdmissionQueue, "add">;
  readiness(query: URLSearchParams): Objections;
  /** Gives the network's coin away; absent where the faucet is off. */
  readonly give?: ((request: GiftRequest) => Promise<GiftAnswer>) | undefined;
  /** Has the index by address built again. */
  reportIndexDamage(damage: string): void;
  readonly logins: Access["logins"];
  /** Calls `listener` after each move of the head, when it was shown. */
  onHeadChanged(listener: () => void): () => void;
  onSyncChanged(listener: (status: SyncStatus | undefined) => void): () => void;
  /** Counts in the metrics; absent without metrics. */
  readonly count: ((one: RpcCount) => void) | undefined;
  /** Memory of the shown head. */
  readonly shownHead: SharedArrayBuffer;
  readonly logger: RootLogger;
}

/** The ports that are open. */
export type Listeners = { [Name in ThreadServerName]?: SharedListener };

/** What all threads share. */
export interface ThreadParts extends RpcThreadsParts {
  readonly listeners: Listeners;
  readonly interests: Interests;
  /** Takes their transactions. */
  readonly transactions: PoolHost;
  readonly writeLine: (thread: number, line: LogLine) => void;
}
