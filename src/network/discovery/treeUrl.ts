import { fail, ok, type Result } from "../../primitives/result.ts";

/** Names a list of nodes in DNS (EIP-1459): enrtree://<public key in base32>@<domain>. */
export interface TreeUrl {
  /** Public key of the list's owner: 33 bytes, compressed. */
  readonly publicKey: Uint8Array;
  /** Domain of the list in lower case. */
  readonly domain: string;
}

export function parseTreeUrl(url: string): Result<TreeUrl, "malformedTreeUrl"> {
  const [, key = "", domain = ""] = /^enrtree:\/\/([A-Z2-7]+)@([^@/?#\s]+)$/.exec(url) ?? [];
  const publicKey = bytesFromBase32(key);
  if (publicKey?.length !== 33 || (publicKey[0] !== 2 && publicKey[0] !== 3))
    return fail("caller", "malformedTreeUrl", "expected enrtree://<public key in base32>@<domain>");
  if (domain.length > MAX_DOMAIN_CHARACTERS || !DOMAIN.test(domain))
    return fail("caller", "malformedTreeUrl", `${domain.slice(0, MAX_DOMAIN_CHARACTERS)} is not a domain`);
  return ok({ publicKey, domain: domain.toLowerCase() });
}

/** Longest domain: a name has 253 characters (RFC 1035), and an entry's hash takes up to 52 and a dot. */
const MAX_DOMAIN_CHARACTERS = 200;
const DOMAIN =
  /^([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.)*[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

/** Decodes base32 of RFC 4648, capitals without padding; undefined for anything else. */
export function bytesFromBase32(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(Math.floor((text.length * 5) / 8));
  let bits = 0;
  let count = 0;
  let at = 0;
  for (const character of text) {
    const value = BASE32.indexOf(character);
    if (value < 0) return undefined;
    bits = ((bits << 5) | value) & 0xfff;
    count += 5;
    if (count < 8) continue;
    count -= 8;
    bytes[at++] = (bits >> count) & 0xff;
  }
  // The leftover bits are fewer than a character's, and zero.
  return count < 5 && (bits & ((1 << count) - 1)) === 0 ? bytes : undefined;
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
