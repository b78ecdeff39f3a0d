import type { StopSignal } from "../execution/yieldPolicy.ts";
import { dropOldest } from "../primitives/boundedCache.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { StagedState } from "../state/worldState.ts";
import type { NamedBlock } from "../types/block.ts";
import type { Receipt } from "../types/receipt.ts";
import type { SentTransaction } from "../types/transaction.ts";

/**
 * A block that was executed on the head's state, and whose header matches the result. Its chain hash covers neither round
 * nor seals, so one execution serves a proposal, the same block proposed again in a later round, and the sealed block.
 */
export interface ExecutedBlock {
  readonly block: NamedBlock<SentTransaction>;
  readonly receipts: readonly Receipt[];
  readonly staged: StagedState;
}

/**
 * Executed blocks on top of the current head, by chain hash, so that no block is executed twice (architecture.md#execution).
 */
export interface ExecutedBlocks {
  keep(executed: ExecutedBlock): void;
  find(hash: Uint8Array): ExecutedBlock | undefined;
  /** Called when the head has moved: all executions were on top of the old one. */
  clear(): void;
}

/** One for each of the last rounds of a height. */
const MAX_EXECUTED_BLOCKS = 8;

export function createExecutedBlocks(): ExecutedBlocks {
  const kept = new Map<string, ExecutedBlock>();
  return {
    keep(executed) {
      kept.set(toKey(executed.block.hash), executed);
      dropOldest(kept, MAX_EXECUTED_BLOCKS);
    },
    find: (hash) => kept.get(toKey(hash)),
    clear: () => kept.clear(),
  };
}

/** An execution in progress, and the signals of its callers. */
interface Run<T> {
  readonly base: object;
  callers: StopSignal[];
  readonly result: Promise<T>;
}

/**
 * Executions in progress, so that a block that arrives sealed while its proposal is still executed is not executed twice:
 * later callers share the run in progress. A run stops when the signals of all its callers are aborted.
 */
export interface SharedRuns<T> {
  /** `base` is the head that it is executed on. Resolves to the result; undefined only if the caller's own signal is aborted. */
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
    const combined = {
      get aborted(): boolean {
        return run.callers.every(({ aborted }) => aborted);
      },
    };
    const run: Run<T | undefined> = {
      base,
      callers: [signal],
      // Deferred, so that `run` is assigned before `begin` reads the signal.
      result: Promise.resolve()
        .then(() => begin(combined))
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
        run.callers = run.callers.filter(({ aborted }) => !aborted).concat(work.signal);
        const result = await run.result;
        // The other callers aborted the run just before this caller joined: try again.
        if (result !== undefined || work.signal.aborted) return result;
      }
    },
  };
}
