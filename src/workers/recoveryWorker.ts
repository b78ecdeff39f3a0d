import { parentPort } from "node:worker_threads";
import { expectDefined } from "../primitives/assert.ts";
import { answerItems } from "../primitives/recoveryBatch.ts";
import { comeAfterBlocks } from "./threadPriority.ts";

comeAfterBlocks();

/** A thread of the recovery pool: batches come in, addresses go back in the same order. */
const port = expectDefined(parentPort, "the port of a worker thread");

port.on("message", (items: ArrayBuffer) => {
  const answers = answerItems(items);
  port.postMessage(answers, [answers]);
});
