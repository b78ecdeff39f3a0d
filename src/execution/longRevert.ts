import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Eventual } from "../primitives/eventual.ts";
import type { Overlay } from "../state/overlay.ts";

/** Changes that are undone at once, of each journal: some milliseconds. */
export const REVERTED_AT_ONCE = 20_000;

/** Reverts to an overlay's last checkpoint: at once, or in parts between turns of the event loop if there is much to undo. */
export function revertInTurns(overlay: Pick<Overlay, "revert" | "revertPart">): Eventual<void> {
  return overlay.revertPart(REVERTED_AT_ONCE) ? revertRest(overlay) : overlay.revert();
}

async function revertRest(overlay: Pick<Overlay, "revert" | "revertPart">): Promise<void> {
  do await yieldToEventLoop();
  while (overlay.revertPart(REVERTED_AT_ONCE));
  overlay.revert();
}
