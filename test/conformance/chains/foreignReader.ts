import { readdirSync, readFileSync } from "node:fs";
import type { ChainReader } from "../../../src/chain/chainReader.ts";
import type { ChainSpec } from "../../../src/chainspec/chainSpec.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { StateHistory } from "../../../src/state/stateHistory.ts";
import { BLOCK_STORE_LIMITS, BlockStore } from "../../../src/storage/blocks/blockStore.ts";
import { WHOLE_HISTORY } from "../../../src/storage/historyStart.ts";
import { vectorPath } from "../../vectors.ts";
import { blocksOfFile } from "./blockFile.ts";
import { openForeignChain } from "./foreignChain.ts";
import { rulesOfGenesis } from "./foreignRules.ts";

/** A chain of Besu's fixtures for the JSON-RPC methods, with its rules and the proof-of-work reward. */
export interface ForeignReader {
  readonly chain: ChainReader;
  readonly spec: ChainSpec;
}

/** Imports a folder of besu-jsonrpc/chains that has one genesis and one file of blocks. */
export async function readForeignChain(name: string): Promise<ForeignReader> {
  const folder = `besu-jsonrpc/chains/${name}`;
  const fileNamed = (ending: RegExp): string =>
    expectDefined(
      readdirSync(vectorPath(folder)).find((file) => ending.test(file)),
      `a file in ${folder}`,
    );
  const genesisFile = fileNamed(/genesis\.json$/i);
  const rules = rulesOfGenesis(readFileSync(vectorPath(folder, genesisFile), "utf8"), genesisFile);
  const foreign = await openForeignChain(rules);
  for (const block of blocksOfFile(`${folder}/${fileNamed(/\.(bin|blocks)$/)}`)) {
    const imported = await foreign.import(block);
    if (!imported.ok && block.header.number > 0n) throw new Error(imported.error.message);
  }
  const blocks = new BlockStore(BLOCK_STORE_LIMITS, { database: foreign.database });
  const history = new StateHistory(foreign.database);
  const head = (): ChainReader["head"] => expectDefined(blocks.head(), "the head");
  const chain: ChainReader = {
    genesis: foreign.genesis,
    get head() {
      return head();
    },
    historyStart: WHOLE_HISTORY,
    headerByNumber: (number) => blocks.header(number),
    headerByHash: (hash) => blocks.headerByHash(hash),
    blockByNumber: (number) => blocks.block(number),
    blockByHash: (hash) => blocks.blockByHash(hash),
    transactionByHash: (hash) => blocks.transactionByHash(hash),
    validatorsFor: () => undefined,
    stateAt: (number) => history.at(number),
    onHeadChanged: () => () => undefined,
  };
  const { spec } = rules;
  const parameters = { blockPeriodSeconds: 1, blockRewardWei: 2n * 10n ** 18n };
  return { chain, spec: { ...spec, ibft: { ...spec.ibft, eras: [{ fromBlock: 0n, parameters }] } } };
}
