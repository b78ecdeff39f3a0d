import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readGenesis } from "../../src/chainspec/genesis.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { openDataDirectory } from "../../src/node/dataDirectory.ts";
import { openIdentity } from "../../src/node/identity.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { REMEDY } from "../../src/storage/checksum.ts";
import { loggedLines } from "../builders/loggedLines.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";

const DEV_NETWORK = readGenesis(readFileSync(DEV_GENESIS_FILE, "utf8"), DEV_GENESIS_FILE);

/** A data folder, and a function that opens the node's key there and collects the log lines. */
function aFolder(initialKey?: Uint8Array) {
  const directory = openDataDirectory(temporaryFolder());
  if (!directory.ok || !DEV_NETWORK.ok) throw new Error("no folder, or no genesis");
  const { spec: chainSpec } = DEV_NETWORK.value;
  const path = join(directory.value.path, "key");
  const nodeKey = { path, ...(initialKey !== undefined && { initialKey }) };
  const open = () => {
    const { logger, lines } = loggedLines();
    return { identity: openIdentity({ nodeKey, chainSpec }, directory.value, logger), lines };
  };
  return { ...directory.value, path, open };
}

it("creates a key in an empty folder and logs it once", () => {
  const { path, open } = aFolder();
  const { identity, lines } = open();
  const address = identity.ok ? toHex(identity.value.address) : "";
  expect(lines[0]).toMatchObject({ level: "INFO", address, path });
  expect(lines[0]?.message).toContain(`created a new node key: this node is ${address}`);
  // The development network's only validator has another key.
  expect(lines[1]?.message).toContain("this node is not a validator");
  const again = open();
  expect(again.identity).toMatchObject({
    ok: true,
    value: { address: identity.ok && identity.value.address },
  });
  expect(again.lines.map(({ message }) => message)).toEqual([lines[1]?.message]);
});

it.each(["votes.log", "chain/CURRENT"])("creates no key when one is missing beside %s", (left) => {
  const folder = aFolder();
  const { path, open } = folder;
  open();
  rmSync(path);
  writeFileSync(join(path, "..", left), "");
  const { identity, lines } = open();
  expect(identity).toMatchObject({ error: { code: "missingNodeKey" } });
  const named = left === "votes.log" ? folder.voteFile : folder.chain;
  expect(identity.ok ? "" : identity.error.message).toContain(`${path} is missing, but ${named} is there`);
  expect(existsSync(path)).toBe(false);
  expect(lines).toEqual([]);
});

it("writes the well-known key for the development network, whatever the folder contains", () => {
  const { path, voteFile, open } = aFolder(DEV_VALIDATOR_KEY);
  writeFileSync(voteFile, "");
  const { identity, lines } = open();
  expect(identity.ok && toHex(identity.value.privateKey)).toBe(toHex(DEV_VALIDATOR_KEY));
  expect(lines).toMatchObject([{ level: "INFO", path }]);
});

it("is kept by the remedy for a damaged database, and so are the votes", () => {
  const [, deleted, kept] =
    /then delete (.*) in the data folder.*Keep everything else as it is: (.*)$/.exec(REMEDY) ?? [];
  expect(deleted).toBe("chain/, caches/ and head.log");
  for (const name of ["key", "votes.log", "votes.log.mark"]) expect(kept).toContain(name);
});
