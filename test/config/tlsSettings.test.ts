import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { aCertificateFor, aKeystore, type TlsFiles } from "../builders/tlsFiles.ts";
import { DEV_GENESIS, settingsIn } from "./settingsIn.ts";

const { settings, problems, write } = settingsIn("ibex-tls-");
const HTTP = [DEV_GENESIS, "--rpc-http-enabled", "--rpc-http-tls-enabled"];

let server: TlsFiles;
let keystore: string;

beforeAll(() => {
  server = aCertificateFor("localhost");
  keystore = aKeystore(server, "secret");
});

/** The options of a PKCS#12 file, unless `more` has others in their place. */
const withKeystore = (...more: readonly string[]): readonly string[] => {
  const own = [
    `--rpc-http-tls-keystore-file=${keystore}`,
    `--rpc-http-tls-keystore-password-file=${write("password", "secret\nnot this\n")}`,
  ];
  const nameOf = (option: string): string | undefined => option.split("=")[0];
  return [...HTTP, ...own.filter((one) => !more.some((other) => nameOf(other) === nameOf(one))), ...more];
};

const withClients = (...more: readonly string[]): readonly string[] =>
  withKeystore("--rpc-http-tls-client-auth-enabled", ...more);

describe("TLS of a server", () => {
  it("takes key and certificates from a PKCS#12 file", () => {
    expect(settings({ args: withKeystore() }).http?.tls).toEqual({
      identity: { kind: "pkcs12", bytes: readFileSync(keystore), password: "secret" },
      minVersion: "TLSv1.2",
      maxVersion: "TLSv1.3",
      ciphers: undefined,
      clients: undefined,
    });
  });

  it("takes them from PEM files, also for WebSocket", () => {
    const { webSocket, http } = settings({
      args: [
        ...[DEV_GENESIS, "--rpc-ws-enabled", "--rpc-ws-tls-enabled", "--rpc-ws-tls-protocols=TLSv1.3"],
        ...[
          `--rpc-ws-tls-certificate-file=${server.certificateFile}`,
          `--rpc-ws-tls-key-file=${server.keyFile}`,
        ],
      ],
    });
    expect(http).toBeUndefined();
    expect(webSocket?.tls).toMatchObject({
      identity: { kind: "pem", key: server.key, certificates: server.certificate },
      minVersion: "TLSv1.3",
    });
  });

  it("is that of GraphQL by options of its own", () => {
    const pems = [
      `--graphql-http-tls-certificate-file=${server.certificateFile}`,
      `--graphql-http-tls-key-file=${server.keyFile}`,
    ];
    const args = [DEV_GENESIS, "--rpc-http-enabled", "--graphql-http-enabled", "--graphql-http-tls-enabled"];
    const { graphQl, http } = settings({ args: [...args, ...pems] });
    expect(graphQl?.tls).toMatchObject({ identity: { kind: "pem" }, clients: undefined });
    expect(http?.tls).toBeUndefined();
  });

  it("knows cipher suites by Java's names and by OpenSSL's", () => {
    const suites = [
      "TLS_AES_256_GCM_SHA384",
      "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
      "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
      "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
      "TLS_RSA_WITH_AES_128_GCM_SHA256",
      "ECDHE-RSA-AES128-GCM-SHA256",
    ];
    const args = withKeystore(`--rpc-http-tls-cipher-suites=${suites.join(",")}`);
    expect(settings({ args }).http?.tls?.ciphers).toBe(
      "TLS_AES_256_GCM_SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-AES128-SHA256:AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256",
    );
  });

  it("offers the versions that have a cipher suite", () => {
    const tls = (suite: string) =>
      settings({ args: withKeystore(`--rpc-http-tls-cipher-suite=${suite}`) }).http?.tls;
    expect(tls("ECDHE-RSA-AES128-GCM-SHA256")?.maxVersion).toBe("TLSv1.2");
    expect(tls("TLS_AES_128_GCM_SHA256")?.minVersion).toBe("TLSv1.3");
  });

  it("knows clients by a file in Besu's format", () => {
    const digits = server.fingerprint.replaceAll(":", "").toLowerCase();
    const file = write("clients", `# known\n\nclient one ${server.fingerprint}\ntwo   ${digits}\n`);
    const args = withClients(`--rpc-http-tls-known-clients-file=${file}`);
    expect(settings({ args }).http?.tls?.clients).toEqual({
      known: ["client one", "two"].map((commonName) => ({ commonName, fingerprint: server.fingerprint })),
      authorities: undefined,
    });
  });

  it("knows clients by odd files, and refuses others at once", () => {
    const { fingerprint } = server;
    const read = (text: string) => withClients(`--rpc-http-tls-known-clients-file=${write("odd", text)}`);
    const odd = `\ufeff# known\r\n  Two  Words\t${fingerprint}  \r\nTwo  Words ${fingerprint}\n`;
    expect(settings({ args: read(odd) }).http?.tls?.clients?.known).toEqual([
      { commonName: "Two  Words", fingerprint },
      { commonName: "Two  Words", fingerprint },
    ]);
    for (const line of ["", "#"])
      expect(settings({ args: read(line) }).http?.tls?.clients?.known).toEqual([]);
    const bad = [
      fingerprint,
      ` ${fingerprint}`,
      `x ${fingerprint}:00`,
      `x ${fingerprint}, y`,
      "\0",
      `x${" ".repeat(500_000)}y`,
      `${"x ".repeat(400_000)}y`,
    ];
    for (const line of bad)
      expect(problems({ args: read(line) })).toEqual([
        expect.stringContaining("line 1 is not a common name and a SHA-256 fingerprint"),
      ]);
  });

  it("accepts clients of authorities, and warns when these are all public ones", () => {
    const own = settings({
      args: withClients(
        "--rpc-http-tls-ca-clients-enabled",
        `--rpc-http-tls-clients-ca-file=${server.certificateFile}`,
      ),
    });
    expect(own.http?.tls?.clients).toEqual({ known: [], authorities: server.certificate });
    expect(own.warnings).toEqual([]);
    const open = settings({ args: withClients("--rpc-http-tls-ca-clients-enabled") });
    expect(open.http?.tls?.clients).toEqual({ known: [], authorities: "public" });
    expect(open.warnings).toEqual([
      "--rpc-http-tls-ca-clients-enabled without --rpc-http-tls-clients-ca-file accepts every client that a public authority has given a certificate.",
    ]);
  });
});

