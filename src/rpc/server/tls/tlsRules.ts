import { constants } from "node:crypto";
import { DEFAULT_CIPHERS, type SecureContextOptions } from "node:tls";

/** How a server encrypts its connections; plain data, which threads are sent. */
export interface TlsRules {
  readonly identity: TlsIdentity;
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  /** Names of ciphers in OpenSSL's spelling, joined with colons; undefined for those of Node.js with forward secrecy. */
  readonly ciphers: string | undefined;
  /** Undefined where clients need no certificate. */
  readonly clients: ClientRules | undefined;
}

export type TlsVersion = "TLSv1.2" | "TLSv1.3";

/** The private key and the certificates. */
export type TlsIdentity =
  | { readonly kind: "pkcs12"; readonly bytes: Uint8Array; readonly password: string }
  | { readonly kind: "pem"; readonly key: string; readonly certificates: string };

export interface ClientRules {
  readonly known: readonly KnownClient[];
  /** Authorities whose clients are accepted: PEM, or all public ones; undefined for none. */
  readonly authorities: string | "public" | undefined;
}

export interface KnownClient {
  readonly commonName: string;
  /** SHA-256 of the certificate, as Node.js writes it: `AB:CD:…`. */
  readonly fingerprint: string;
}

/** The rules for Node.js, which throws what it finds wrong with them when a context is created. */
export function secureContextOptions({
  identity,
  minVersion,
  maxVersion,
  ciphers,
  clients,
}: TlsRules): SecureContextOptions {
  const { authorities } = clients ?? {};
  return {
    ...(identity.kind === "pkcs12"
      ? { pfx: Buffer.from(identity.bytes), passphrase: identity.password }
      : { key: identity.key, cert: identity.certificates }),
    minVersion,
    maxVersion,
    ciphers: ciphers ?? `${DEFAULT_CIPHERS}:!kRSA`,
    ecdhCurve: GROUPS,
    // A session that is resumed would spare a client the check of its certificate, which may have expired meanwhile.
    ...(clients !== undefined && { secureOptions: constants.SSL_OP_NO_TICKET }),
    ...(authorities !== undefined && authorities !== "public" && { ca: authorities }),
  };
}

/** Groups of the key exchange that every client has one of; others take up to a hundred times as long. */
const GROUPS = "X25519:P-256:P-384:P-521";
