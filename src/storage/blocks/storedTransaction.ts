import type { StoredBlock } from "../../types/block.ts";
import type { Receipt } from "../../types/receipt.ts";
import type { SentTransaction } from "../../types/transaction.ts";
import type { PlacedReceipt } from "./receiptStore.ts";
import type { ResidentBlock } from "./residentBlock.ts";

/** A transaction of a committed block; its receipt is read on first access. */
export class StoredTransaction implements PlacedReceipt {
  readonly transaction: SentTransaction;
  readonly index: number;
  readonly #resident: ResidentBlock;
  #placed: PlacedReceipt | undefined;

  constructor(transaction: SentTransaction, index: number, resident: ResidentBlock) {
    this.transaction = transaction;
    this.index = index;
    this.#resident = resident;
  }

  get block(): StoredBlock {
    return this.#resident.block;
  }

  get receipt(): Receipt {
    return this.#place().receipt;
  }

  get firstLogIndex(): number {
    return this.#place().firstLogIndex;
  }

  #place(): PlacedReceipt {
    this.#placed ??= this.#resident.receipt(this.index);
    return this.#placed;
  }
}
