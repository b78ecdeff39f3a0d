import { resolve } from "node:path";
import { createSecureContext, getCiphers } from "node:tls";
import { messageOf } from "../primitives/errorMessage.ts";
import { forServers, GUARDED_SERVERS, type GuardedServerName } from "../rpc/server/serverTable.ts";
import {
  type ClientRules,
  secureContextOptions,
  type TlsIdentity,
  type TlsRules,
  type TlsVersion,
} from "../rpc/server/tls/tlsRules.ts";
import { type Diagnostics, report } from "./diagnostics.ts";
import { readKnownClients } from "./knownClients.ts";
import type { OptionName } from "./options.ts";
import type { ResolvedOptions } from "./precedence.ts";
import { readSmallBytes, readSmallFile } from "./smallFile.ts";

/** The options of each server, and its name in Besu's messages. */
const OPTIONS = {
  http: {
    server: "rpc-http-enabled",
    tls: "rpc-http-tls-enabled",
    keystore: "rpc-http-tls-keystore-file",
    password: "rpc-http-tls-keystore-password-file",
    certificate: "rpc-http-tls-certificate-file",
    key: "rpc-http-tls-key-file",
    clientAuth: "rpc-http-tls-client-auth-enabled",
    knownClients: "rpc-http-tls-known-clients-file",
    caClients: "rpc-http-tls-ca-clients-enabled",
    clientsCa: "rpc-http-tls-clients-ca-file",
    protocols: "rpc-http-tls-protocol",
    ciphers: "rpc-http-tls-cipher-suite",
    endpoint: "JSON-RPC HTTP endpoint",
  },
  webSocket: {
    server: "rpc-ws-enabled",
    tls: "rpc-ws-tls-enabled",
    keystore: "rpc-ws-tls-keystore-file",
    password: "rpc-ws-tls-keystore-password-file",
    certificate: "rpc-ws-tls-certificate-file",
    key: "rpc-ws-tls-key-file",
    clientAuth: "rpc-ws-tls-client-auth-enabled",
    knownClients: "rpc-ws-tls-known-clients-file",
    caClients: "rpc-ws-tls-ca-clients-enabled",
    clientsCa: "rpc-ws-tls-clients-ca-file",
    protocols: "rpc-ws-tls-protocol",
    ciphers: "rpc-ws-tls-cipher-suite",
    endpoint: "JSON-RPC WebSocket endpoint",
  },
  graphQl: {
    server: "graphql-http-enabled",
    tls: "graphql-http-tls-enabled",
    keystore: "graphql-http-tls-keystore-file",
    password: "graphql-http-tls-keystore-password-file",
    certificate: "graphql-http-tls-certificate-file",
    key: "graphql-http-tls-key-file",
    clientAuth: "graphql-http-tls-client-auth-enabled",
    knownClients: "graphql-http-tls-known-clients-file",
    caClients: "graphql-http-tls-ca-clients-enabled",
    clientsCa: "graphql-http-tls-clients-ca-file",
    protocols: "graphql-http-tls-protocol",
    ciphers: "graphql-http-tls-cipher-suite",
    endpoint: "GraphQL HTTP endpoint",
  },
} as const;

type ServerOptions = (typeof OPTIONS)[keyof typeof OPTIONS];

/** How each server encrypts; undefined where it does not. */
export type Encryption = Readonly<Record<GuardedServerName, TlsRules | undefined>>;

/**
 * Reads keys, certificates and lists of clients (options.md#tls). Messages are Besu's where it has them. What cannot be used
 * is a problem, also a switch for clients on a server without TLS.
 */
export function readTls(options: ResolvedOptions, workingDirectory: string): Encryption & Diagnostics {
  const problems: string[] = [];
  const warnings: string[] = [];
  const of = (server: ServerOptions): TlsRules | undefined => {
    const reading = new TlsReading(options, server, workingDirectory);
    const rules = reading.read();
    problems.push(...reading.problems);
    warnings.push(...reading.warnings);
    return rules;
  };
  return { ...forServers(GUARDED_SERVERS, (name) => of(OPTIONS[name])), problems, warnings };
}

/** The files that a running node reads again, as given. */
export function tlsFiles({ values }: ResolvedOptions): readonly string[] {
  return Object.values(OPTIONS).flatMap(({ server, tls, ...names }) => {
    if (!values[server] || !values[tls]) return [];
    const { keystore, password, certificate, key, knownClients, clientsCa } = names;
    return [keystore, password, certificate, key, knownClients, clientsCa]
      .map((name) => values[name])
      .filter((path) => path !== undefined);
  });
}

class TlsReading {
  readonly problems: string[] = [];
  readonly warnings: string[] = [];
  private readonly options: ResolvedOptions;
  private readonly server: ServerOptions;
  private readonly workingDirectory: string;

  constructor(options: ResolvedOptions, server: ServerOptions, workingDirectory: string) {
    this.options = options;
    this.server = server;
    this.workingDirectory = workingDirectory;
  }

  read(): TlsRules | undefined {
    const { server } = this;
    const { values } = this.options;
    if (!values[server.server]) return undefined;
    if (!values[server.tls]) {
      if (values[server.clientAuth])
        this.refuse(`--${server.clientAuth} needs --${server.tls}`, server.clientAuth);
      return undefined;
    }
    const identity = this.identity();
    const clients = values[server.clientAuth] ? this.clients() : undefined;
    const ciphers = this.ciphers();
    const versions = this.versions(ciphers);
    if (identity === undefined || versions === undefined || this.problems.length > 0) return undefined;
    const rules = { identity, ...versions, ciphers, clients };
    return this.isUsable(rules) ? rules : undefined;
  }

