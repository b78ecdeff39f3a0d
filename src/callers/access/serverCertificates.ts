import { X509Certificate } from "node:crypto";
import { PassThrough } from "node:stream";
import { createSecureContext, TLSSocket } from "node:tls";
import type { Settings } from "../../config/settings.ts";
import { GUARDED_SERVERS, type GuardedServerName, SERVERS } from "../../rpc/server/serverTable.ts";
import { secureContextOptions, type TlsRules } from "../../rpc/server/tls/tlsRules.ts";

/** A certificate that a server shows, or one of an authority of its clients. */
export interface ServerCertificate {
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
export function serverCertificates(servers: Pick<Settings, GuardedServerName>): readonly ServerCertificate[] {
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
