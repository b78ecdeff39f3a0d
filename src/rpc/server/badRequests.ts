import type { Socket } from "node:net";
import type { Logger } from "../../observability/logger.ts";
import { endConnection } from "./connectionLimits.ts";
import { logRefusal } from "./refusalLog.ts";

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
