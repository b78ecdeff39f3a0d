import { readFileSync } from "node:fs";
import type { Block } from "../../../src/types/block.ts";
import { aChain } from "../../../test/builders/aChain.ts";
import { blocksOfFile } from "../../../test/conformance/chains/blockFile.ts";
import { openForeignChain } from "../../../test/conformance/chains/foreignChain.ts";
import { rulesOfGenesis } from "../../../test/conformance/chains/foreignRules.ts";
import { vectorPath, vectorsDirectory } from "../../../test/vectors.ts";

/** Takes one block into a chain whose genesis block is there; throws when it is refused. */
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
 * How fast the public chains are imported, from bytes to state roots, all rules and signatures included, on one thread
 * and in memory. There is no peer beside it: go-ethereum's evm imports no chains.
 */
export async function measureChains(): Promise<void> {
  if (vectorsDirectory === undefined) {
    console.log("the public chains are not here; IBEX_VECTORS can name their folder");
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

/** Under other consensus, by the loader of the tests around our executor and state. */
async function openForeign(genesis: string): Promise<Importer> {
  const chain = await openForeignChain(rulesOfGenesis(genesis, "genesis.json"));
  return async (block) => {
    const imported = await chain.import(block);
    if (!imported.ok) throw new Error(imported.error.message);
  };
}
