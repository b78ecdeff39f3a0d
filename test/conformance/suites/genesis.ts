import { readFileSync } from "node:fs";
import { deriveGenesisBlock } from "../../../src/chain/genesisBlock.ts";
import { parseGenesis } from "../../../src/chainspec/genesis.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { readVectorJson, vectorPath } from "../../vectors.ts";
import type { Failure, Suite } from "../suite.ts";

/** What a genesis file must come to; some lists leave out the hash or the root. */
interface Expectation {
  readonly file: string;
  readonly stateRoot?: string;
  readonly genesisHash?: string;
}

/**
 * Block zero of all networks and chains, by the way a node takes: state root by our own trie, hash by our own header.
 * test/chainspec/genesisVectors.test.ts derives the same roots by the library's trie.
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
  // Templates of Besu's own tests, into which these put the extra data.
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
