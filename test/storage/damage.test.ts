import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asHash } from "../../src/primitives/hash.ts";
import { equalBytes, toHex } from "../../src/primitives/hex.ts";
import { Batch } from "../../src/storage/batch.ts";
import { BLOCK_STORE_LIMITS, BlockStore } from "../../src/storage/blocks/blockStore.ts";
import { openChainDatabase } from "../../src/storage/chainDatabase.ts";
import { DamagedData, DiskError } from "../../src/storage/database.ts";
import { openVoteLog } from "../../src/storage/votes/voteLog.ts";
import { encodeBlock, type StoredBlock } from "../../src/types/block.ts";
import { encodeReceipt } from "../../src/types/receipt.ts";
import { damageSomeFile } from "../builders/damage.ts";
import { casesOf, IS_THOROUGH } from "../thorough.ts";
import { generator } from "./random.ts";
import { aStoredChain } from "./storedBlocks.ts";
import { temporaryFolder } from "./temporaryFolder.ts";

const DAMAGES = casesOf(300);
const SEED = Number(process.env["IBEX_SEED"] ?? Date.now() % 1_000_000);

describe("a damaged data folder", () => {
  it(`never gives a wrong answer: ${DAMAGES} damages, IBEX_SEED=${SEED}`, async () => {
    const random = generator(SEED);
    const chain = aStoredChain({ seed: SEED, blocks: 12, transactions: 12 });
    const sound = temporaryFolder();
    await writeFolder(sound, chain);
    // Reads copies, because LevelDB turns the log into a table whenever it opens a folder.
    const folder = `${sound}-copy`;
    cpSync(sound, folder, { recursive: true });
    expect(await readFolder(folder, chain)).toBe("right");
    rmSync(folder, { recursive: true });

    const outcomes = { right: 0, refused: 0 };
    const damagedFiles = new Set<string>();
    for (let count = 0; count < DAMAGES; count++) {
      cpSync(sound, folder, { recursive: true });
      const damage = damageSomeFile(folder, random);
      damagedFiles.add(kindOf(damage));
      try {
        outcomes[await readFolder(folder, chain)]++;
      } catch (error) {
        throw new Error(`damage ${count} (${damage}) gave a wrong answer`, { cause: error });
      } finally {
        rmSync(folder, { recursive: true });
      }
    }
    expect(outcomes.right + outcomes.refused).toBe(DAMAGES);
    if (!IS_THOROUGH) return;
    expect(outcomes.refused).toBeGreaterThan(DAMAGES / 2);
    expect([...damagedFiles].sort()).toEqual(
      ["CURRENT", "MANIFEST", "head.log", "ldb", "log", "votes.log", "votes.log.mark"].sort(),
    );
  });
});

/** Writes blocks (in tables of several starts and in the log of the last one), votes, and the head marker. */
async function writeFolder(folder: string, chain: readonly StoredBlock[]): Promise<void> {
  for (let start = 0; start < chain.length; start += 5) {
    const { database, headMarker, close } = await openChainDatabase(pathsIn(folder));
    const blocks = new BlockStore(BLOCK_STORE_LIMITS, { database });
    const votes = await openVoteLog(join(folder, "votes.log"));
    for (const block of chain.slice(start, start + 5)) {
      await votes.write(voteFor(block));
      const batch = new Batch();
      blocks.put(batch, block);
      blocks.complete(batch, block);
      await database.write(batch);
      headMarker.record({ number: block.header.number, hash: block.hash });
    }
    await votes.close();
    await close();
  }
}

/** Reads everything that was written. Throws when a result is wrong. */
async function readFolder(folder: string, chain: readonly StoredBlock[]): Promise<"right" | "refused"> {
  const closing: (() => Promise<void>)[] = [];
  try {
    const votes = await openVoteLog(join(folder, "votes.log"));
    closing.push(() => votes.close());
    const { database, close } = await openChainDatabase(pathsIn(folder));
    closing.push(close);
    const newest = chain.at(-1);
    const blocks = new BlockStore(BLOCK_STORE_LIMITS, { database });
    for (const block of chain) expectBlock(blocks.block(block.header.number), block);
    for (const block of chain) expectBlock(blocks.blockByHash(block.hash), block);
    for (const block of chain)
      for (const [index, { hash }] of block.transactions.entries()) {
        const found = blocks.transactionByHash(hash);
        if (found?.index !== index || !equalBytes(found.transaction.hash, hash))
          throw new Error(`transaction ${toHex(hash)} was answered wrongly`);
      }
    expect(blocks.head()?.hash).toEqual(newest?.hash);
    expect(blocks.blockByHash(asHash(new Uint8Array(32)))).toBeUndefined();
    expect(votes.read()).toEqual(newest === undefined ? undefined : voteFor(newest));
    return "right";
  } catch (error) {
    if (error instanceof DamagedData || error instanceof DiskError) {
      expect(error.message).toMatch(/damaged|missing|lost its end|cannot be/);
      return "refused";
    }
    throw error;
  } finally {
    for (const close of closing) await close();
  }
}

/** Kind of the damaged file: a table or log of LevelDB without its number, or the file's name. */
function kindOf(damage: string): string {
  const [file = ""] = damage.split(":");
  return /^chain\/\d+\.(\w+)$/.exec(file)?.[1] ?? file.replace(/^chain\/|-\d+$/g, "");
}

function pathsIn(folder: string): { readonly path: string; readonly headFile: string } {
  return { path: join(folder, "chain"), headFile: join(folder, "head.log") };
}

function voteFor(block: StoredBlock): Uint8Array {
  return encodeBlock(block).subarray(0, 2000);
}

function expectBlock(found: StoredBlock | undefined, block: StoredBlock): void {
  expect(found === undefined ? undefined : bytesOf(found)).toEqual(bytesOf(block));
}

function bytesOf(block: StoredBlock): readonly string[] {
  const { hash, size, totalDifficulty, transactions, receipts } = block;
  return [
    toHex(hash),
    `${size} ${totalDifficulty}`,
    toHex(encodeBlock(block)),
    ...transactions.map(({ sender }) => toHex(sender)),
    ...receipts.map((receipt) => `${toHex(encodeReceipt(receipt))} ${receipt.gasUsed}`),
  ];
}
