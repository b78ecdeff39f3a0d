import { type MessagePort, parentPort } from "node:worker_threads";
import { expectDefined } from "../primitives/assert.ts";
import { lowerThreadPriority } from "./threadPriority.ts";

/** The port of this worker thread, which gets a low priority. Each worker's file calls this first. */
export function openWorkerPort(): MessagePort {
  lowerThreadPriority();
  return expectDefined(parentPort, "the port of a worker thread");
}

/** Receives the messages to a supervised thread (supervisedThread.ts), and reports that this thread is ready. */
export function receiveMessages<Message>(port: MessagePort, receive: (message: Message) => void): void {
  port.on("message", receive);
  port.postMessage("ready");
}
