import { fail, ok, type Result } from "../primitives/result.ts";
import type { KnownClient } from "../rpc/server/tls/tlsRules.ts";

/**
 * Clients that are known by their certificate: lines of common name and SHA-256 fingerprint, in hexadecimal digits with or
 * without colons, as in Besu. Empty lines, and those that begin with #, do not count.
 */
export function readKnownClients(text: string): Result<readonly KnownClient[], "badLine"> {
  const clients: KnownClient[] = [];
  for (const [index, line] of text
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .entries()) {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const client = readLine(trimmed);
    if (client === undefined)
      return fail("caller", "badLine", `line ${index + 1} is not a common name and a SHA-256 fingerprint`);
    clients.push(client);
  }
  return ok(clients);
}

/** The fingerprint is the last word, and the name all before. */
function readLine(line: string): KnownClient | undefined {
  const digits = line.split(/\s+/).at(-1) ?? "";
  const commonName = line.slice(0, line.length - digits.length).trimEnd();
  if (commonName === "" || !HEXADECIMAL.test(digits)) return undefined;
  const bytes = digits.replaceAll(":", "").toUpperCase().match(/../g) ?? [];
  return bytes.length === FINGERPRINT_BYTES ? { commonName, fingerprint: bytes.join(":") } : undefined;
}

const HEXADECIMAL = /^[0-9A-Fa-f:]+$/;
const FINGERPRINT_BYTES = 32;
