import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "../../observability/logger.ts";
import { PIPELINE_LIMIT } from "./limits.ts";
import { logRefusal } from "./refusalLog.ts";

/**
 * Requests that clients send without waiting for the answers before. A response without a socket waits behind another one of its
 * connection, and its answer would be held in memory: so none is begun before the answer to the one before has been read.
 */
export class Pipelines {
  private readonly logger: Logger;
  private readonly waiting = new WeakMap<Socket, number>();
  /** The newest response of each connection. */
  private readonly newest = new WeakMap<Socket, ServerResponse>();
  /** The response before each that waits. */
  private readonly before = new WeakMap<ServerResponse, ServerResponse>();

  constructor(logger: Logger) {
    this.logger = logger;
  }

  /** Counts a request. Ends a connection that has too many, and returns false. */
  admits({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const before = this.newest.get(socket);
    this.newest.set(socket, response);
    if (response.socket !== null) return true;
    if (before !== undefined) this.before.set(response, before);
    const waiting = (this.waiting.get(socket) ?? 0) + 1;
    this.waiting.set(socket, waiting);
    response.once("close", () => this.waiting.set(socket, (this.waiting.get(socket) ?? 1) - 1));
    if (waiting <= PIPELINE_LIMIT) return true;
    logRefusal(this.logger, "too many pipelined requests", socket.remoteAddress);
    socket.destroy();
    return false;
  }

  /** Begins answering: at once, or in a later cycle of the event loop, when the answer before has been read. Never when the connection ends. */
  whenFirst(response: ServerResponse, begin: () => void): void {
    const before = this.before.get(response);
    if (response.socket !== null || before === undefined) begin();
    else before.once("close", () => setImmediate(() => this.whenFirst(response, begin)));
  }
}
