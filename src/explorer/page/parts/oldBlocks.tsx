import { useFirstWholeBlock } from "../chain/oldBlocks.ts";
import { showNumber } from "../format.ts";

/** Says that a missing object may be in a block that this node does not have; nothing when it has all blocks. */
export function OldBlocksNote({ wanted, what }: { readonly wanted: string; readonly what: string }) {
  const { value: first = 0 } = useFirstWholeBlock(wanted);
  if (first <= 1) return null;
  return (
    <p>
      This node has whole blocks from {showNumber(first)} on: {what} may still be on the chain, and another
      node that keeps all blocks has it.
    </p>
  );
}
