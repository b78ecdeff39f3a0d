import { readFileSync } from "node:fs";
import { equalBytes, toHex } from "../../../src/primitives/hex.ts";
import { addressOfPrivateKey } from "../../../src/primitives/secp256k1.ts";
import { type Block, encodeBlock } from "../../../src/types/block.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { readVectorJson, vectorPath } from "../../vectors.ts";
import { blocksOfFile } from "../chains/blockFile.ts";
import { type ForeignChain, openForeignChain } from "../chains/foreignChain.ts";
import { rulesOfGenesis } from "../chains/foreignRules.ts";
import {
  buildJsonBlock,
  type JsonBlock,
  type JsonTransaction,
  NO_SEAL,
  type SealerFields,
} from "../chains/jsonBlocks.ts";
import { damageIn } from "../chains/storeDamage.ts";
import type { Case, Failure, Suite } from "../suite.ts";
import { bytesOfHex } from "./preState.ts";

/** Blocks that Besu's tests describe by their transactions, built by our block builder and then imported. */
export const BUILD: Suite = {
  name: "build",
  total: 15,
  every: 1,
  cases: () => [...REBUILT.map(rebuild), ...CONSENSUS_KINDS.flatMap(chainImports)],
};

interface Rebuilt {
  readonly genesis: string;
  readonly instructions: readonly string[];
  /** The blocks that Besu built from them. */
  readonly blocks: string;
}

const REBUILT: readonly Rebuilt[] = [
  { genesis: "trace/genesis.json", instructions: ["trace/blocks.json"], blocks: "trace/blocks.bin" },
  ...(["upgraded", "outdated"] as const).map((kind) => ({
    genesis: `fork/genesis-${kind}.json`,
    instructions: ["fork/common-blocks.json", "fork/fork-blocks.json"],
    blocks: `fork/fork-${kind}.blocks`,
  })),
];

/** Takes the time and the seal from the expected block; every other byte must be reproduced. */
function rebuild({ genesis, instructions, blocks }: Rebuilt): Case {
  const folder = "besu-jsonrpc/chains";
  return {
    id: `${folder}/${blocks} from ${instructions.join(", ")}`,
    async run() {
      const chain = await openChain(`${folder}/${genesis}`);
      const wanted = instructions.flatMap((path) => readInstructions(`${folder}/${path}`));
      const [, ...expected] = blocksOfFile(`${folder}/${blocks}`);
      if (wanted.length !== expected.length) return `${wanted.length} blocks for ${expected.length}`;
      for (const [index, block] of expected.entries()) {
        const { timestamp, mixHash, nonce } = block.header;
        const built = await extend(chain, wanted[index], { timestamp, mixHash, nonce });
        if (typeof built === "string") return built;
        if (!equalBytes(encodeBlock(built), encodeBlock(block)))
          return `block ${block.header.number} differs`;
      }
      return damageIn(chain.database);
    },
  };
}

const CONSENSUS_KINDS = ["ethash", "clique"] as const;

/** Files for Besu's JSON import. Only the contents of the blocks, or a refusal, are known, not the results. */
function chainImports(kind: (typeof CONSENSUS_KINDS)[number]): Case[] {
  const folder = `besu-core/chainimport/${kind}`;
  const aCase = (
    name: string,
    run: (chain: ForeignChain, blocks: JsonBlock[]) => Promise<Failure | undefined>,
  ) => ({
    id: `${folder}/blocks-import-${name}.json`,
    run: async () =>
      run(
        await openChain(`${folder}/genesis.json`),
        readInstructions(`${folder}/blocks-import-${name}.json`),
      ),
  });
  return [
    aCase("valid", buildAll),
    aCase("valid-no-block-identifiers", buildAll),
    aCase("valid-addendum", async (chain, blocks) => {
      const failure = await buildAll(chain, readInstructions(`${folder}/blocks-import-valid.json`));
      // The parent in the file is a placeholder for the head.
      return (
        failure ??
        buildAll(
          chain,
          blocks.map((block) => ({ ...block, parentHash: toHex(chain.head.hash) })),
        )
      );
    }),
    aCase("special-fields", (chain, blocks) =>
      kind === "ethash" ? buildAll(chain, blocks) : mustBeRefused(chain, blocks, "unsupportedFields"),
    ),
    aCase("invalid-bad-parent", (chain, blocks) => mustBeRefused(chain, blocks, "noSuchParent")),
    aCase("invalid-bad-tx", (chain, blocks) => mustBeRefused(chain, blocks, "transactionLeftOut")),
  ];
}

