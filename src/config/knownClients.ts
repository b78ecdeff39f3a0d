import { err, ok, type Result } from "../primitives/result.ts";
import type { KnownClient } from "../rpc/server/tls/tlsRules.ts";

/**
 * Clients that are known by their certificate: lines of common name and SHA-256 fingerprint, in hexadecimal digits with or
 * without colons, as in Besu. Empty lines, and those that begin with #, do not count.
 */
export function readKnownClients(text: string): Result<readonly KnownClient[], "badLine"> {
  const clients: KnownClient[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.trimStart().startsWith("#")) continue;
    const [, commonName, digits] = LINE.exec(line) ?? [];
    const bytes = digits?.replaceAll(":", "").toUpperCase().match(/../g) ?? [];
    if (commonName === undefined || bytes.length !== FINGERPRINT_BYTES)
      return err({
        code: "badLine",
        fault: "caller",
        message: `line ${index + 1} is not a common name and a SHA-256 fingerprint`,
      });
    clients.push({ commonName, fingerprint: bytes.join(":") });
  }
  return ok(clients);
}

const LINE = /^\s*(\S.*?)\s+([0-9A-Fa-f:]+)\s*$/;
const FINGERPRINT_BYTES = 32;
