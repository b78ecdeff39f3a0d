import { existsSync, readFileSync } from "node:fs";
import { toHex } from "../../../src/primitives/hex.ts";
import { encodeReceipt } from "../../../src/types/receipt.ts";
import { aChain, type TestChain } from "../../builders/aChain.ts";
import { readVectorJson, vectorPath } from "../../vectors.ts";
import { blocksOfFile } from "../chains/blockFile.ts";
import { damageIn } from "../chains/storeDamage.ts";
import type { Failure, Suite } from "../suite.ts";

/** IBFT 2.0 chains, imported by the node's own importer with all rules, seals included. */
export const IBFT: Suite = {
  name: "ibft",
  total: 8,
  every: 4,
  cases: () => [
    ...RECORDED.map((folder) => ({ id: folder, run: () => checkRecorded(folder) })),
    { id: SYNTHETIC, run: checkSynthetic },
  ],
};

/** Networks of live Besu nodes. */
const RECORDED = [
  "besu-ibft/net2",
  "besu-ibft/net1",
  "besu-ibft/net4",
  "besu-ibft/net3",
  "besu-ibft/prague-25.4.1/staged",
  "besu-ibft/prague-25.4.1/past",
  "besu-ibft/prague-25.4.1/zero",
];

const SYNTHETIC = "ibft2/synthetic-chain";

async function checkRecorded(folder: string): Promise<Failure | undefined> {
  const opened = await openChain(folder);
  const failure = await importFile(opened, `${folder}/chain.rlp`);
  return failure ?? checkReceipts(opened, folder) ?? damageIn(opened.database);
}

async function checkSynthetic(): Promise<Failure | undefined> {
  const opened = await openChain(SYNTHETIC);
  const failure = await importFile(opened, `${SYNTHETIC}/chain.blocks`);
  if (failure !== undefined) return failure;
  const { blocks } = readVectorJson<{ blocks: { number: number; hash: string }[] }>(
    SYNTHETIC,
    "expected.json",
  );
  const wrong = blocks.find(({ number, hash }) => hash !== hashOf(opened, number));
  return wrong === undefined ? undefined : `block ${wrong.number} is ${hashOf(opened, wrong.number)}`;
}

function openChain(folder: string): Promise<TestChain> {
  return aChain({ genesis: readFileSync(vectorPath(folder, "genesis.json"), "utf8") });
}

async function importFile({ chain }: TestChain, path: string): Promise<Failure | undefined> {
  for (const block of blocksOfFile(path)) {
    if (block.header.number === 0n) continue;
    const imported = await chain.importBlock(block);
    if (!imported.ok)
      return `block ${block.header.number}: ${imported.error.code} (${imported.error.message})`;
  }
  return undefined;
}

function hashOf({ chain }: TestChain, number: number): string {
  return toHex(chain.headerByNumber(BigInt(number))?.hash ?? new Uint8Array());
}

/** Compares receipts, if the network's receipts were recorded. */
function checkReceipts({ chain }: TestChain, folder: string): Failure | undefined {
  if (!existsSync(vectorPath(folder, "receipts-rlp.json"))) return undefined;
  const recorded = readVectorJson<Record<string, string[]>>(folder, "receipts-rlp.json");
  for (const [number, expected] of Object.entries(recorded)) {
    const receipts = chain.blockByNumber(BigInt(number))?.receipts.map(encodeReceipt).map(toHex);
    if (JSON.stringify(receipts) !== JSON.stringify(expected))
      return `the receipts of block ${number} differ`;
  }
  return undefined;
}
