import { type MessagePort, parentPort } from "node:worker_threads";
import { expectDefined } from "../primitives/assert.ts";
import { lowerThreadPriority, OF_LONG_WORK } from "./threadPriority.ts";

/** The port of this worker thread, which gets a low priority (threadPriority.ts). Each worker's file calls this first. */
export function openWorkerPort(addedNiceness = OF_LONG_WORK): MessagePort {
  lowerThreadPriority(addedNiceness);
  return expectDefined(parentPort, "the port of a worker thread");
}

/**
 * Receives the messages to a supervised thread (supervisedThread.ts), and reports that this thread is ready, once its modules are
 * evaluated (loadedMessage.ts).
 */
export function receiveMessages<Message>(port: MessagePort, receive: (message: Message) => void): void {
  setImmediate(() => {
    port.on("message", receive);
    port.postMessage("ready");
  });
}
