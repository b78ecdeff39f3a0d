import type { WaitingTransaction } from "../chain/pool.ts";
import { showCoins, showNumber } from "../format.ts";
import { whyUnmined } from "./whyUnmined.ts";

/** Why a pooled transaction waits, as far as the node can know. */
export function whyWaiting(transaction: WaitingTransaction): string {
  const { reason, nextNonce, gas, cost, balance } = transaction;
  switch (reason) {
    case "nonceGap":
      return `Nonce ${showNumber(BigInt(nextNonce))} of its sender is missing.`;
    case "gasAboveBlock":
      return `Its gas limit of ${showNumber(BigInt(gas))} exceeds that of a block.`;
    case "insufficientBalance":
      return `It may cost ${showCoins(cost)}, and its sender has ${showCoins(balance)}.`;
    case "earlierNonce":
      return "Earlier transactions of its sender wait as well.";
    case "fullBlock":
      return "The newest block had no room for it.";
    case "nextBlock":
      return "It waits for the next block.";
    default:
      return whyUnmined(transaction);
  }
}
