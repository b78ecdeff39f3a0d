import type { Logger } from "../../observability/logger.ts";

/** Logs, at DEBUG, a request that is refused before a method is called, or a connection that is. */
export function logRefusal(logger: Logger, reason: string, client: string | undefined): void {
  logger.often("debug", "request or connection refused", () => ({ reason, client }));
}
