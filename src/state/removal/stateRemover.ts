import { Progress } from "../../observability/progress.ts";
import type { Metrics } from "../../observability/registry.ts";
import type { HistoryStart } from "../../storage/historyStart.ts";
import { RemovalThread } from "../../storage/removal/removalThread.ts";
import type { RemoverParts, RemoverSettings } from "../../storage/removal/remover.ts";
import { readStateBase } from "../../storage/stateBase.ts";
import type { StateRemovalCommand, StateRemovalReport } from "./stateRemovalWorker.ts";

/** The dependencies of the removal of old states. */
type StateRemoverParts = RemoverParts<{ keepStates(kept: bigint): Promise<HistoryStart> }>;

/** Progress of the removal of old states. */
export interface StateRemovalStatus {
  /** Blocks below the head whose states are kept; undefined for all. */
  readonly kept: bigint | undefined;
  /** The first block whose state is kept. */
  readonly start: bigint;
  /**
   * Number of blocks before it whose states may still take room on the disk; undefined until the thread has reported it. It
   * stays constant while the nodes of the first kept state are moved, and falls afterwards.
   */
  readonly left: number | undefined;
  /** Nodes that the current removal, or the last one, has moved, and pages that it has deleted. */
  readonly nodes: number;
  readonly pages: number;
}

/**
 * Removes the states that are older than `--state-history` while the node runs, in rounds:
 *
 *     head moves ─> the states begin later (chain/keepHistory.ts), a quarter of the history at a time ─> the worker removes those before
 *
 * The worker (stateRemovalWorker.ts) has no key in common with the chain, which writes pages of later versions only, and
 * rewinds to none before the start. The start moves on only when the worker is done. Leftovers of an earlier run are
 * removed, too, even when the option is no longer given. Close it before the database.
 */
export class StateRemover {
  private readonly settings: RemoverSettings;
  private readonly parts: StateRemoverParts;
  private readonly thread: RemovalThread<StateRemovalCommand, StateRemovalReport>;
  private stopListening: () => void = () => undefined;
  private onFailure: (error: unknown) => void = () => undefined;
  private isClosed = false;
  private moving: Promise<void> | undefined;
  /** True from the move of the start until the worker has removed the earlier states. */
  private isRemoving = false;
  private report: StateRemovalReport | undefined;
  private beganMs = 0;
  /** How far the removal in progress is, and the first block of which it removes a state. */
  private progress: Progress | undefined;
  private first: number | undefined;

  constructor(settings: RemoverSettings, parts: StateRemoverParts) {
    this.settings = settings;
    this.parts = parts;
    this.thread = new RemovalThread(
      { worker: "stateRemovalWorker", path: settings.path, heapMb: THREAD_MEMORY_MB, removed: "old states" },
      { ...parts, receive: (report) => this.receive(report), fail: (error) => this.onFailure(error) },
    );
    declareStateHistory(parts.metrics, this);
  }

  /** `onFailure` is called when the start of the states cannot be moved, or when the disk fails while states are removed. */
  begin(onFailure: (error: unknown) => void): void {
    this.onFailure = onFailure;
    const { database, chain, logger } = this.parts;
    const { kept } = this.settings;
    const start = Number(chain.historyStart.states);
    const isUsed = readStateBase(database) !== undefined;
    if (kept === undefined && isUsed)
      logger.info({ start }, "all states are kept from now on; those before the start were removed");
    if (kept !== undefined)
      logger.info(
        { kept: Number(kept), start },
        "states older than --state-history are removed while the node runs",
      );
    // An earlier run may have been stopped in the middle of a removal.
    if (isUsed) this.remove();
    if (kept === undefined) return;
    this.stopListening = chain.onHeadChanged("removal", () => this.follow());
    this.follow();
  }

