import type { LogLine } from "../../../observability/remoteLogger.ts";
import type { Credit } from "../../../workers/channel/credit.ts";
import type { ThreadChannel } from "../messages.ts";

/** Sends this thread's log lines to the main thread at once. What is beyond the limit is lost, which a line tells later. */
export class LogForwarder {
  private readonly channel: Pick<ThreadChannel, "offer">;
  private readonly credit: Credit;
  private lost = 0;

  constructor(channel: Pick<ThreadChannel, "offer" | "creditOf">) {
    this.channel = channel;
    this.credit = channel.creditOf("logLine");
  }

  /** Throws when a field cannot be cloned. */
  forward(line: LogLine): void {
    // After a loss, lines are lost until half of those that wait are written: they are told of once, not one by one.
    if (this.lost > 0 && this.credit.isHalfFree && this.offer({ ...LOST, fields: { lines: this.lost } }))
      this.lost = 0;
    if (this.lost > 0 || !this.offer(line)) this.lost++;
  }

  private offer(line: LogLine): boolean {
    return this.channel.offer("logLine", line, 1, sizeOf(line));
  }
}

const LOST = {
  module: "node",
  level: "warn",
  message: "log lines of an RPC worker thread are lost: the thread that writes the log is held up",
} as const;

/** About the bytes of a line; of its fields, texts and errors alone can be long. */
function sizeOf({ message, fields }: LogLine): number {
  let size = LINE_BYTES + message.length;
  for (const field of Object.values(fields)) {
    if (typeof field === "string") size += field.length;
    else if (field instanceof Error) size += field.message.length + (field.stack?.length ?? 0);
  }
  return size;
}

/** Counted for each line. */
const LINE_BYTES = 256;
