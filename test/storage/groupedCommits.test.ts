import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import { asHash, ZERO_HASH } from "../../src/primitives/hash.ts";
import { findBlocksWithoutState } from "../../src/state/missingStates.ts";
import { checkState } from "../../src/state/verifyState.ts";
import { createBatch } from "../../src/storage/batch.ts";
import { type Batch, DiskError } from "../../src/storage/database.ts";
import { findDamage } from "../../src/storage/databaseCheck.ts";
import { type GroupedCommits, type GroupLimits, groupCommits } from "../../src/storage/groupedCommits.ts";
import type { MarkerFile } from "../../src/storage/markerFile.ts";
import { createMemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import { type Block, decodeBlock } from "../../src/types/block.ts";
import { aChain } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { createForgetfulDisk, type ForgetfulDisk } from "../builders/forgetfulDisk.ts";
import { sealedDevBlocks } from "../builders/sealedChain.ts";
import { account } from "../builders/testAccounts.ts";
import { generator } from "./random.ts";

const SEED = Number(process.env["IBEX_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const CUTS = Number(process.env["IBEX_POWER_CUTS"] ?? "20");
const BLOCKS = 12;

/** Blocks 1 to BLOCKS of the development network. */
let blocks: readonly Block[] = [];

beforeAll(async () => {
  const bodies = Array.from({ length: BLOCKS }, (_, block) =>
    Array.from({ length: block % 4 }, (_, index) =>
      aTransaction({ nonce: BigInt(index), privateKey: account(block % 10).privateKey, value: 1n }),
    ),
  ).slice(0, 10);
  const encoded = await sealedDevBlocks([...bodies, [], []]);
  blocks = encoded.slice(1).map((bytes) => {
    const block = decodeBlock(bytes);
    if (!block.ok) throw new Error(block.error.message);
    return block.value;
  });
});

/** The chain on such a disk, with commits in groups. */
async function groupedChain(disk: ForgetfulDisk, limits: GroupLimits) {
  const grouped: GroupedCommits = groupCommits(
    {
      database: disk.database,
      headMarker: {
        record: ({ number, hash }) => disk.markerFile.write({ position: number, fingerprint: hash }),
        lower: ({ number, hash }) => disk.markerFile.writeSynced({ position: number, fingerprint: hash }),
      },
      clock: { nowMs: () => 0 },
    },
    limits,
  );
  const markerFile: MarkerFile = {
    read: () => disk.markerFile.read(),
    write: ({ position, fingerprint }) =>
      grouped.headMarker.record({ number: position, hash: asHash(fingerprint) }),
    writeSynced: () => expect.unreachable("an import does not rewind"),
    close: () => undefined,
  };
  const genesis = readFileSync(DEV_GENESIS_FILE, "utf8");
  const { chain } = await aChain({ genesis, database: grouped.database, markerFile });
  return { grouped, chain };
}

async function damageOf({ database }: ForgetfulDisk): Promise<readonly string[]> {
  const damages = [...findBlocksWithoutState(database), ...(await checkState(database)).damages];
  for await (const damage of findDamage(database)) damages.push(damage);
  return damages;
}

describe(`commits in groups (IBEX_SEED=${SEED})`, () => {
  it(`leave a sound prefix of the chain after a power cut, at least what was flushed, ${CUTS} cuts`, async () => {
    for (let seed = SEED; seed < SEED + CUTS; seed++) {
      const random = generator(seed);
      const limits = { bytes: 1 + random.below(20_000), ms: 1000 };
      let disk = createForgetfulDisk({ seed });
      const { grouped, chain } = await groupedChain(disk, limits);
      const imported = random.below(BLOCKS + 1);
      const flushAfter = random.below(BLOCKS * 2);
      for (const block of blocks.slice(0, imported)) {
        expect((await chain.importBlock(block)).ok).toBe(true);
        if (block.header.number === BigInt(flushAfter)) await grouped.flush();
      }
      disk = disk.powerCut();
      const why = `IBEX_SEED=${seed}`;
      expect(await damageOf(disk), why).toEqual([]);
      const again = await groupedChain(disk, limits);
      const found = Number(again.chain.head.header.number);
      expect(found, why).toBeLessThanOrEqual(imported);
      if (flushAfter <= imported) expect(found, why).toBeGreaterThanOrEqual(flushAfter);
      for (const block of blocks.slice(found))
        expect((await again.chain.importBlock(block)).ok, why).toBe(true);
      await again.grouped.flush();
      expect(await damageOf(disk), why).toEqual([]);
    }
  });

  it("are readable before they are durable, and are one write of the disk", async () => {
    const disk = createForgetfulDisk({ seed: 1 });
    const { grouped, chain } = await groupedChain(disk, { bytes: 2 ** 30, ms: 1000 });
    for (const block of blocks) await chain.importBlock(block);
    expect(chain.blockByNumber(3n)?.transactions).toHaveLength(blocks[2]?.transactions.length ?? -1);
    expect((await groupedChain(disk.powerCut(), { bytes: 1, ms: 1 })).chain.head.header.number).toBe(0n);
    await expect(grouped.flush()).rejects.toThrow("the power is cut");
  });

  it("write no group after one that failed", async () => {
    const disk = createMemoryDatabase();
    const heads: bigint[] = [];
    let failures = 1;
    const grouped = inGroupsOfOne({
      database: {
        ...disk,
        write: async (batch) => {
          if (failures-- > 0) throw new DiskError("no room");
          await disk.write(batch);
        },
      },
      headMarker: { record: ({ number }) => void heads.push(number), lower: () => expect.unreachable() },
    });
    await grouped.database.write(batchOf(1));
    grouped.headMarker.record({ number: 1n, hash: ZERO_HASH });
    for (const key of [2, 3]) await expect(grouped.database.write(batchOf(key))).rejects.toThrow("no room");
    await expect(grouped.flush()).rejects.toThrow("no room");
    await expect(grouped.flush()).rejects.toThrow("no room");
    expect([1, 2, 3].map((key) => disk.get(Uint8Array.of(key)))).toEqual(Array(3).fill(undefined));
    expect(heads).toEqual([]);
  });
});

/** Groups of one batch each. */
function inGroupsOfOne(parts: Omit<Parameters<typeof groupCommits>[0], "clock">) {
  return groupCommits({ ...parts, clock: { nowMs: () => 0 } }, { bytes: 1, ms: 1 });
}

function batchOf(key: number): Batch {
  const batch = createBatch();
  batch.put(Uint8Array.of(key), Uint8Array.of(key));
  return batch;
}
