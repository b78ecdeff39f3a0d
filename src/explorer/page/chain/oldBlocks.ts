import { call } from "./connection.ts";
import { type Loaded, useLoaded } from "./hooks.ts";
import type { NodeStatus } from "./nodeStatus.ts";

/** The first block that the node has whole, the genesis block aside; zero where it has all. Asked once for what is looked for. */
export function useFirstWholeBlock(wanted: string): Loaded<number> {
  return useLoaded(async () => {
    const { blockHistory } = await call<NodeStatus>("explorer_getNodeStatus");
    return Number(blockHistory.firstBlock);
  }, [wanted]);
}
