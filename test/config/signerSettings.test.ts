import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { validateConfig } from "../../src/cli/validateConfig.ts";
import { DEV_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import { findOption } from "../../src/config/options.ts";
import { readSettings } from "../../src/config/readSettings.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { curve } from "../../src/primitives/secp256k1.ts";
import { account } from "../builders/testAccounts.ts";

const KEY = toHex(curve.publicKey(account(0).privateKey));
const folder = mkdtempSync(join(tmpdir(), "ibex-test-"));

function read(options: Readonly<Record<string, string>>) {
  const raw = Object.entries(options).map(([spelling, text]) => {
    const name = findOption(spelling);
    if (name === undefined) throw new Error(`no option ${spelling}`);
    return { name, text, source: { kind: "commandLine" } as const };
  });
  return readSettings({ raw, environment: {}, workingDirectory: folder, isTerminal: false });
}

function refusal(options: Readonly<Record<string, string>>): string {
  const outcome = read(options);
  return outcome.ok ? "" : outcome.error.message;
}

const URL_OPTION = "validator-signer-url";
const KEY_OPTION = "validator-signer-public-key";
const CA_OPTION = "validator-signer-ca-file";

describe("the options of the remote signer", () => {
  it("make a signer, with paths in the working directory", () => {
    const without = read({});
    expect(without.ok && "signer" in without.value).toBe(false);
    const outcome = read({
      [URL_OPTION]: "https://signer:9000/base",
      [KEY_OPTION]: KEY,
      [CA_OPTION]: "ca.pem",
    });
    if (!outcome.ok) throw new Error(outcome.error.message);
    const { signer } = outcome.value;
    expect(signer).toMatchObject({ caFile: join(folder, "ca.pem") });
    expect(signer?.url.href).toBe("https://signer:9000/base");
    expect(toHex(signer?.publicKey ?? new Uint8Array())).toBe(KEY);
  });

  it.each([
    [{ [URL_OPTION]: "http://signer:9000" }, "are given together or not at all"],
    [{ [KEY_OPTION]: KEY }, "are given together or not at all"],
    [{ [URL_OPTION]: "http://me:secret@signer", [KEY_OPTION]: KEY }, "without user, query and fragment"],
    [{ [URL_OPTION]: "http://signer?key=1", [KEY_OPTION]: KEY }, "without user, query and fragment"],
    [{ [URL_OPTION]: "ftp://signer", [KEY_OPTION]: KEY }, "is not a URL of http or https"],
    [{ [URL_OPTION]: "signer", [KEY_OPTION]: KEY }, "is not a URL of http or https"],
    [
      { [URL_OPTION]: "http://signer", [KEY_OPTION]: `0x${"11".repeat(64)}` },
      "is not a public key of 64 bytes",
    ],
    [{ [URL_OPTION]: "http://signer", [KEY_OPTION]: KEY.slice(0, 66) }, "is not a public key of 64 bytes"],
    [
      { [URL_OPTION]: "http://signer", [KEY_OPTION]: KEY, [CA_OPTION]: "ca.pem" },
      "is of use with a --validator-signer-url of https only",
    ],
  ])("are refused as %j", (options, words) => {
    expect(refusal(options)).toContain(words);
    expect(refusal(options)).not.toContain("secret");
  });

  it("are checked by validate-config with the file of the certificates, without asking the signer", () => {
    const file = join(folder, "node.toml");
    const ca = join(folder, "ca.pem");
    writeFileSync(
      file,
      `genesis-file="${DEV_GENESIS_FILE}"\n${URL_OPTION}="https://signer"\n${KEY_OPTION}="${KEY}"\n${CA_OPTION}="${ca}"\n`,
    );
    const raw = [{ name: "config-file", text: file, source: { kind: "commandLine" } }] as const;
    expect(validateConfig(raw, folder)).toMatchObject({
      isValid: false,
      problems: [expect.stringContaining(ca)],
    });
  });
});
