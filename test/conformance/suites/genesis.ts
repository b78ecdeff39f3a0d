import { readFileSync } from "node:fs";
import { deriveGenesisBlock } from "../../../src/chain/genesisBlock.ts";
import { parseGenesis } from "../../../src/chainspec/genesis.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { readVectorJson, vectorPath } from "../../vectors.ts";
import type { Failure, Suite } from "../suite.ts";

/** Expected state root and hash of a genesis file; some lists lack one of them. */
interface Expectation {
  readonly file: string;
  readonly stateRoot?: string;
  readonly genesisHash?: string;
}

/**
 * Genesis blocks of all networks and chains, derived as in a node: the state root by our trie, the hash by our header.
 * test/chainspec/genesisVectors.test.ts derives the same roots with the library's trie.
 */
export const GENESIS: Suite = {
  name: "genesis",
  total: 35,
  every: 3,
  cases: () => expectations().map((expected) => ({ id: expected.file, run: () => check(expected) })),
};

function expectations(): readonly Expectation[] {
  const besu = readVectorJson<{ genesis: readonly Expectation[] }>("besu-core", "genesis-expected.json");
  const ibft = readVectorJson<{ genesis: readonly Expectation[] }>("ibft2", "genesis-expected.json");
  const { chains } = readVectorJson<{
    chains: readonly { readonly genesis: string | null; readonly genesisHash: string | null }[];
  }>("chains-expected.json");
  const byFile = new Map<string, Expectation>();
  for (const { genesis: file, genesisHash } of chains)
    if (file !== null && genesisHash !== null) byFile.set(file, { file, genesisHash });
  for (const expected of besu.genesis) byFile.set(expected.file, expected);
  for (const { file, ...expected } of ibft.genesis)
    byFile.set(`ibft2/${file}`, { file: `ibft2/${file}`, ...expected });
  return [...byFile.values()];
}

function check({ file, stateRoot, genesisHash }: Expectation): Failure | undefined {
  // Besu's tests fill the extra data into these templates.
  const text = readFileSync(vectorPath(file), "utf8").replace("%extraData%", "0x");
  const parsed = parseGenesis(text, file, { consensus: "any" });
  if (!parsed.ok) return `refused: ${parsed.error.message}`;
  const { header, hash } = deriveGenesisBlock(parsed.value);
  if (stateRoot !== undefined && toHex(header.stateRoot) !== stateRoot)
    return `state root ${toHex(header.stateRoot)}, expected ${stateRoot}`;
  return genesisHash === undefined || toHex(hash) === genesisHash
    ? undefined
    : `hash ${toHex(hash)}, expected ${genesisHash}`;
}
