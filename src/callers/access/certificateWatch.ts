import type { Logger } from "../../observability/logger.ts";
import type { Metrics } from "../../observability/registry.ts";
import type { Clock, Timer } from "../../primitives/clock.ts";
import type { CallerAccess } from "./callerAccess.ts";
import { type ServerCertificate, serverCertificates } from "./serverCertificates.ts";

interface CertificateWatchParts {
  readonly access: CallerAccess;
  /** The wall clock. */
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics | undefined;
}

/**
 * Warns in time of certificates that expire: 30 days and 7 days before, and when they have. Each is said once, at a start or
 * when the files were read again too. Returns what ends the watch.
 */
export function watchCertificates({ access, clock, logger, metrics }: CertificateWatchParts): () => void {
  const said = new Set<string>();
  let timer: Timer | undefined;

  function check(): void {
    const nowMs = clock.nowMs();
    for (const certificate of serverCertificates(access.now)) {
      const { server, role, subject, fingerprint, validUntilMs } = certificate;
      const notice = noticeFor(certificate, nowMs);
      const key = `${server} ${fingerprint} ${notice?.stage}`;
      if (notice === undefined || said.has(key)) continue;
      said.add(key);
      const expires = new Date(validUntilMs).toISOString();
      logger.warn({ server, subject, expires }, `the certificate of ${OF_WHOM[role]} ${notice.text}`);
    }
  }

  function checkHourly(): void {
    check();
    timer = clock.at(clock.nowMs() + HOUR_MS, checkHourly);
  }

  declareExpiry(metrics, access);
  // A server without TLS gets none while it runs.
  if (serverCertificates(access.now).length === 0) return () => undefined;
  checkHourly();
  access.onReplaced(check);
  return () => timer?.cancel();
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Days before the end at which the operator is told. */
const NOTICE_DAYS = [7, 30];

const OF_WHOM = { server: "this server", authority: "an authority of clients" } as const;

interface Notice {
  readonly stage: string;
  readonly text: string;
}

function noticeFor(
  { role, validFromMs, validUntilMs }: ServerCertificate,
  nowMs: number,
): Notice | undefined {
  const consequence = role === "server" ? "clients refuse it" : "its clients are refused";
  if (nowMs < validFromMs) return { stage: "early", text: `is not valid yet: ${consequence}` };
  if (nowMs >= validUntilMs) return { stage: "expired", text: `has expired: ${consequence}` };
  const leftMs = validUntilMs - nowMs;
  const stage = NOTICE_DAYS.find((days) => leftMs <= days * DAY_MS);
  if (stage === undefined) return undefined;
  const days = Math.floor(leftMs / DAY_MS);
  const left = days === 0 ? "within a day" : `in ${days} ${days === 1 ? "day" : "days"}`;
  return { stage: `${stage} days`, text: `expires ${left}: install the next one, then SIGHUP` };
}

function declareExpiry(metrics: Metrics | undefined, access: CallerAccess): void {
  metrics?.gauges(
    {
      category: "RPC",
      prefix: "rpc_",
      name: "tls_certificate_expiry_timestamp_seconds",
      help: "When a certificate of TLS expires, Unix seconds: that of a server, or the first of the authorities of its clients",
      labels: ["server", "role"],
    },
    () =>
      serverCertificates(access.now).map(({ server, role, validUntilMs }) => [
        [server, role],
        validUntilMs / 1000,
      ]),
  );
}
