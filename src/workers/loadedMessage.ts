import type { MessagePort } from "node:worker_threads";

const LOADED = "code loaded";

/**
 * Tells the thread that started this one that it has loaded its code. Each worker's file whose first message comes much later
 * calls this first; for the others the first message says it.
 */
export function reportLoaded(port: MessagePort): void {
  port.postMessage(LOADED);
}

export function isLoadedMessage(message: unknown): boolean {
  return message === LOADED;
}
