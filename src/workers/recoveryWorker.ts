import { answerItems } from "../primitives/recoveryBatch.ts";
import { openWorkerPort, receiveMessages } from "./workerPort.ts";

/** Worker of the recovery pool: receives batches and answers with the addresses, in the same order. */
const port = openWorkerPort();

receiveMessages(port, (items: ArrayBuffer) => {
  const answers = answerItems(items);
  port.postMessage(answers, [answers]);
});
