import { X509Certificate } from "node:crypto";
import { PassThrough } from "node:stream";
import { createSecureContext, TLSSocket } from "node:tls";
import type { Settings } from "../../config/settings.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Metrics } from "../../observability/registry.ts";
import type { Clock, Timer } from "../../primitives/clock.ts";
import { GUARDED_SERVERS, type GuardedServerName, SERVERS } from "../../rpc/server/serverTable.ts";
import { secureContextOptions, type TlsRules } from "../../rpc/server/tls/tlsRules.ts";
import type { CallerAccess } from "./callerAccess.ts";

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

/** A certificate that a server shows, or one of an authority of its clients. */
interface ServerCertificate {
  readonly server: (typeof SERVERS)[GuardedServerName]["option"];
  readonly role: "server" | "authority";
  readonly subject: string;
  /** SHA-256. */
  readonly fingerprint: string;
  /** Times of the epoch. */
  readonly validFromMs: number;
  readonly validUntilMs: number;
}

/** Certificates of all servers with TLS; of authorities only the one that expires first. */
function serverCertificates(servers: Pick<Settings, GuardedServerName>): readonly ServerCertificate[] {
  return GUARDED_SERVERS.flatMap((name) => certificatesOf(SERVERS[name].option, servers[name]?.tls));
}

/** Remembers certificates by their rules, which are replaced when the files change: the metrics ask again and again. */
const known = new WeakMap<TlsRules, readonly ServerCertificate[]>();

function certificatesOf(
  server: ServerCertificate["server"],
  rules: TlsRules | undefined,
): readonly ServerCertificate[] {
  if (rules === undefined) return [];
  let found = known.get(rules);
  if (found === undefined) {
    const own = certificateOf(rules);
    const [authority] = authoritiesOf(rules).sort((a, b) => endOf(a) - endOf(b));
    found = [
      ...(own === undefined ? [] : [describe(own, server, "server")]),
      ...(authority === undefined ? [] : [describe(authority, server, "authority")]),
    ];
    known.set(rules, found);
  }
  return found;
}

/** The server's certificate. Only a socket tells which one of a PKCS#12 file it is, so one without a connection is made. */
function certificateOf(rules: TlsRules): X509Certificate | undefined {
  const secureContext = createSecureContext(secureContextOptions(rules));
  const socket = new TLSSocket(new PassThrough(), { isServer: true, secureContext });
  const certificate = socket.getX509Certificate();
  socket.destroy();
  return certificate;
}

function authoritiesOf({ clients }: TlsRules): X509Certificate[] {
  const { authorities } = clients ?? {};
  if (authorities === undefined || authorities === "public") return [];
  return (authorities.match(PEM) ?? []).map((text) => new X509Certificate(text));
}

const PEM = /-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END (TRUSTED |X509 )?CERTIFICATE-----/g;

function describe(
  certificate: X509Certificate,
  server: ServerCertificate["server"],
  role: ServerCertificate["role"],
): ServerCertificate {
  return {
    server,
    role,
    subject: certificate.subject.replaceAll("\n", ", "),
    fingerprint: certificate.fingerprint256,
    validFromMs: Date.parse(certificate.validFrom),
    validUntilMs: endOf(certificate),
  };
}

function endOf({ validTo }: X509Certificate): number {
  return Date.parse(validTo);
}
