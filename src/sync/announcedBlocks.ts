import type { CodedError } from "../primitives/result.ts";
import type { Block } from "../types/block.ts";
import type { SyncContext } from "./context.ts";
import type { OfferedBlock } from "./ports.ts";
import { createWaitingBlocks } from "./waitingBlocks.ts";

/**
 * Imports the blocks near the head that peers announce, each once its parent is the head. A block whose header is valid,
 * seals included, is relayed before its execution, so that it crosses a line of nodes in the time of their checks
 * (p2p.md#block-propagation).
 */
export interface AnnouncedBlocks {
  /** False when the block is known already. */
  add(offered: OfferedBlock): boolean;
  /** Imports what follows the head, one block after another. */
  importNext(): Promise<void>;
}

export function createAnnouncedBlocks(
  context: Pick<SyncContext, "chain" | "reports" | "canImport">,
  relay: (block: Block) => void,
): AnnouncedBlocks {
  const { chain, reports, canImport } = context;
  const waiting = createWaitingBlocks();

  /** Imports the block; the error when that fails. */
  async function importErrorOf(offered: OfferedBlock): Promise<CodedError | undefined> {
    const checked = await chain.checkNextHeader(offered.header);
    if (!checked.ok) return checked.error;
    const block = offered.open();
    if (!block.ok) return block.error;
    relay(block.value);
    const imported = await chain.importBlock(block.value);
    return imported.ok ? undefined : imported.error;
  }

  return {
    add(offered) {
      const isPast = offered.header.number <= chain.head.header.number;
      if (isPast || chain.headerByHash(offered.hash) !== undefined) return false;
      waiting.add(offered);
      return true;
    },
    async importNext() {
      while (canImport()) {
        waiting.dropUpTo(chain.head.header.number);
        const offered = waiting.takeChildOf(chain.head.hash);
        if (offered === undefined) return;
        const error = await importErrorOf(offered);
        if (error !== undefined) reports.announcementRefused(offered, error);
      }
    },
  };
}
