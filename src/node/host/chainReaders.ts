import type { Settings } from "../../config/settings.ts";

/** Threads that read the chain, besides those for calls and the one that makes blocks. */
export interface ChainReaders {
  readonly callers: number;
  /** Threads for visitors: one where the explorer is on. */
  readonly visitors: number;
  /** Threads for the index by address: one where it is on. */
  readonly indexers: number;
}

export function chainReadersOf(
  { explorer, accountIndex }: Pick<Settings, "explorer" | "accountIndex">,
  callers: number,
): ChainReaders {
  return {
    callers,
    visitors: explorer === undefined ? 0 : 1,
    indexers: accountIndex === undefined ? 0 : 1,
  };
}
