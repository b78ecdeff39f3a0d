/**
 * `npm run fixtures`: packs those conformance vectors into test/fixtures that may be distributed (test/fixtures/README.md
 * says whose they are), so that a clone without the vectors' folder tests the wire formats, the recorded networks and the
 * RPC answers. Run it when the vectors change; the archives are the same for the same files.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type ArchivedFile, packArchive } from "../test/fixtures/archive.ts";
import { vectorsDirectory } from "../test/vectors.ts";

/** A file each, named after the folder or file of the vectors that it holds. */
const PACKED = [
  "basic-tests",
  "besu-acceptance",
  "besu-core",
  "besu-emptyaccount",
  "besu-ibft",
  "besu-jsonrpc",
  "blockchain-tests",
  "chains-expected.json",
  "devp2p",
  "execution-apis",
  "execution-apis-forks",
  "ibft2",
  "rlp-tests",
  "state-tests",
  "transaction-tests",
  "trie-tests",
];

/** Data that go-ethereum publishes under the LGPL: no part of what we distribute. */
const LEFT_OUT = ["devp2p/discv4-packets.json", "devp2p/forkid.json", "devp2p/rlpx-frame-fakehash.json"];

function filesBelow(folder: string, path: string): readonly ArchivedFile[] {
  if (!statSync(path).isDirectory()) {
    const name = relative(folder, path).split("\\").join("/");
    return LEFT_OUT.includes(name) ? [] : [{ path: name, bytes: readFileSync(path) }];
  }
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesBelow(folder, join(path, name)));
}

const target = join(projectFolder(), "test", "fixtures");
if (vectorsDirectory === undefined) {
  console.error("There are no vectors here; IBEX_VECTORS names their folder.");
  process.exitCode = 1;
} else {
  for (const name of PACKED) {
    const files = filesBelow(vectorsDirectory, join(vectorsDirectory, name));
    const archive = packArchive(files);
    writeFileSync(join(target, `${name}.br`), archive);
    console.log(`${name}: ${files.length} files, ${(archive.length / 1024).toFixed(0)} KiB`);
  }
}

/** The folder of package.json, above this file and above what is built of it. */
function projectFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!readdirSync(folder).includes("package.json")) folder = dirname(folder);
  return folder;
}
