import { readVectorJson } from "../../vectors.ts";
import { type BlockchainTest, runBlockchainTest } from "../chains/blockchainTest.ts";
import type { Case, Suite } from "../suite.ts";
import { vectorFiles } from "../vectorFiles.ts";

/** BlockchainTests of the Ethereum Foundation: valid, invalid and forked chains, also across changes of fork. */
export const BLOCKCHAIN: Suite = {
  name: "blockchain",
  total: 384,
  every: 10,
  cases: () => vectorFiles("blockchain-tests").flatMap(casesOf),
};

function casesOf(path: string): Case[] {
  const file = readVectorJson<Record<string, BlockchainTest>>("blockchain-tests", path);
  return Object.entries(file).map(([title, test]) => ({
    id: `${path.split("/").slice(0, -1).join("/")} ${title}`,
    run: () => runBlockchainTest(test),
  }));
}
