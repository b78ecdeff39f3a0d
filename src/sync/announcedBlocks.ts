import type { CodedError } from "../primitives/result.ts";
import type { Block } from "../types/block.ts";
import type { SyncContext } from "./context.ts";
import type { OfferedBlock } from "./ports.ts";
import { WaitingBlocks } from "./waitingBlocks.ts";

/**
 * Imports the blocks near the head that peers announce, each once its parent is the head. A block whose header is valid,
 * seals included, is relayed before its execution, so that it crosses a line of nodes in the time of their checks
 * (p2p.md#block-propagation).
 */
export class AnnouncedBlocks {
  readonly #context: Pick<SyncContext, "chain" | "reports" | "canImport">;
  readonly #relay: (block: Block) => void;
  readonly #waiting = new WaitingBlocks();

  constructor(context: Pick<SyncContext, "chain" | "reports" | "canImport">, relay: (block: Block) => void) {
    this.#context = context;
    this.#relay = relay;
  }

  /** False when the block is known already. */
  add(offered: OfferedBlock): boolean {
    const isPast = offered.header.number <= this.#context.chain.head.header.number;
    if (isPast || this.#context.chain.headerByHash(offered.hash) !== undefined) return false;
    this.#waiting.add(offered);
    return true;
  }

  /** Imports what follows the head, one block after another. */
  async importNext(): Promise<void> {
    while (this.#context.canImport()) {
      this.#waiting.dropUpTo(this.#context.chain.head.header.number);
      const offered = this.#waiting.takeChildOf(this.#context.chain.head.hash);
      if (offered === undefined) return;
      const error = await this.#importErrorOf(offered);
      if (error !== undefined) this.#context.reports.announcementRefused(offered, error);
    }
  }

  /** Imports the block; the error when that fails. */
  async #importErrorOf(offered: OfferedBlock): Promise<CodedError | undefined> {
    const checked = await this.#context.chain.checkNextHeader(offered.header);
    if (!checked.ok) return checked.error;
    const block = offered.open();
    if (!block.ok) return block.error;
    this.#relay(block.value);
    const imported = await this.#context.chain.importBlock(block.value);
    return imported.ok ? undefined : imported.error;
  }
}
