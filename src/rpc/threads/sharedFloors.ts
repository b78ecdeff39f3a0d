import { bigintToFixedBytes, bytesToBigint, smaller } from "../../primitives/quantity.ts";
import type { BlockFloors } from "../../txpool/limits.ts";

/**
 * The price floors of this node's blocks, which bound the suggested prices, in memory that threads share, so that a change by miner_setMinGasPrice holds for all connections once it is
 * answered. The main thread writes it.
 *
 *   sequence i32, odd while it is being written | gas price, 32 bytes | priority fee, 32 bytes
 */
interface SharedFloors {
  /** Handed to other threads. */
  readonly memory: SharedArrayBuffer;
  read(): BlockFloors;
  /** Only the main thread calls it. */
  write(floors: BlockFloors): void;
}

const WORD = 32;
const AT_PRICE = 4;
const AT_FEE = AT_PRICE + WORD;

/** The floors in that memory, or in new memory, where they are 0. */
export function openSharedFloors(
  memory: SharedArrayBuffer = new SharedArrayBuffer(AT_FEE + WORD),
): SharedFloors {
  const sequence = new Int32Array(memory, 0, 1);
  const bytes = new Uint8Array(memory);
  let known: { readonly sequence: number; readonly floors: BlockFloors } | undefined;
  return {
    memory,
    read() {
      // The writer takes less than a microsecond.
      for (;;) {
        const before = Atomics.load(sequence, 0);
        // Floors change when an operator changes them, and are read with each suggested price.
        if (known?.sequence === before) return known.floors;
        const copy = Uint8Array.from(bytes);
        if (before % 2 !== 0 || Atomics.load(sequence, 0) !== before) continue;
        const minGasPriceWei = bytesToBigint(copy.subarray(AT_PRICE, AT_FEE));
        const minPriorityFeeWei = bytesToBigint(copy.subarray(AT_FEE));
        known = { sequence: before, floors: { minGasPriceWei, minPriorityFeeWei } };
        return known.floors;
      }
    },
    write({ minGasPriceWei, minPriorityFeeWei }) {
      Atomics.add(sequence, 0, 1);
      bytes.set(wordOf(minGasPriceWei), AT_PRICE);
      bytes.set(wordOf(minPriorityFeeWei), AT_FEE);
      Atomics.add(sequence, 0, 1);
    },
  };
}

/** No price of a transaction is larger than a word. */
function wordOf(wei: bigint): Uint8Array {
  return bigintToFixedBytes(smaller(wei, LARGEST_WORD), WORD);
}

const LARGEST_WORD = 2n ** 256n - 1n;
