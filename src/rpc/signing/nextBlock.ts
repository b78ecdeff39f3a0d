import type { BlockOverride } from "../../execution/simulation/callRequest.ts";
import type { ContextOf } from "../method.ts";

/** What code would see of the block after the head of a development chain, whose time callers may have set. */
export async function nextBlock(
  context: ContextOf<"chain" | "newestHead" | "development">,
): Promise<Pick<BlockOverride, "number" | "timestamp">> {
  const { chain, newestHead, development } = context.backend;
  const timestamp = await development.nextTimestamp(context);
  await newestHead();
  return { number: chain.head.header.number + 1n, timestamp };
}
