import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { aCertificateFor } from "../builders/tlsFiles.ts";
import { DEV_GENESIS, settingsIn } from "./settingsIn.ts";

const { folder, settings, problems } = settingsIn("ibex-ethstats-");

const read = (...args: readonly string[]) => settings({ args: [DEV_GENESIS, ...args] });

describe("--ethstats", () => {
  it("is off unless given", () => {
    expect(read().ethstats).toBeUndefined();
  });

  it.each([
    ["node:s3cret@stats.example.org", { host: "stats.example.org", port: undefined, isSecure: undefined }],
    ["node:s3cret@stats.example.org:3000", { port: 3000, isSecure: undefined }],
    ["ws://node:s3cret@127.0.0.1:3000", { host: "127.0.0.1", port: 3000, isSecure: false }],
    ["wss://node:s3cret@stats.example.org", { port: undefined, isSecure: true }],
    ["WSS://my node:p%40ss:word@[::1]:443", { nodeName: "my node", secret: "p@ss:word", host: "[::1]" }],
  ])("reads %s", (text, parts) => {
    expect(read(`--ethstats=${text}`).ethstats).toMatchObject({
      contact: "",
      authorities: undefined,
      ...parts,
    });
    expect(read(`--ethstats=${text}`).warnings).toEqual([]);
  });

  it("takes a contact, and the certificates of the server's authority", () => {
    const { certificateFile, certificate } = aCertificateFor("ethstats");
    const { ethstats, warnings } = read(
      "--ethstats=node:s3cret@h",
      "--ethstats-contact=me@example.org",
      `--ethstats-cacert-file=${certificateFile}`,
    );
    expect(ethstats).toMatchObject({ nodeName: "node", secret: "s3cret", contact: "me@example.org" });
    expect(ethstats?.authorities).toBe(certificate.trim());
    expect(warnings).toEqual([]);
  });

  it.each([
    "node@host",
    "node:s3cret@host:99999",
    "node:s3cret@1.2.3.999",
    "node:s3cret@[:::]:3000",
    "node:s3cret",
    "http://node:s3cret@host",
    "node:s3cret@host@other",
    "node:s3cret@ho st",
    "node:%zz-s3cret@host",
    ":s3cret@host",
  ])("prevents the start as %s, without repeating what may be a secret", (text) => {
    const found = problems({ args: [DEV_GENESIS, `--ethstats=${text}`] });
    expect(found).toEqual([expect.stringContaining("Invalid ethstats URL syntax. Ethstats URL should have")]);
    expect(found.join()).not.toContain("s3cret");
  });

  it("keeps the secret out of problems of a configuration file that has it", () => {
    const toml = 'ethstats="node:s3cret@host@"\nrpc-http-port="many"\n';
    const found = problems({ args: [DEV_GENESIS], toml });
    expect(found).toHaveLength(2);
    expect(found.join()).not.toContain("s3cret");
    const unquoted = problems({ args: [DEV_GENESIS], toml: "ethstats=node:s3cret@host\n" });
    expect(unquoted).toEqual([expect.stringMatching(/Texts need quotes: ethstats="..."$/)]);
  });

  it.each([
    ["absent.pem", "does not exist"],
    ["empty.pem", "holds no certificate (PEM)"],
    ["odd.pem", "holds a certificate that cannot be read"],
  ])("prevents the start with the certificate file %s", (name, reason) => {
    if (name === "empty.pem") writeFileSync(join(folder, name), "nothing");
    if (name === "odd.pem")
      writeFileSync(join(folder, name), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    const args = [DEV_GENESIS, "--ethstats=node:s3cret@h", `--ethstats-cacert-file=${name}`];
    expect(problems({ args })).toEqual([expect.stringContaining(reason)]);
  });
});
