import type { LoadingThreads } from "../callers/threads/loadingThreads.ts";
import type { Settings } from "../config/settings.ts";
import type { SignedTimes } from "../consensus/monitor/signedTimes.ts";
import type { Logger, RootLogger } from "../observability/logger.ts";
import type { Metrics } from "../observability/registry.ts";
import type { Clock } from "../primitives/clock.ts";
import type { CacheSizes } from "./host/cacheSizes.ts";
import type { ChainReaders } from "./host/chainReaders.ts";
import type { OpenServices } from "./status/openServices.ts";

/** Parameters shared by all open… functions. */
export interface OpenContext {
  readonly settings: Settings;
  readonly caches: CacheSizes;
  readonly logger: RootLogger;
  readonly clock: Clock;
  /** Tells the clock whether other validators agree with it. */
  readonly signedTimes: SignedTimes;
  /** Undefined when metrics are off. */
  readonly metrics: Metrics | undefined;
  readonly openParts: OpenParts;
  /** Threads for callers, which load already; undefined where there are none. */
  readonly threads: LoadingThreads | undefined;
  readonly readers: ChainReaders;
  readonly services: OpenServices;
}

type Close = () => Promise<void> | void;

/** The parts that are open so far. The last one opened closes first. */
export class OpenParts {
  private readonly logger: Logger;
  private readonly closers: Close[] = [];

  constructor(logger: Logger) {
    this.logger = logger;
  }

  /** Registers a part as soon as it is open, and returns it. */
  add<Part extends { close(): Promise<void> | void }>(part: Part): Part {
    this.onClose(() => part.close());
    return part;
  }

  /** Registers what else is to be done at that place of the order. */
  onClose(close: Close): void {
    this.closers.push(close);
  }

  /** Logs a failure instead of throwing, so that the others are closed too; the database is among the last. */
  async close(): Promise<void> {
    for (const close of this.closers.splice(0).reverse())
      try {
        await close();
      } catch (error) {
        this.logger.error({ error }, "a part of the node could not be closed");
      }
  }
}
