import { readFileSync } from "node:fs";
import type { Block } from "../../../src/types/block.ts";
import { aChain } from "../../../test/builders/aChain.ts";
import { blocksOfFile } from "../../../test/conformance/chains/blockFile.ts";
import { openForeignChain } from "../../../test/conformance/chains/foreignChain.ts";
import { rulesOfGenesis } from "../../../test/conformance/chains/foreignRules.ts";
import { vectorPath, vectorsDirectory } from "../../../test/vectors.ts";

/** Imports one block into a chain with a genesis block; throws when it is refused. */
type Importer = (block: Block) => Promise<void>;

const CHAINS: readonly { readonly folder: string; readonly open: (genesis: string) => Promise<Importer> }[] =
  [
    { folder: "besu-ibft/net1", open: openOwn },
    { folder: "besu-ibft/net2", open: openOwn },
    { folder: "besu-ibft/net4", open: openOwn },
    { folder: "geth-hivechain", open: openForeign },
    { folder: "execution-apis", open: openForeign },
  ];

/**
 * Import speed of the public chains, from bytes to state roots, including all rules and signatures, on one thread and in
 * memory. There is no comparison, because go-ethereum's evm does not import chains.
 */
export async function measureChains(): Promise<void> {
  if (vectorsDirectory === undefined) {
    console.log("the public chains are missing; IBEX_VECTORS can name their folder");
    return;
  }
  for (const { folder, open } of CHAINS) {
    const blocks = [...blocksOfFile(`${folder}/chain.rlp`)].filter(({ header }) => header.number > 0n);
    const importOne = await open(readFileSync(vectorPath(folder, "genesis.json"), "utf8"));
    const begin = performance.now();
    for (const block of blocks) await importOne(block);
    const seconds = (performance.now() - begin) / 1000;
    const gas = blocks.reduce((sum, { header }) => sum + Number(header.gasUsed), 0);
    const transactions = blocks.reduce((sum, block) => sum + block.transactions.length, 0);
    const rates = [
      `${(gas / 1e6 / seconds).toFixed(1)} Mgas/s`,
      `${Math.round(blocks.length / seconds)} blocks/s`,
      `${Math.round(transactions / seconds)} transactions/s`,
    ];
    console.log(`${folder.padEnd(34)} ibex ${rates.join("  ")}`);
  }
}

/** Under IBFT 2.0, by the node's own importer. */
async function openOwn(genesis: string): Promise<Importer> {
  const { chain } = await aChain({ genesis });
  return async (block) => {
    const imported = await chain.importBlock(block);
    if (!imported.ok) throw new Error(imported.error.message);
  };
}

/** Under other consensus, by the tests' loader around our executor and state. */
async function openForeign(genesis: string): Promise<Importer> {
  const chain = await openForeignChain(rulesOfGenesis(genesis, "genesis.json"));
  return async (block) => {
    const imported = await chain.import(block);
    if (!imported.ok) throw new Error(imported.error.message);
  };
}
