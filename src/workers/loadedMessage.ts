import type { MessagePort } from "node:worker_threads";

const LOADED = "code loaded";

/**
 * Tells the thread that started this one that it has loaded its code, once the running module is evaluated or waits: terminating
 * a thread amid the evaluation of a module that has an asynchronous one below it aborts the process (Node.js 24 and 26). Each worker's
 * file whose first message comes much later calls this first; for the others the first message says it, which must not be posted
 * while modules are evaluated either. Nor may the module itself wait for its work: the thread may be terminated when that ends, while
 * the evaluation does.
 */
export function reportLoaded(port: MessagePort): void {
  setImmediate(() => port.postMessage(LOADED));
}

export function isLoadedMessage(message: unknown): boolean {
  return message === LOADED;
}
