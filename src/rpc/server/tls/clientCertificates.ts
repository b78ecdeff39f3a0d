import type { X509Certificate } from "node:crypto";
import type { Server } from "node:https";
import type { TLSSocket } from "node:tls";
import { CERTIFICATES_BYTES } from "./handshakeLimits.ts";
import type { ClientRules } from "./tlsRules.ts";

/** What is wrong with a client's certificate; undefined where it may connect. */
interface CertificateCheck {
  readonly refused: string | undefined;
  /** Subject and fingerprint, for the log. */
  readonly shown: Readonly<Record<string, string>>;
  /** Bytes of all certificates that it sent. */
  readonly bytes: number;
}

/** Certificates of clients with those that they sent along, each read once. */
export class ClientCertificates {
  private readonly bySocket = new WeakMap<TLSSocket, X509Certificate>();

  /**
   * Reads the certificates of a server's clients at the end of the handshake, before Node.js looks at them: with each look it
   * takes the next one away from those that were sent along, and some versions (24.21, 26.8) look themselves when the client is
   * authorized. No other event gives the socket before that one; the line, a secret of the connection, is not kept.
   */
  constructor(server: Server) {
    const seen = new WeakSet<TLSSocket>();
    server.on("keylog", (_line, socket) => {
      if (seen.has(socket)) return;
      seen.add(socket);
      socket.prependOnceListener("secure", () => this.read(socket));
    });
  }

  /** The certificate of a client whose handshake is done, with all that it sent; undefined where it sent none. */
  of(socket: TLSSocket): X509Certificate | undefined {
    return this.bySocket.get(socket);
  }

  private read(socket: TLSSocket): void {
    const certificate = socket.getPeerX509Certificate();
    if (certificate !== undefined) this.bySocket.set(socket, certificate);
  }
}

/**
 * Whether a client may connect: its certificate is known by common name and fingerprint, or an authority signed it. Node.js
 * has checked the latter; a certificate that it does not trust may still be known. The dates of a known one do not matter, as
 * in Besu.
 */
export function checkCertificate(
  socket: TLSSocket,
  certificate: X509Certificate | undefined,
  rules: ClientRules,
): CertificateCheck {
  if (certificate === undefined) return { refused: "it has none", shown: {}, bytes: 0 };
  const shown = {
    subject: certificate.subject.replaceAll("\n", ", ").slice(0, SHOWN_LENGTH),
    fingerprint: certificate.fingerprint256,
  };
  const bytes = bytesOf(certificate);
  return { refused: refusalOf(socket, certificate, bytes, rules), shown, bytes };
}

function refusalOf(
  socket: TLSSocket,
  certificate: X509Certificate,
  bytes: number,
  { known, authorities }: ClientRules,
): string | undefined {
  if (bytes > CERTIFICATES_BYTES) return `${bytes} bytes of certificates, more than ${CERTIFICATES_BYTES}`;
  if (authorities !== undefined && socket.authorized) return undefined;
  const sameKey = known.filter(({ fingerprint }) => certificate.fingerprint256 === fingerprint);
  const names = commonNamesOf(certificate);
  if (sameKey.some(({ commonName }) => names.includes(commonName))) return undefined;
  if (sameKey.length > 0) return "its common name is another one than in the known-clients file";
  if (authorities === undefined) return "it is not in the known-clients file";
  // Node.js declares an error here, and sets its code.
  const code = String(socket.authorizationError);
  return REASONS[code] ?? "it is not signed by an accepted authority";
}

/** Codes of OpenSSL; the others tell in their own way that no accepted authority signed it. */
const REASONS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "it has expired",
  CERT_NOT_YET_VALID: "it is not valid yet",
  INVALID_PURPOSE: "its extended key usage is not that of a client",
};
/** Characters of a subject in the log. */
const SHOWN_LENGTH = 200;

function bytesOf(certificate: X509Certificate): number {
  let bytes = 0;
  for (let one: X509Certificate | undefined = certificate; one !== undefined; one = one.issuerCertificate)
    bytes += one.raw.length;
  return bytes;
}

/** The text of `subject` escapes some characters, that of the legacy object none. */
function commonNamesOf(certificate: X509Certificate): readonly string[] {
  const { CN } = certificate.toLegacyObject().subject as { readonly CN?: string | readonly string[] };
  return typeof CN === "string" ? [CN] : (CN ?? []);
}
