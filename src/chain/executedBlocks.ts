import type { StopSignal } from "../execution/yieldPolicy.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { StagedState } from "../state/worldState.ts";
import type { NamedBlock } from "../types/block.ts";
import type { Receipt } from "../types/receipt.ts";
import type { SentTransaction } from "../types/transaction.ts";

/**
 * A block that was executed on the head's state, with a header that promises just what came of it. Its name covers
 * neither round nor seals, so one execution serves a proposal, its repetition in a later round, and the sealed block.
 */
export interface ExecutedBlock {
  readonly block: NamedBlock<SentTransaction>;
  readonly receipts: readonly Receipt[];
  readonly staged: StagedState;
}

/**
 * Executions on top of the present head, by chain hash, so that nothing is executed twice
 * (architecture.md#execution).
 */
export interface ExecutedBlocks {
  keep(executed: ExecutedBlock): void;
  find(hash: Uint8Array): ExecutedBlock | undefined;
  /** The head has moved: all of them stood on the old one. */
  clear(): void;
}

/** One for each round that a height may take before it is time to forget the oldest. */
const KEPT_EXECUTIONS = 8;

export function createExecutedBlocks(): ExecutedBlocks {
  const kept = new Map<string, ExecutedBlock>();
  return {
    keep(executed) {
      kept.set(toKey(executed.block.hash), executed);
      const [oldest] = kept.keys();
      if (kept.size > KEPT_EXECUTIONS && oldest !== undefined) kept.delete(oldest);
    },
    find: (hash) => kept.get(toKey(hash)),
    clear: () => kept.clear(),
  };
}

/** A block that is being executed, and all who wait for what comes of it. */
interface Run<T> {
  readonly base: object;
  waiting: StopSignal[];
  readonly result: Promise<T>;
}

/**
 * Executions under way, so that a block that arrives sealed while its proposal is still executed is not executed twice:
 * who comes later waits with the others. The work goes on until none of them waits any more.
 */
export interface SharedRuns<T> {
  /** `base` is what it is executed on. Each gets what came of it; undefined only once its own signal is aborted. */
  join(
    work: { readonly hash: Uint8Array; readonly base: object; readonly signal: StopSignal },
    begin: (signal: StopSignal) => Promise<T | undefined>,
  ): Promise<T | undefined>;
}

export function createSharedRuns<T>(): SharedRuns<T> {
  const runs = new Map<string, Run<T | undefined>>();

  function start(
    key: string,
    { base, signal }: { readonly base: object; readonly signal: StopSignal },
    begin: (signal: StopSignal) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const joint = {
      get aborted(): boolean {
        return run.waiting.every(({ aborted }) => aborted);
      },
    };
    const run: Run<T | undefined> = {
      base,
      waiting: [signal],
      // Later, so that the run is known by then.
      result: Promise.resolve()
        .then(() => begin(joint))
        .finally(() => {
          if (runs.get(key) === run) runs.delete(key);
        }),
    };
    runs.set(key, run);
    return run.result;
  }

  return {
    async join(work, begin) {
      const key = toKey(work.hash);
      for (;;) {
        const run = runs.get(key);
        if (run === undefined || run.base !== work.base) return start(key, work, begin);
        run.waiting = run.waiting.filter(({ aborted }) => !aborted).concat(work.signal);
        const result = await run.result;
        // The others gave up a moment before we came.
        if (result !== undefined || work.signal.aborted) return result;
      }
    },
  };
}
