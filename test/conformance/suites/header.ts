import { readFileSync } from "node:fs";
import { deriveGenesisBlock } from "../../../src/chain/genesisBlock.ts";
import { forkAt } from "../../../src/chainspec/forks.ts";
import { checkSignedForm } from "../../../src/execution/checkTransaction.ts";
import { rulesOf } from "../../../src/execution/rules.ts";
import { type Hash, keccak256 } from "../../../src/primitives/hash.ts";
import { equalBytes } from "../../../src/primitives/hex.ts";
import { type Block, decodeBlock, encodeOmmers } from "../../../src/types/block.ts";
import { encodeHeader, type Header } from "../../../src/types/header.ts";
import { withRecoveredSender } from "../../../src/types/transactionSignature.ts";
import { readVectorBytes, vectorPath } from "../../vectors.ts";
import { blocksOfFile } from "../chains/blockFile.ts";
import { checkForeignHeader } from "../chains/foreignHeader.ts";
import { type ForeignRules, rulesOfGenesis } from "../chains/foreignRules.ts";
import { checkIbftPart } from "../chains/ibftPart.ts";
import { readWithdrawals } from "../chains/withdrawals.ts";
import type { Failure, Suite } from "../suite.ts";

/** Single blocks without state: checks headers against parents, bodies against headers, and transactions. */
export const HEADER: Suite = {
  name: "header",
  total: 64,
  every: 1,
  cases() {
    const rules = mainNet();
    const blocks = MAIN_NET.flatMap((path) => [...blocksOfFile(path)].map((block) => ({ path, block })));
    const all = [deriveGenesisBlock(rules.spec), ...blocks.map(({ block }) => block)];
    return [
      ...blocks.map(({ path, block }) => ({
        id: `${path} ${block.header.number}`,
        run: async () =>
          checkAgainstParents(rules, block, all) ??
          (await checkBodyAlone(block)) ??
          checkSigned(rules, block),
      })),
      ...OTHER_NETS.map((path) => ({ id: path, run: () => firstFailure(path) })),
      ...DRAFTS.map((path) => ({ id: path, run: () => mustBeMalformed(path) })),
    ];
  },
};

const FOLDER = "besu-core/mainnet-blocks";

const MAIN_NET = [
  ...[1, 300005, 300006, 1200000, 1200001, 4400000, 4400001, 4400002].map(inFolder),
  "devp2p/blocks-50.blocks",
];

/** Blocks of test networks under Shanghai. */
const OTHER_NETS = [4156, 12691].map(inFolder);

/** Blocks of networks that ran drafts of later forks, with fields that no fork has. */
const DRAFTS = [123, 124, 62717, 62718].map(inFolder);

function inFolder(number: number): string {
  return `${FOLDER}/block_${number}.blocks`;
}

function mainNet(): ForeignRules {
  const path = "besu-core/networks/mainnet.json";
  return rulesOfGenesis(readFileSync(vectorPath(path), "utf8"), path);
}

/** Checks the header and those of its ommers, if their parents are available. */
function checkAgainstParents(
  rules: ForeignRules,
  { header, ommers }: Block,
  blocks: readonly Block[],
): Failure | undefined {
  for (const one of [header, ...ommers]) {
    const parent = blocks.find((block) => equalBytes(hashOf(block.header), one.parentHash));
    if (parent === undefined) continue;
    // Long before the end of proof of work, so the total difficulty does not matter.
    const parentBlock = { header: parent.header, hash: one.parentHash, totalDifficulty: 0n };
    const result = checkForeignHeader(rules, parentBlock, one);
    if (!result.ok) return result.error.message;
  }
  return undefined;
}

function hashOf(header: Header): Hash {
  return keccak256(encodeHeader(header));
}

async function firstFailure(path: string): Promise<Failure | undefined> {
  for (const block of blocksOfFile(path)) {
    const failure = await checkBodyAlone(block);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

async function checkBodyAlone(block: Block): Promise<Failure | undefined> {
  const body = await checkIbftPart(block);
  if (!body.ok) return body.error.message;
  const withdrawals = readWithdrawals(block);
  if (!withdrawals.ok) return withdrawals.error.message;
  const ommersHash = keccak256(encodeOmmers(block.ommers));
  return equalBytes(block.header.ommersHash, ommersHash) ? undefined : "wrong ommers hash";
}

function mustBeMalformed(path: string): Failure | undefined {
  return decodeBlock(readVectorBytes(path)).ok ? "a block of a draft was decoded" : undefined;
}

function checkSigned({ spec }: ForeignRules, { header, transactions }: Block): Failure | undefined {
  const rules = rulesOf(forkAt(spec.forks, header.number, header.timestamp));
  for (const [index, transaction] of transactions.entries()) {
    const sent = withRecoveredSender(transaction);
    if (sent === undefined) return `transaction ${index} has no sender`;
    const refused = checkSignedForm({ rules, chainId: spec.chainId, block: { blobBaseFee: 0n } }, sent);
    if (refused !== undefined) return `transaction ${index}: ${refused.error.message}`;
  }
  return undefined;
}
