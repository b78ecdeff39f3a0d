import { expectDefined } from "../../../primitives/assert.ts";
import type { Pacer } from "../../../primitives/pacer.ts";
import { inSteps } from "../../../primitives/steps.ts";
import { type Block, readBlock } from "../../../types/block.ts";

/** The block, which may have megabytes. */
export async function decodeBadBlock(raw: Uint8Array, pacer: Pacer): Promise<Block> {
  const decoded = await inSteps(readBlock(raw), pacer);
  return expectDefined(decoded.ok ? decoded.value : undefined, "a block that was decoded before");
}
