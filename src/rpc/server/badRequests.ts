import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "../../observability/logger.ts";
import { endConnection } from "./connectionLimits.ts";
import { PIPELINE_LIMIT } from "./limits.ts";
import { logRefusal } from "./refusalLog.ts";

/**
 * Returns what ends a connection that pipelines too far, and tells that it did. A response without a socket waits behind
 * another one of its connection, and its answer would be held in memory.
 */
export function createPipelineLimit(
  logger: Logger,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const pipelined = new WeakMap<Socket, number>();
  return ({ socket }, response) => {
    if (response.socket !== null) return false;
    const waiting = (pipelined.get(socket) ?? 0) + 1;
    pipelined.set(socket, waiting);
    response.once("close", () => pipelined.set(socket, (pipelined.get(socket) ?? 1) - 1));
    if (waiting <= PIPELINE_LIMIT) return false;
    logRefusal(logger, "too many pipelined requests", socket.remoteAddress);
    socket.destroy();
    return true;
  };
}

/** Answers input that is not HTTP, or whose headers are too slow or too large, with a bare status and closes. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket, logger: Logger): void {
  // Browsers open connections in advance, and would take the status for the answer to their next request.
  const isSilent = error.code === "ECONNRESET" || socket.bytesRead === 0;
  if (!isSilent) logRefusal(logger, `not HTTP: ${error.code ?? "unknown"}`, socket.remoteAddress);
  endConnection(socket, isSilent ? undefined : (BROKEN_STATUS.get(error.code ?? "") ?? "400 Bad Request"));
}

const BROKEN_STATUS: ReadonlyMap<string, string> = new Map([
  ["HPE_HEADER_OVERFLOW", "431 Request Header Fields Too Large"],
  ["ERR_HTTP_REQUEST_TIMEOUT", "408 Request Timeout"],
]);
