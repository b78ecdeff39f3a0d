import { X509Certificate } from "node:crypto";

/**
 * The certificates (PEM) in a text. All are read, because TLS silently does without those that it cannot read. Throws when one of
 * them cannot be read.
 */
export function certificatesIn(text: string): string[] {
  const found = text.match(CERTIFICATE) ?? [];
  for (const certificate of found) new X509Certificate(certificate);
  return found;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
