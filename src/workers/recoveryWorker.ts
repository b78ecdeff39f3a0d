import { parentPort } from "node:worker_threads";
import { expectDefined } from "../primitives/assert.ts";
import { answerItems } from "../primitives/recoveryBatch.ts";
import { lowerThreadPriority } from "./threadPriority.ts";

lowerThreadPriority();

/** Worker of the recovery pool: receives batches and answers with the addresses, in the same order. */
const port = expectDefined(parentPort, "the port of a worker thread");

port.on("message", (items: ArrayBuffer) => {
  const answers = answerItems(items);
  port.postMessage(answers, [answers]);
});
