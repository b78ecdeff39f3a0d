import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readGenesis } from "../../../src/chainspec/genesis.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY } from "../../../src/config/devNetwork.ts";
import { openDataDirectory } from "../../../src/node/dataFolder/dataDirectory.ts";
import { openIdentity } from "../../../src/node/keys/identity.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { REMEDY } from "../../../src/storage/checksum.ts";
import { loggedLines } from "../../builders/loggedLines.ts";
import { temporaryFolder } from "../../storage/temporaryFolder.ts";
import { quickKeystore } from "./quickKeystore.ts";

const DEV_NETWORK = readGenesis(readFileSync(DEV_GENESIS_FILE, "utf8"), DEV_GENESIS_FILE);

/** A data folder, and a function that opens the node's key there and collects the log lines. */
function aFolder(initialKey?: Uint8Array) {
  const directory = openDataDirectory(temporaryFolder());
  if (!directory.ok || !DEV_NETWORK.ok) throw new Error("no folder, or no genesis");
  const { spec: chainSpec } = DEV_NETWORK.value;
  const path = join(directory.value.path, "key");
  const nodeKey = { path, ...(initialKey !== undefined && { initialKey }) };
  const open = async () => {
    const { logger, lines } = loggedLines();
    return { identity: await openIdentity({ nodeKey, chainSpec }, directory.value, logger), lines };
  };
  return { ...directory.value, directory: directory.value, chainSpec, path, open };
}

it("creates a key in an empty folder and logs it once", async () => {
  const { path, open } = aFolder();
  const { identity, lines } = await open();
  const address = identity.ok ? toHex(identity.value.address) : "";
  expect(lines[0]).toMatchObject({ level: "INFO", address, path });
  expect(lines[0]?.message).toContain(`created a new node key: this node is ${address}`);
  // The development network's only validator has another key.
  expect(lines[1]?.message).toContain("this node is not a validator");
  const again = await open();
  expect(again.identity).toMatchObject({
    ok: true,
    value: { address: identity.ok && identity.value.address },
  });
  expect(again.lines.map(({ message }) => message)).toEqual([lines[1]?.message]);
});

it.each(["votes.log", "chain/CURRENT"])("creates no key when one is missing beside %s", async (left) => {
  const folder = aFolder();
  const { path, open } = folder;
  await open();
  rmSync(path);
  writeFileSync(join(path, "..", left), "");
  const { identity, lines } = await open();
  expect(identity).toMatchObject({ error: { code: "missingNodeKey" } });
  const named = left === "votes.log" ? folder.voteFile : folder.chain;
  expect(identity.ok ? "" : identity.error.message).toContain(`${path} is missing, but ${named} is there`);
  expect(existsSync(path)).toBe(false);
  expect(lines).toEqual([]);
});

it("writes the well-known key for the development network, whatever the folder contains", async () => {
  const { path, voteFile, open } = aFolder(DEV_VALIDATOR_KEY);
  writeFileSync(voteFile, "");
  const { identity, lines } = await open();
  expect(identity.ok && toHex(identity.value.privateKey)).toBe(toHex(DEV_VALIDATOR_KEY));
  expect(lines).toMatchObject([{ level: "INFO", path }]);
});

it("is kept by the remedy for a damaged database, and so are the votes", async () => {
  const [, deleted, kept] =
    /then delete (.*) in the data folder.*Keep everything else as it is: (.*)$/.exec(REMEDY) ?? [];
  expect(deleted).toBe("chain/, caches/ and head.log");
  for (const name of ["key", "votes.log", "votes.log.mark"]) expect(kept).toContain(name);
});

describe("with a keystore", () => {
  /** A folder whose keystore holds the key of `0f…0f`. */
  async function aKeystoreFolder() {
    const folder = aFolder();
    const keystore = { path: join(folder.path, "../store.json"), passwordFile: join(folder.path, "../pw") };
    writeFileSync(keystore.path, await quickKeystore(new Uint8Array(32).fill(15), "secret"), {
      mode: 0o600,
    });
    writeFileSync(keystore.passwordFile, "secret\n", { mode: 0o600 });
    const open = async () => {
      const { logger, lines } = loggedLines();
      const settings = { nodeKey: { path: folder.path, keystore }, chainSpec: folder.chainSpec };
      return { identity: await openIdentity(settings, folder.directory, logger), lines };
    };
    return { ...folder, keystore, open };
  }

  it("needs no plain key and makes none, also where a chain and votes are", async () => {
    const { path, voteFile, open } = await aKeystoreFolder();
    writeFileSync(voteFile, "");
    const { identity, lines } = await open();
    expect(identity.ok && toHex(identity.value.privateKey)).toBe(`0x${"0f".repeat(32)}`);
    expect(existsSync(path)).toBe(false);
    expect(lines.map(({ level }) => level)).toEqual(["INFO", "INFO"]);
  });

  it("makes no key when the keystore is missing, even in an empty folder", async () => {
    const { path, keystore, open } = await aKeystoreFolder();
    rmSync(keystore.path);
    const { identity } = await open();
    expect(identity).toMatchObject({ error: { code: "unusableNodeKey" } });
    expect(identity.ok ? "" : identity.error.message).toContain(`${keystore.path} cannot be used: ENOENT`);
    expect(existsSync(path)).toBe(false);
  });

  it("warns of files that others may read, and of a plain key that is left", async () => {
    const { path, keyFile, keystore, open } = await aKeystoreFolder();
    for (const file of [keystore.path, keystore.passwordFile]) chmodSync(file, 0o644);
    writeFileSync(keyFile, "not even a key");
    const { identity, lines } = await open();
    expect(identity.ok).toBe(true);
    const warnings = lines.filter(({ level }) => level === "WARN");
    expect(warnings.map((line) => line["path"])).toEqual([keystore.path, keystore.passwordFile, path]);
    expect(warnings[2]?.message).toContain("is not used");
  });
});
