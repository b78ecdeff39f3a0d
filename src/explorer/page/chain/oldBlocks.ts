import { call } from "./connection.ts";
import { type Loaded, useLoaded } from "./hooks.ts";
import type { NodeStatus } from "./nodeStatus.ts";

/** The first block that the node has whole, apart from genesis; zero when it has all. Requested once for each `wanted`. */
export function useFirstWholeBlock(wanted: string): Loaded<number> {
  return useLoaded(async () => {
    const { blockHistory } = await call<NodeStatus>("explorer_getNodeStatus");
    return Number(blockHistory.firstBlock);
  }, [wanted]);
}
