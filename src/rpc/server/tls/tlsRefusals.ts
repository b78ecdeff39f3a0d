import type { Logger } from "../../../observability/logger.ts";
import type { RpcMetrics } from "../../rpcMetrics.ts";
import { logRefusal } from "../refusalLog.ts";
import { WarnedNames } from "../warnedNames.ts";

/** Counts connections that do not become secure ones, and tells the operator: each at DEBUG, each reason once in an hour as a warning. */
export class TlsRefusals {
  private readonly logger: Logger;
  private readonly metrics: RpcMetrics | undefined;
  private readonly warnedHandshakes = new WarnedNames();
  private readonly warnedCertificates = new WarnedNames();

  constructor({ logger, metrics }: { readonly logger: Logger; readonly metrics?: RpcMetrics | undefined }) {
    this.logger = logger;
    this.metrics = metrics;
  }

  handshake(reason: string, client: string | undefined): void {
    this.metrics?.rejected("handshake");
    logRefusal(this.logger, reason, client);
    if (this.warnedHandshakes.isNew(reason))
      this.logger.warn(
        { reason, client },
        "TLS: a connection is refused; others refused for this reason are not logged for an hour",
      );
  }

  /** A handshake that the client gave up, as its own operator knows. */
  abandoned(client: string | undefined): void {
    this.metrics?.rejected("handshake");
    logRefusal(this.logger, "the client gave the handshake up", client);
  }

  /** `shown` tells which certificate it is. */
  certificate(reason: string, shown: Readonly<Record<string, string>>, client: string | undefined): void {
    this.metrics?.rejected("certificate");
    logRefusal(this.logger, `certificate of the client: ${reason}`, client);
    if (this.warnedCertificates.isNew(`${reason} ${shown.fingerprint ?? ""}`))
      this.logger.warn({ reason, ...shown, client }, "TLS: a client is refused for its certificate");
  }
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
