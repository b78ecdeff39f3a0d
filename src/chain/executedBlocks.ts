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

/** Number of executed blocks kept: one for each of the last rounds of a height. */
const MAX_EXECUTED_BLOCKS = 8;

/**
 * Executed blocks on top of the current head, by chain hash, so that no block is executed twice (architecture.md#execution).
 */
export class ExecutedBlocks {
  private readonly kept = new Map<string, ExecutedBlock>();

  keep(executed: ExecutedBlock): void {
    this.kept.set(toKey(executed.block.hash), executed);
    dropOldest(this.kept, MAX_EXECUTED_BLOCKS);
  }

  find(hash: Uint8Array): ExecutedBlock | undefined {
    return this.kept.get(toKey(hash));
  }

  /** Called when the head has moved: all executions were on top of the old one. */
  clear(): void {
    this.kept.clear();
  }
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
export class SharedRuns<T> {
  private readonly runs = new Map<string, Run<T | undefined>>();

  /** `base` is the head that it is executed on. Resolves to the result; undefined only if the caller's own signal is aborted. */
  async join(
    work: { readonly hash: Uint8Array; readonly base: object; readonly signal: StopSignal },
    begin: (signal: StopSignal) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const key = toKey(work.hash);
    for (;;) {
      const run = this.runs.get(key);
      if (run === undefined || run.base !== work.base) return this.start(key, work, begin);
      run.callers = run.callers.filter(({ aborted }) => !aborted).concat(work.signal);
      const result = await run.result;
      // The other callers aborted the run just before this caller joined, so it tries again.
      if (result !== undefined || work.signal.aborted) return result;
    }
  }

  private start(
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
      // The start is deferred, so that `run` is assigned before `begin` reads the signal.
      result: Promise.resolve()
        .then(() => begin(combined))
        .finally(() => {
          if (this.runs.get(key) === run) this.runs.delete(key);
        }),
    };
    this.runs.set(key, run);
    return run.result;
  }
}