describe("what stops the start", () => {
  const cases: readonly (readonly [what: string, args: () => readonly string[], reason: RegExp])[] = [
    [
      "no key at all",
      () => HTTP,
      /^Keystore file is required when TLS is enabled for JSON-RPC HTTP endpoint/,
    ],
    [
      "no password",
      () => [...HTTP, `--rpc-http-tls-keystore-file=${keystore}`],
      /^File containing password to unlock keystore is required when TLS is enabled for JSON-RPC HTTP endpoint/,
    ],
    [
      "a wrong password",
      () => withKeystore(`--rpc-http-tls-keystore-password-file=${write("wrong", "wrong")}`),
      /^key and certificates for TLS cannot be used: mac verify failure/,
    ],
    [
      "an absent file",
      () => withKeystore("--rpc-http-tls-keystore-file=absent"),
      /^absent cannot be used: does not exist/,
    ],
    [
      "no PKCS#12",
      () => withKeystore(`--rpc-http-tls-keystore-file=${write("text", "text")}`),
      /^key and certificates for TLS cannot be used/,
    ],
    [
      "a certificate without key",
      () => [...HTTP, `--rpc-http-tls-certificate-file=${server.certificateFile}`],
      /^--rpc-http-tls-certificate-file and --rpc-http-tls-key-file are given together/,
    ],
    [
      "the key of another certificate",
      () => [
        ...HTTP,
        `--rpc-http-tls-certificate-file=${server.certificateFile}`,
        `--rpc-http-tls-key-file=${aCertificateFor("x").keyFile}`,
      ],
      /key values mismatch/,
    ],
    [
      "both kinds of files",
      () => withKeystore(`--rpc-http-tls-certificate-file=${server.certificateFile}`),
      /exclude each other/,
    ],
    [
      "clients of whom nobody says who they are",
      () => withClients(),
      /^Known-clients file must be specified or CA clients must be enabled when TLS client authentication is enabled for JSON-RPC HTTP endpoint/,
    ],
    [
      "a client without fingerprint",
      () => withClients(`--rpc-http-tls-known-clients-file=${write("bad", "client AB:CD\n")}`),
      /^bad cannot be used: line 1 is not a common name and a SHA-256 fingerprint/,
    ],
    [
      "old versions alone",
      () => withKeystore("--rpc-http-tls-protocol=TLSv1.1"),
      /^No valid TLS protocols specified/,
    ],
    [
      "an unknown cipher suite",
      () => withKeystore("--rpc-http-tls-cipher-suite=TLS_NULL_WITH_NULL_NULL"),
      /^Invalid TLS cipher suite specified TLS_NULL_WITH_NULL_NULL/,
    ],
    [
      "certificates of clients without TLS",
      () => [DEV_GENESIS, "--rpc-http-enabled", "--rpc-http-tls-client-auth-enabled"],
      /^--rpc-http-tls-client-auth-enabled needs --rpc-http-tls-enabled/,
    ],
  ];

  it.each(cases)("%s", (_what, args, reason) => {
    expect(problems({ args: args() })).toEqual([expect.stringMatching(reason)]);
  });
});
