import { execFileSync } from "node:child_process";
import { mkdtempSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { aCertificateFor, aKeystore } from "../builders/tlsFiles.ts";
import { DEV_GENESIS, settingsIn } from "./settingsIn.ts";

const { problems, write } = settingsIn("ibex-named-");
const server = aCertificateFor("localhost");
const folder = mkdtempSync(join(tmpdir(), "ibex-named-"));
const huge = join(folder, "huge");
writeFileSync(huge, "");
truncateSync(huge, 2 ** 31);

const TLS = [DEV_GENESIS, "--rpc-http-enabled", "--rpc-http-tls-enabled"];
const PEM = [
  `--rpc-http-tls-certificate-file=${server.certificateFile}`,
  `--rpc-http-tls-key-file=${server.keyFile}`,
];
const CLIENTS = [...TLS, ...PEM, "--rpc-http-tls-client-auth-enabled"];
const PASSWORD = `--rpc-http-tls-keystore-password-file=${write("password", "secret\n")}`;
const KEYSTORE = `--rpc-http-tls-keystore-file=${aKeystore(server, "secret")}`;
const AUTHENTICATION = [DEV_GENESIS, "--rpc-http-enabled", "--rpc-http-authentication-enabled"];

/** Each option that names a file, with what it needs beside. */
const OPTIONS: readonly (readonly [option: string, others: readonly string[]])[] = [
  ["config-file", [DEV_GENESIS]],
  ["genesis-file", []],
  ["static-nodes-file", [DEV_GENESIS, "--p2p-enabled"]],
  ["rpc-http-authentication-credentials-file", AUTHENTICATION],
  ["rpc-http-authentication-jwt-public-key-file", AUTHENTICATION],
  ["rpc-http-tls-keystore-file", [...TLS, PASSWORD]],
  ["rpc-http-tls-keystore-password-file", [...TLS, KEYSTORE]],
  ["rpc-http-tls-certificate-file", [...TLS, PEM[1] ?? ""]],
  ["rpc-http-tls-key-file", [...TLS, PEM[0] ?? ""]],
  ["rpc-http-tls-known-clients-file", CLIENTS],
  ["rpc-http-tls-clients-ca-file", [...CLIENTS, "--rpc-http-tls-ca-clients-enabled"]],
];

describe.each(OPTIONS)("--%s", (option, others) => {
  it.each([
    ["/dev/zero", "it is not a regular file"],
    [folder, "it is a folder"],
    [huge, "it is larger than"],
  ])("stops the start when it names %s", (path, reason) => {
    expect(problems({ args: [...others, `--${option}=${path}`] })).toEqual([expect.stringContaining(reason)]);
  });
});

it("a password comes out of a pipe as well", () => {
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  execFileSync("sh", ["-c", `(echo wrong > ${pipe}) > /dev/null 2>&1 &`]);
  expect(problems({ args: [...TLS, KEYSTORE, `--rpc-http-tls-keystore-password-file=${pipe}`] })).toEqual([
    expect.stringContaining("mac verify failure"),
  ]);
});