  get status(): StateRemovalStatus {
    const { database, chain } = this.parts;
    const start = chain.historyStart.states;
    const { report } = this;
    const isUnknown = report === undefined && readStateBase(database) !== undefined;
    const left = isUnknown ? undefined : Math.max(0, Number(start) - (report?.next ?? Number(start)));
    const { nodes = 0, pages = 0 } = report ?? {};
    return { kept: this.settings.kept, start, left, nodes, pages };
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.stopListening();
    await this.moving;
    await this.thread.close();
    this.progress?.end();
  }

  /**
   * Moves the start of the states along with the head, but not at each block: a node that changed often in between is then
   * moved once.
   */
  private follow(): void {
    const { kept } = this.settings;
    const { chain } = this.parts;
    if (kept === undefined || this.moving !== undefined || this.isRemoving || this.isClosed) return;
    const due = chain.head.header.number - kept - chain.historyStart.states;
    if (due >= kept / ROUNDS_PER_HISTORY) this.moving = this.move(kept);
  }

  private async move(kept: bigint): Promise<void> {
    try {
      await this.parts.chain.keepStates(kept);
      this.remove();
    } catch (error) {
      if (!this.isClosed) this.onFailure(error);
    } finally {
      this.moving = undefined;
    }
  }

  /** Makes the worker remove what lies before the start. */
  private remove(): void {
    if (this.isClosed) return;
    if (!this.isRemoving) {
      const { clock, logger } = this.parts;
      this.beganMs = clock.nowMs();
      this.progress = new Progress(REMOVAL, logger, () => clock.nowMs());
      this.first = undefined;
    }
    this.isRemoving = true;
    this.thread.run("remove");
  }

  private receive(report: StateRemovalReport): void {
    this.report = report;
    const { isDone, nodes, pages, next } = report;
    const { clock, logger, chain } = this.parts;
    const nowMs = clock.nowMs();
    const start = Number(chain.historyStart.states);
    const seconds = Math.round((nowMs - this.beganMs) / 1000);
    if (isDone) {
      this.isRemoving = false;
      this.progress?.end();
      const fields = { start, nodes, pages, seconds };
      if (seconds >= LONG_SECONDS) logger.info(fields, "old states have been removed");
      else logger.debug(fields, "old states have been removed");
      this.follow();
    } else {
      this.first ??= next;
      const moved = next - this.first;
      this.progress?.change({ ...REMOVAL, total: start - this.first });
      this.progress?.advance({
        position: moved,
        counts: { blocks: moved - (this.progress?.count("blocks") ?? 0) },
        fields: { start, nodes, pages, seconds },
      });
    }
  }
}

/** Removals per `kept` states, so that between `kept` and a quarter more states are readable. */
const ROUNDS_PER_HISTORY = 4n;
/** Memory for the page cache, the nodes of one write, and LevelDB's portions of a range. */
const THREAD_MEMORY_MB = 256;
/** Duration above which a removal is logged. */
const LONG_SECONDS = 30;
/** The log has a line every half minute: a removal may take hours. */
const REMOVAL = { message: "old states are being removed", lineIntervalMs: 30_000 };

/** Declares where states begin, and how much of those before is still to be removed. */
function declareStateHistory(
  metrics: Metrics | undefined,
  states: { readonly status: StateRemovalStatus },
): void {
  if (metrics?.isEnabled("NODE") !== true) return;
  const gauge = (name: string, help: string, read: () => number): void =>
    metrics.gauge({ category: "NODE", name: `state_history_${name}`, help }, read);
  gauge("first_block", "First block whose state is kept; 0 for all", () => Number(states.status.start));
  gauge(
    "blocks_to_remove",
    "Blocks before it whose states still take room on the disk",
    () => states.status.left ?? Number.NaN,
  );
  gauge("nodes_moved", "Trie nodes that the newest removal of states has moved", () => states.status.nodes);
  gauge(
    "pages_deleted",
    "Pages of trie nodes that the newest removal of states has deleted",
    () => states.status.pages,
  );
}
