import type { SendHandle } from "node:child_process";

/**
 * A process of a moment: sends the listening socket that it is sent back as often as it is asked, each time as a new
 * descriptor (sharedListener.ts).
 */
process.on("message", (count: number, handle: SendHandle) => {
  for (let sent = 0; sent < count; sent++) process.send?.(sent, handle, { keepOpen: true });
});