  private identity(): TlsIdentity | undefined {
    const { server } = this;
    const { values } = this.options;
    const { [server.certificate]: certificate, [server.key]: keyFile, [server.keystore]: keystore } = values;
    if (certificate !== undefined || keyFile !== undefined) {
      if (keystore !== undefined)
        return this.refuse(
          `--${server.keystore} and --${server.certificate} exclude each other`,
          server.keystore,
          server.certificate,
        );
      if (certificate === undefined || keyFile === undefined)
        return this.refuse(
          `--${server.certificate} and --${server.key} are given together or not at all`,
          server.certificate,
          server.key,
        );
      const key = this.text(server.key, keyFile);
      const certificates = this.text(server.certificate, certificate);
      return key === undefined || certificates === undefined ? undefined : { kind: "pem", key, certificates };
    }
    if (keystore === undefined)
      return this.refuse(`Keystore file is required when TLS is enabled for ${server.endpoint}`, server.tls);
    const passwordFile = values[server.password];
    if (passwordFile === undefined)
      return this.refuse(
        `File containing password to unlock keystore is required when TLS is enabled for ${server.endpoint}`,
        server.tls,
      );
    const bytes = readSmallBytes(resolve(this.workingDirectory, keystore));
    if (!bytes.ok) return this.refuse(`${keystore} cannot be used: ${bytes.error.message}`, server.keystore);
    const password = this.text(server.password, passwordFile)?.split(/\r?\n/, 1)[0];
    return password === undefined ? undefined : { kind: "pkcs12", bytes: bytes.value, password };
  }

  private clients(): ClientRules | undefined {
    const { server } = this;
    const { values } = this.options;
    const { [server.knownClients]: knownFile, [server.caClients]: hasAuthorities } = values;
    if (knownFile === undefined && !hasAuthorities)
      return this.refuse(
        `Known-clients file must be specified or CA clients must be enabled when TLS client authentication is enabled for ${server.endpoint}`,
        server.clientAuth,
      );
    const text = knownFile === undefined ? "" : this.text(server.knownClients, knownFile);
    const known = text === undefined ? undefined : readKnownClients(text);
    if (known?.ok === false)
      return this.refuse(`${knownFile} cannot be used: ${known.error.message}`, server.knownClients);
    const caFile = values[server.clientsCa];
    if (hasAuthorities && caFile === undefined)
      this.warnings.push(
        `--${server.caClients} without --${server.clientsCa} accepts every client that a public authority has given a certificate.`,
      );
    const authorities = !hasAuthorities
      ? undefined
      : caFile === undefined
        ? "public"
        : this.text(server.clientsCa, caFile);
    return known && { known: known.value, authorities };
  }

  /** Versions that are named and have a cipher suite, as in Java. */
  private versions(ciphers: string | undefined): Pick<TlsRules, "minVersion" | "maxVersion"> | undefined {
    const { protocols } = this.server;
    const named = this.options.values[protocols];
    const suites = ciphers?.split(":");
    const offered = VERSIONS.filter(
      (version) =>
        named.includes(version) &&
        (suites?.some((suite) => suite.startsWith("TLS_") === (version === "TLSv1.3")) ?? true),
    );
    const [minVersion] = offered;
    const maxVersion = offered.at(-1);
    if (minVersion !== undefined && maxVersion !== undefined) return { minVersion, maxVersion };
    return this.refuse(
      "No valid TLS protocols specified (the following protocols are enabled: [TLSv1.3, TLSv1.2])",
      protocols,
    );
  }

  private ciphers(): string | undefined {
    const { ciphers } = this.server;
    const named = this.options.values[ciphers];
    const invalid = named.find((name) => !KNOWN_CIPHERS.has(openSslName(name).toLowerCase()));
    if (invalid !== undefined) return this.refuse(`Invalid TLS cipher suite specified ${invalid}`, ciphers);
    return named.length === 0 ? undefined : named.map(openSslName).join(":");
  }

  private isUsable(rules: TlsRules): boolean {
    try {
      createSecureContext(secureContextOptions(rules));
      return true;
    } catch (error) {
      const hint = /unsupported/i.test(messageOf(error))
        ? "; if it is encrypted by an old algorithm, write it anew with a recent openssl pkcs12 -export"
        : "";
      const { keystore, certificate } = this.server;
      this.refuse(
        `key and certificates for TLS cannot be used: ${messageOf(error)}${hint}`,
        rules.identity.kind === "pkcs12" ? keystore : certificate,
      );
      return false;
    }
  }

  private text(name: OptionName, path: string): string | undefined {
    const text = readSmallFile(resolve(this.workingDirectory, path));
    return text.ok ? text.value : this.refuse(`${path} cannot be used: ${text.error.message}`, name);
  }

  private refuse(problem: string, ...names: readonly OptionName[]): undefined {
    this.problems.push(report(this.options, problem, ...names));
  }
}

/** TLS versions of Besu's Java, the oldest first. */
const VERSIONS: readonly TlsVersion[] = ["TLSv1.2", "TLSv1.3"];

const KNOWN_CIPHERS = new Set(getCiphers());

/** OpenSSL's name of a cipher suite that is named as in Java: TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384. */
function openSslName(name: string): string {
  if (!/^TLS_.*_WITH_/.test(name)) return name;
  return name
    .replace(/^TLS_/, "")
    .replace("_WITH_", "_")
    .replace(/AES_(\d+)/, "AES$1")
    .replace("POLY1305_SHA256", "POLY1305")
    .replaceAll("_", "-")
    .replace(/^RSA-/, "")
    .replace("-CBC-", "-");
}
