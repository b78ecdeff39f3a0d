import type { Chain } from "../../src/chain/createChain.ts";
import type { HistoryStart } from "../../src/storage/historyStart.ts";

/** Has the states, and with them whole blocks, begin `kept` blocks before the head. */
export async function keepNewest(
  chain: Pick<Chain, "keepBlocks" | "keepStates">,
  kept: bigint,
): Promise<HistoryStart> {
  await chain.keepStates(kept);
  return chain.keepBlocks(kept);
}
