import type { Logger } from "../../../observability/logger.ts";
import type { RpcMetrics } from "../../rpcMetrics.ts";
import { logRefusal } from "../refusalLog.ts";
import { createWarnedNames } from "../warnedNames.ts";

/** Counts connections that do not become secure ones, and tells the operator: each at DEBUG, each reason once in an hour as a warning. */
export interface TlsRefusals {
  handshake(reason: string, client: string | undefined): void;
  /** A handshake that the client gave up, as its own operator knows. */
  abandoned(client: string | undefined): void;
  /** `shown` tells which certificate it is. */
  certificate(reason: string, shown: Readonly<Record<string, string>>, client: string | undefined): void;
}

export function createTlsRefusals({
  logger,
  metrics,
}: {
  readonly logger: Logger;
  readonly metrics?: RpcMetrics | undefined;
}): TlsRefusals {
  const warnedHandshakes = createWarnedNames();
  const warnedCertificates = createWarnedNames();
  return {
    handshake(reason, client) {
      metrics?.rejected("handshake");
      logRefusal(logger, reason, client);
      if (warnedHandshakes.isNew(reason))
        logger.warn({ reason, client }, "TLS: a connection is refused, and others for this reason");
    },
    abandoned(client) {
      metrics?.rejected("handshake");
      logRefusal(logger, "the client gave the handshake up", client);
    },
    certificate(reason, shown, client) {
      metrics?.rejected("certificate");
      logRefusal(logger, `certificate of the client: ${reason}`, client);
      if (warnedCertificates.isNew(`${reason} ${shown.fingerprint ?? ""}`))
        logger.warn({ reason, ...shown, client }, "TLS: a client is refused for its certificate");
    },
  };
}

/** What an error of a handshake means, in the operator's words. */
export function wordsFor(error: Error & { readonly reason?: string; readonly code?: string }): string {
  const reason = error.reason ?? error.code ?? error.message;
  for (const [pattern, words] of WORDS) if (pattern.test(reason)) return words;
  return reason.slice(0, SHOWN_LENGTH);
}

/** Reasons of OpenSSL 3. */
const WORDS: readonly (readonly [pattern: RegExp, words: string])[] = [
  [
    /^(unsupported protocol|version too low|wrong ssl version)$/,
    "the client offers no version of TLS that is accepted here",
  ],
  [/^no shared cipher$/, "the client offers no cipher suite that is accepted here"],
  [
    /^no (shared group|suitable (key share|groups|signature algorithm))$/,
    "the client offers no key exchange or signature that is accepted here",
  ],
  [
    /alert (unknown ca|bad certificate|certificate (unknown|expired|revoked))/,
    "the client does not accept the certificate of this server",
  ],
  [/^excessive message size$/, "the client sends too many certificates"],
];
const SHOWN_LENGTH = 100;
