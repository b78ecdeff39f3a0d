import type { AccountIndex } from "../../accounts/accountIndex.ts";
import type { ChainReader } from "../../chain/chainReader.ts";
import type { ShownHead } from "../../chain/view/shownHead.ts";
import type { RootLogger } from "../../observability/logger.ts";
import type { LogLine } from "../../observability/remoteLogger.ts";
import type { Core } from "../../rpc/core/core.ts";
import type { RpcCount } from "../../rpc/rpcMetrics.ts";
import type { ThreadServerName } from "../../rpc/server/serverTable.ts";
import type { Interests } from "../../rpc/threads/interests.ts";
import type { Sync } from "../../sync/sync.ts";
import type { AdmissionQueue } from "../../txpool/admissionQueue.ts";
import type { TxPool } from "../../txpool/txPool.ts";
import type { SharedListener } from "./sharedListener.ts";

/** What threads for callers need of the main thread. */
export interface RpcThreadsParts {
  readonly core: Core;
  readonly pool: Pick<TxPool, "blockFloors" | "onFloorsChanged" | "onAdded" | "onDropped">;
  readonly admission: Pick<AdmissionQueue, "add">;
  readonly chain: Pick<ChainReader, "onHeadChanged">;
  readonly sync: Pick<Sync, "onStatusChanged">;
  /** It is built again where a thread finds damage; undefined when it is off. */
  readonly accountIndex: Pick<AccountIndex, "reportDamage"> | undefined;
  /** Counts in the metrics; absent without metrics. */
  readonly count: ((one: RpcCount) => void) | undefined;
  readonly shownHead: Pick<ShownHead, "memory">;
  readonly logger: RootLogger;
}

/** The ports that are open. */
export type Listeners = { [Name in ThreadServerName]?: SharedListener };

/** What all threads share. */
export interface ThreadParts extends RpcThreadsParts {
  readonly listeners: Listeners;
  readonly interests: Interests;
  readonly writeLine: (thread: number, line: LogLine) => void;
}
