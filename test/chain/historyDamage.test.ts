import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { expectDefined } from "../../src/primitives/assert.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { removeStates } from "../../src/state/removal/stateRemoval.ts";
import { Batch } from "../../src/storage/batch.ts";
import { openChainDatabase } from "../../src/storage/chainDatabase.ts";
import { DamagedData, type Database, DiskError } from "../../src/storage/database.ts";
import { KEY_PREFIXES, prefixRange } from "../../src/storage/keys.ts";
import { createMemoryDatabase, type MemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import { BlockRemoval } from "../../src/storage/removal/blockRemoval.ts";
import { Archive, contentsOf, type OpenChain, openHistory, stateOf } from "../builders/archive.ts";
import { damageSomeFile } from "../builders/damage.ts";
import { createMemoryMarkerFile } from "../builders/memoryMarkerFile.ts";
import { generator, type Random } from "../storage/random.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";
import { casesOf } from "../thorough.ts";

const DAMAGES = casesOf(Number(process.env["IBEX_DAMAGES"] ?? 100));
const SEED = Number(process.env["IBEX_SEED"] ?? Date.now() % 1_000_000);

const HEAD = 24;
const [KEPT_STATES, KEPT_BLOCKS] = [6n, 12n];
const STATE_LIMITS = { bytes: 2_000, operations: 5, compactedBytes: 8_000 };
const BLOCK_LIMITS = { entries: 2, bytes: 2_000 };

type Outcome = "right" | "refused";

let archive: Archive;

beforeAll(async () => {
  archive = new Archive(await openHistory(), generator(SEED));
});

/** A chain whose old blocks and states are removed in part, after some rounds that were done. */
async function prune({ chain, database }: OpenChain, random: Random): Promise<void> {
  for (let number = 1; number <= HEAD; number++) {
    await archive.extend(chain);
    if (number === HEAD - 4) {
      await chain.keepStates(KEPT_STATES);
      await chain.keepBlocks(KEPT_BLOCKS);
      await removeAll(database, 10_000, 10_000);
    }
  }
  await chain.keepStates(KEPT_STATES);
  await chain.keepBlocks(KEPT_BLOCKS);
  await removeAll(database, 1 + random.below(40), random.below(4));
}

/** So many steps of both removals, or all that there are. */
async function removeAll(database: Database, ofStates: number, ofBlocks: number): Promise<void> {
  let step = 0;
  for await (const _ of removeStates(database, STATE_LIMITS)) if (++step >= ofStates) break;
  const removal = new BlockRemoval(
    {
      range: (range) => database.range(range),
      write: (batch) => database.write(batch),
      approximateBytes: async () => 0,
      compact: async () => undefined,
    },
    BLOCK_LIMITS,
  );
  removal.startMoved(BigInt(HEAD) - KEPT_BLOCKS);
  for (step = 0; step < ofBlocks; step++) if (!(await removal.step())) break;
}

/** Reads everything that is kept, before the removal goes on and after it. Throws where an answer is wrong. */
async function readAndGoOn(
  reading: (use: (opened: OpenChain) => Promise<void>) => Promise<void>,
): Promise<Outcome> {
  try {
    await reading(async (opened) => {
      expectKept(opened);
      await removeAll(opened.database, 10_000, 10_000);
      expectKept(opened);
    });
    return "right";
  } catch (error) {
    if (!(error instanceof DamagedData || error instanceof DiskError)) throw error;
    expect(error.message).toMatch(/damaged|missing|lost its end|cannot be/);
    return "refused";
  }
}

function expectKept({ chain, world }: OpenChain): void {
  const { node } = archive;
  for (let number = BigInt(HEAD) - KEPT_STATES; number <= HEAD; number++)
    expect(stateOf(world, number), `the state of block ${number}`).toEqual(stateOf(node.world, number));
  for (let number = BigInt(HEAD) - KEPT_BLOCKS; number <= HEAD; number++)
    expect(contentsOf(chain, number), `block ${number}`).toEqual(contentsOf(node.chain, number));
}

/** Opens a folder as a node does, and closes it. */
async function inFolder<T>(folder: string, use: (opened: OpenChain) => Promise<T>): Promise<T> {
  const stored = await openChainDatabase({ path: join(folder, "chain"), headFile: join(folder, "head.log") });
  try {
    return await use(await openHistory(stored));
  } finally {
    await stored.close();
  }
}

/** The same, of entries in memory. */
function inMemory(database: MemoryDatabase): Promise<OpenChain> {
  const markerFile = createMemoryMarkerFile();
  markerFile.write({ position: BigInt(HEAD), fingerprint: archive.node.chain.head.hash });
  return openHistory({ database, markerFile });
}

describe("a damaged folder whose old blocks and states are being removed", () => {
  it(`never gives a wrong answer, also when the removal goes on: ${DAMAGES} damages, IBEX_SEED=${SEED}`, async () => {
    const random = generator(SEED);
    const outcomes: Record<Outcome, number> = { right: 0, refused: 0 };
    for (let count = 0; count < DAMAGES; ) {
      const sound = temporaryFolder();
      await inFolder(sound, (opened) => prune(opened, random));
      for (let of = 0; of < 20 && count < DAMAGES; of++, count++) {
        const folder = `${sound}-${of}`;
        cpSync(sound, folder, { recursive: true });
        const damage = damageSomeFile(folder, random);
        try {
          outcomes[await readAndGoOn((use) => inFolder(folder, use))]++;
        } catch (error) {
          throw new Error(`damage ${count} (${damage}) gave a wrong answer`, { cause: error });
        } finally {
          rmSync(folder, { recursive: true });
        }
      }
      expect(await readAndGoOn((use) => inFolder(sound, use))).toBe("right");
    }
    expect(outcomes.refused).toBeGreaterThan(DAMAGES / 2);
  });
});

/** What states and whole blocks are read from, and what says where they begin. */
const KINDS = [
  "meta",
  "header",
  "body",
  "receipts",
  "commit",
  "trie",
  "stateRecord",
  "stateHead",
  "base",
] as const;
/** Entries of a kind that are tried, of each kind of damage. */
const ENTRIES = casesOf(60);

describe("a database that has lost or spoiled one entry while old blocks and states are removed", () => {
  it.each(KINDS)(`never gives a wrong answer: %s, IBEX_SEED=${SEED}`, async (name) => {
    const random = generator(SEED + KEY_PREFIXES[name]);
    const sound = createMemoryDatabase();
    await prune(await openHistory({ database: sound }), random);
    const keys: Uint8Array[] = [];
    for await (const [key] of sound.range(prefixRange(KEY_PREFIXES[name]))) keys.push(key);
    expect(keys.length).toBeGreaterThan(0);
    const every = Math.max(1, Math.floor(keys.length / ENTRIES));
    for (const key of keys.filter((_, at) => at % every === 0))
      for (const isLost of [true, false]) {
        const database = await damaged(sound, { key, isLost });
        await readAndGoOn(async (use) => use(await inMemory(database))).catch((error: unknown) => {
          throw new Error(`${toHex(key)}, ${isLost ? "lost" : "spoiled"}, gave a wrong answer`, {
            cause: error,
          });
        });
      }
  });
});

async function damaged(
  sound: MemoryDatabase,
  { key, isLost }: { readonly key: Uint8Array; readonly isLost: boolean },
): Promise<MemoryDatabase> {
  const database = sound.copy();
  const batch = new Batch();
  if (isLost) batch.delete(key);
  else
    batch.put(
      key,
      expectDefined(database.get(key), "the entry").map((byte, at) => (at === 0 ? byte ^ 1 : byte)),
    );
  await database.write(batch);
  return database;
}
