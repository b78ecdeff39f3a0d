import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "../../observability/logger.ts";
import type { Clock } from "../../primitives/clock.ts";
import type { HostCheck } from "./hostAllowlist.ts";
import { respondRefusal } from "./httpResponse.ts";
import { logRefusal } from "./refusalLog.ts";
import { WarnedNames } from "./warnedNames.ts";

/** Characters of a Host header that are shown: more than any host name has. */
const SHOWN_LENGTH = 255;

/** Besu's body for a Host that is not on the allow-list. */
const REFUSED = { message: "Host not authorized." };

/**
 * Tells the operator of refused hosts: of each name once in an hour as a warning, of each request at DEBUG. A proxy or a probe
 * whose name is missing in the list would otherwise be refused without a word.
 */
export function createHostRefusalLog(logger: Logger, clock?: Clock): (request: IncomingMessage) => void {
  const warned = new WarnedNames(clock);
  return ({ headers, socket: { remoteAddress: client } }) => {
    logRefusal(logger, "host not allowed", client);
    const host = shownHost(headers.host);
    if (warned.isNew(host))
      logger.warn({ host, client }, "requests to a host that is not in --host-allowlist are refused");
  };
}

/** Besu's answer to a request for JSON-RPC, and to all that is not well-formed. */
export function respondHostRefused(response: ServerResponse, check: HostCheck): void {
  if (check === "malformed") respondRefusal(response, 400, "");
  else respondRefusal(response, 403, JSON.stringify(REFUSED), JSON_TYPE);
}

/** Refuses a request for health or metrics and gives the reason, because a probe's answer is all that its operator sees. */
export function respondProbeRefused(
  response: ServerResponse,
  check: HostCheck,
  host: string | undefined,
): void {
  const reason = `The Host of the request, '${shownHost(host)}', is not in --host-allowlist.`;
  if (check === "malformed") respondHostRefused(response, check);
  else respondRefusal(response, 403, JSON.stringify({ ...REFUSED, reason }), JSON_TYPE);
}

const JSON_TYPE = "application/json; charset=utf-8";

function shownHost(host = ""): string {
  return host.slice(0, SHOWN_LENGTH);
}
