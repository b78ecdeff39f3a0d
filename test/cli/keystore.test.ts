import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { quickKeystore } from "../node/keys/quickKeystore.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";
import { itIfThorough } from "../thorough.ts";
import { ibexHere } from "./program.ts";

const KEY = `0x${"0f".repeat(32)}`;

/** A folder with a plain key in data/key and a password file, and a function that runs ibex there. */
function aFolder() {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "data"));
  writeFileSync(join(folder, "data/key"), KEY, { mode: 0o600 });
  writeFileSync(join(folder, "pw"), "secret\nsecond line\n", { mode: 0o600 });
  const run = (...words: string[]) => ibexHere(words, { workingDirectory: folder });
  return { folder, run };
}

const ENCRYPT = ["--data-path=data", "keystore", "encrypt", "--to=store.json", "--password-file=pw"] as const;
/** As ENCRYPT, quicker. */
async function writeKeystore(folder: string): Promise<void> {
  writeFileSync(join(folder, "store.json"), await quickKeystore(new Uint8Array(32).fill(15), "secret"));
}

const WITH_KEYSTORE = ["--node-keystore-file=store.json", "--node-keystore-password-file=pw"] as const;

describe("ibex keystore", () => {
  // Daily, test/node/keys/keystore.test.ts stands for what it derives.
  itIfThorough("encrypts the node's key, and decrypts it to the same bytes", async () => {
    const { folder, run } = aFolder();
    const address = (await run("--data-path=data", "public-key", "export-address")).output.trim();
    const encrypted = await run(...ENCRYPT);
    expect(encrypted).toMatchObject({ exitCode: 0, errors: "" });
    expect(encrypted.output).toContain(`Wrote the key of ${address} to ${join(folder, "store.json")}`);
    expect(statSync(join(folder, "store.json")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, "store.json"), "utf8")).not.toContain("0f".repeat(16));

    const shown = await run(...WITH_KEYSTORE, "--data-path=other", "public-key", "export-address");
    expect(shown).toEqual({ exitCode: 0, output: `${address}\n`, errors: "" });
    expect(existsSync(join(folder, "other"))).toBe(false);

    await writeKeystore(folder);
    const decrypted = await run(...WITH_KEYSTORE, "keystore", "decrypt", "--to=plain");
    expect(decrypted.output).toContain(`Wrote the plain key of ${address}`);
    expect(readFileSync(join(folder, "plain"), "utf8")).toBe(KEY);
    expect(statSync(join(folder, "plain")).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).sort()).toEqual(["data", "plain", "pw", "store.json"]);
  });

  it("writes over no file", async () => {
    const { folder, run } = aFolder();
    writeFileSync(join(folder, "store.json"), "mine");
    const { exitCode, errors } = await run(...ENCRYPT);
    expect({ exitCode, errors }).toMatchObject({ exitCode: 2 });
    expect(errors).toContain("store.json already exists; a key never overwrites a file");
    expect(readFileSync(join(folder, "store.json"), "utf8")).toBe("mine");
  });

  it("makes no key when there is none", async () => {
    const { folder, run } = aFolder();
    const [, ...rest] = ENCRYPT;
    const { exitCode, errors } = await run("--data-path=none", ...rest);
    expect(exitCode).toBe(2);
    expect(errors).toContain(`There is no key file ${join(folder, "none/key")} to encrypt.`);
    expect(readdirSync(folder).sort()).toEqual(["data", "pw"]);
  });

  it.each<[string, (folder: string) => void, string]>([
    [
      "another password",
      (folder) => writeFileSync(join(folder, "pw"), "Secret"),
      "is not the one of this file",
    ],
    [
      "an empty password file",
      (folder) => writeFileSync(join(folder, "pw"), "\n"),
      "its first line is empty",
    ],
    [
      "something else than a keystore",
      (folder) => writeFileSync(join(folder, "store.json"), KEY),
      "store.json cannot be used: it is not JSON",
    ],
  ])("says what is wrong with %s", async (_, change, message) => {
    const { folder, run } = aFolder();
    await writeKeystore(folder);
    change(folder);
    const { exitCode, errors } = await run(...WITH_KEYSTORE, "keystore", "decrypt", "--to=plain");
    expect(exitCode).toBe(2);
    expect(errors).toContain(message);
    expect(existsSync(join(folder, "plain"))).toBe(false);
  });

  it("takes no password without its keystore, and no second key", async () => {
    const { run } = aFolder();
    const alone = await run("--node-keystore-file=store.json", "public-key", "export");
    expect(alone.errors).toContain("are given together or not at all");
    const both = await run(...WITH_KEYSTORE, "--node-private-key-file=data/key", "public-key", "export");
    expect(both.errors).toContain("a node has one key");
  });

  it("is checked by validate-config without the second of decrypting", async () => {
    const { folder, run } = aFolder();
    await writeKeystore(folder);
    const genesis = join(import.meta.dirname, "../../genesis/dev.json");
    writeFileSync(
      join(folder, "c.toml"),
      `genesis-file="${genesis}"\nnode-keystore-file="store.json"\nnode-keystore-password-file="pw"\n`,
    );
    chmodSync(join(folder, "pw"), 0o600);
    expect((await run("validate-config", "--config-file=c.toml")).exitCode).toBe(0);
    writeFileSync(join(folder, "store.json"), "{}");
    const { exitCode, errors, output } = await run("validate-config", "--config-file=c.toml");
    expect(exitCode).not.toBe(0);
    expect(errors + output).toContain("its version is missing");
  });
});
