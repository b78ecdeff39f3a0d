import type { PostedToThread } from "../../rpc/threads/messages.ts";
import { OF_CALLERS } from "../../workers/threadPriority.ts";
import { openWorkerPort, receiveMessages } from "../../workers/workerPort.ts";
import type { CallerThread } from "./callerThread.ts";
import type { ThreadMessage } from "./threadData.ts";

/*
 * A thread that answers callers of JSON-RPC (callerThread.ts). It loads its code while the node opens, at the priority that
 * it will have, and is then told what to open.
 */
const port = openWorkerPort(OF_CALLERS);
const { openCallerThread } = await import("./callerThread.ts");

let thread: CallerThread | undefined;
/** What came while it opened. */
const early: PostedToThread[] = [];

receiveMessages<ThreadMessage>(port, (message) => {
  if ("kind" in message)
    void openCallerThread(message, port).then((opened) => {
      thread = opened;
      for (const one of early.splice(0)) opened.receive(one);
    });
  else if (thread === undefined) early.push(message);
  else thread.receive(message);
});