async function buildAll(chain: ForeignChain, blocks: readonly JsonBlock[]): Promise<Failure | undefined> {
  for (const instructions of blocks) {
    const built = await extend(chain, instructions, nextSealerFields(chain));
    if (typeof built === "string") return built;
    const difference = compareContent(built, instructions);
    if (difference !== undefined) return `block ${built.header.number}: ${difference}`;
  }
  return damageIn(chain.database);
}

async function mustBeRefused(
  chain: ForeignChain,
  blocks: readonly JsonBlock[],
  code: string,
): Promise<Failure | undefined> {
  const [instructions] = blocks;
  if (instructions === undefined) return "no instructions";
  const built = await buildJsonBlock(chain, instructions, nextSealerFields(chain));
  if (built.ok) return `built, though it cannot be: ${code}`;
  return built.error.code === code ? undefined : `refused for ${built.error.code}`;
}

/** Builds a block and makes it the head. */
async function extend(
  chain: ForeignChain,
  instructions: JsonBlock | undefined,
  sealerFields: SealerFields,
): Promise<Block<SentTransaction> | Failure> {
  if (instructions === undefined) return "no instructions";
  const built = await buildJsonBlock(chain, instructions, sealerFields);
  if (!built.ok) return `not built: ${built.error.message}`;
  const imported = await chain.import(built.value);
  return imported.ok ? built.value : `built, but refused: ${imported.error.message}`;
}

/** One second later, without a seal. */
function nextSealerFields({ head }: ForeignChain): SealerFields {
  return { timestamp: head.header.timestamp + 1n, ...NO_SEAL };
}

function compareContent(block: Block<SentTransaction>, instructions: JsonBlock): Failure | undefined {
  const { coinbase, extraData, extradata, transactions } = instructions;
  if (BigInt(toHex(block.header.coinbase)) !== BigInt(coinbase === undefined ? 0 : numberOf(coinbase)))
    return `coinbase ${toHex(block.header.coinbase)}`;
  if (toHex(block.header.extraData) !== (extraData ?? extradata ?? "0x")) return "wrong extra data";
  if (block.transactions.length !== transactions.length) return `${block.transactions.length} transactions`;
  const different = block.transactions.findIndex(
    (transaction, index) =>
      JSON.stringify(factsOf(transaction)) !== JSON.stringify(expectedFactsOf(transactions[index])),
  );
  return different < 0 ? undefined : `transaction ${different} differs`;
}

function factsOf({ sender, gasLimit, gasPrice, to, value, data }: SentTransaction): readonly string[] {
  return [toHex(sender), `${gasLimit}`, `${gasPrice}`, to ? toHex(to) : "", `${value}`, toHex(data)];
}

function expectedFactsOf(transaction: JsonTransaction | undefined): readonly string[] {
  if (transaction === undefined) return [];
  const { secretKey, gasLimit, gasPrice, to, value = "0", data = "0x" } = transaction;
  return [
    toHex(addressOfPrivateKey(bytesOfHex(secretKey))),
    `${BigInt(gasLimit)}`,
    `${BigInt(gasPrice)}`,
    to === undefined ? "" : numberOf(to).toLowerCase(),
    `${BigInt(value)}`,
    data.toLowerCase(),
  ];
}

function numberOf(hex: string): string {
  return hex.startsWith("0x") ? hex : `0x${hex}`;
}

function openChain(genesis: string): Promise<ForeignChain> {
  return openForeignChain(rulesOfGenesis(readFileSync(vectorPath(genesis), "utf8"), genesis));
}

function readInstructions(path: string): JsonBlock[] {
  return readVectorJson<{ blocks: JsonBlock[] }>(path).blocks;
}
