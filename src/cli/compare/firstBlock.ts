import { quantity } from "./blockContents.ts";
import type { Endpoint, RpcAnswer } from "./endpoint.ts";

/**
 * The first block that a node has after genesis; 1 when it has all up to `head`. A node that was made from a snapshot, or
 * that removes old blocks (--block-history), returns null for earlier ones. The block is found by bisection, in some twenty
 * requests.
 */
export async function firstBlockOf(node: Endpoint, head: bigint): Promise<bigint> {
  if (head < 1n || (await hasBlock(node, 1n))) return 1n;
  let missing = 1n;
  let there = head;
  while (there - missing > 1n) {
    const middle = (missing + there) / 2n;
    if (await hasBlock(node, middle)) there = middle;
    else missing = middle;
  }
  return there;
}

/** Whether a block is answered, or an error, which is reported elsewhere. */
async function hasBlock(node: Endpoint, number: bigint): Promise<boolean> {
  const [answer] = await node.ask([{ method: "eth_getBlockByNumber", params: [quantity(number), false] }]);
  return answer === undefined || !isNull(answer);
}

export function isNull(answer: RpcAnswer): boolean {
  return answer.kind === "answer" && answer.error === undefined && answer.result === null;
}
