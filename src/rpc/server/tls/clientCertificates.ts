import type { TLSSocket } from "node:tls";
import type { ClientRules } from "./tlsRules.ts";

/**
 * Whether a client may connect: its certificate is known by common name and fingerprint, or an authority signed it. Node.js
 * has checked the latter; a certificate that it does not trust may still be known.
 */
export function isAccepted(socket: TLSSocket, { known, authorities }: ClientRules): boolean {
  if (authorities !== undefined && socket.authorized) return true;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return false;
  const names = commonNamesOf(certificate.subject);
  return known.some(
    ({ commonName, fingerprint }) => certificate.fingerprint256 === fingerprint && names.includes(commonName),
  );
}

/** Node.js writes a subject in lines such as `CN=client`. */
function commonNamesOf(subject = ""): readonly string[] {
  return subject.split("\n").flatMap((line) => (line.startsWith("CN=") ? [line.slice(3)] : []));
}
