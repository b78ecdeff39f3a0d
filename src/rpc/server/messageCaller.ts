import type { Clock } from "../../primitives/clock.ts";
import type { Grant } from "../access/grant.ts";
import type { Caller } from "../caller.ts";
import type { Connection } from "../method.ts";
import type { MessageOutput } from "./messageOutput.ts";

interface MessageCallerParts {
  readonly remoteHost: string;
  readonly isForeignPage: boolean;
  readonly clock: Pick<Clock, "nowMs">;
  readonly timeoutMs: number;
}

/** The sender of a message, while it may be answered. */
export class MessageCaller implements Caller {
  readonly connection: Connection;
  readonly remoteHost: string;
  readonly isForeignPage: boolean;
  readonly grant: Grant | undefined;
  private readonly output: MessageOutput;
  private readonly clock: Pick<Clock, "nowMs">;
  private readonly deadlineMs: number;

  constructor(
    connection: Connection,
    output: MessageOutput,
    { remoteHost, isForeignPage, clock, timeoutMs }: MessageCallerParts,
    grant: Grant | undefined,
  ) {
    this.connection = connection;
    this.remoteHost = remoteHost;
    this.isForeignPage = isForeignPage;
    this.grant = grant;
    this.output = output;
    this.clock = clock;
    this.deadlineMs = clock.nowMs() + timeoutMs;
  }

  get client(): object {
    return this.connection;
  }

  isAbandoned(): boolean {
    return !this.output.isOpen || this.clock.nowMs() > this.deadlineMs;
  }
}
