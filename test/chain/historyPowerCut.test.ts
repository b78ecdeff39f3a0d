import { describe, expect, it } from "vitest";
import { removeStates } from "../../src/state/removal/stateRemoval.ts";
import { checkState } from "../../src/state/verifyState.ts";
import type { Database } from "../../src/storage/database.ts";
import { findDamage } from "../../src/storage/databaseCheck.ts";
import { BlockRemoval, hasRemovable } from "../../src/storage/removal/blockRemoval.ts";
import { readSchema } from "../../src/storage/schema.ts";
import { readStateBase } from "../../src/storage/stateBase.ts";
import { Archive, contentsOf, type OpenChain, openHistory, stateOf } from "../builders/archive.ts";
import {
  createForgetfulDisk,
  type ForgetfulDisk,
  type ForgetfulSettings,
} from "../builders/forgetfulDisk.ts";
import { generator, type Random } from "../storage/random.ts";
import { itIfThorough } from "../thorough.ts";

/** The daily run; the long run asks for more (`npm run test:long`). */
const SEEDS = Number(process.env["IBEX_POWER_CUTS"] ?? 2);
const FIRST_SEED = Number(process.env["IBEX_SEED"] ?? 1);
const CUTS_PER_SEED = 6;

const [KEPT_STATES, KEPT_BLOCKS] = [4n, 7n];
const STATE_LIMITS = { bytes: 2_000, operations: 5, compactedBytes: 8_000 };
const BLOCK_LIMITS = { entries: 2, bytes: 2_000 };

/** A disk that has lost durable writes gives another head than the mark beside it: those blocks are made again. */
const open = ({ database, markerFile }: ForgetfulDisk): Promise<OpenChain> =>
  openHistory({ database, markerFile, judgeLostEnd: () => "fetched" });

interface PruningParts {
  readonly archive: Archive;
  readonly random: Random;
  writtenBy(database: Database): Database;
}

/** A node whose chain grows, and at times goes back, while it removes what is old, until its power is cut. */
class PruningNode {
  private readonly node: OpenChain;
  private readonly archive: Archive;
  private readonly random: Random;
  /** The database as the removals write it. */
  private readonly removed: Database;
  isStopping = false;
  /** Number of the newest block that was announced, or that a rewind led to. */
  announced: bigint;

  constructor(node: OpenChain, { archive, random, writtenBy }: PruningParts) {
    this.node = node;
    this.archive = archive;
    this.random = random;
    this.removed = writtenBy(node.database);
    this.announced = node.chain.head.header.number;
  }

  /** Resolves when it was told to stop, and never once the power is cut. Rejects as soon as a part of it fails, when the others end, too. */
  async live(): Promise<void> {
    try {
      await Promise.all([this.makeBlocks(), this.removeStates(), this.removeBlocks()]);
    } finally {
      this.isStopping = true;
    }
  }

  private async makeBlocks(): Promise<void> {
    const { chain } = this.node;
    while (!this.isStopping) {
      const { number } = chain.head.header;
      const back = number - BigInt(this.random.below(Number(KEPT_STATES)));
      if (this.random.below(10) === 0 && back >= chain.historyStart.states && back >= 0n) {
        this.announced = back;
        await chain.rewind(back);
      } else {
        await this.archive.extend(chain);
        this.announced = chain.head.header.number;
      }
      await turns(this.random.below(12));
    }
  }

  private async removeStates(): Promise<void> {
    const { chain } = this.node;
    while (!this.isStopping) {
      // What an earlier life left comes before the start moves on.
      if (readStateBase(this.removed) !== undefined)
        for await (const _ of removeStates(this.removed, STATE_LIMITS)) {
          if (this.isStopping) return;
          await turns(this.random.below(3));
        }
      await chain.keepStates(KEPT_STATES);
      await turns(this.random.below(20));
    }
  }

  private async removeBlocks(): Promise<void> {
    const { chain } = this.node;
    const removal = new BlockRemoval(
      { ...this.removed, approximateBytes: async () => 0, compact: async () => undefined },
      BLOCK_LIMITS,
    );
    while (!this.isStopping) {
      removal.startMoved(chain.historyStart.blocks);
      while (!this.isStopping && (await removal.step())) await turns(this.random.below(3));
      await chain.keepBlocks(KEPT_BLOCKS);
      await turns(1 + this.random.below(20));
    }
  }
}

/** Several power cuts, each while old blocks and states are removed. Rejects when anything is lost. */
async function surviveCuts(
  settings: ForgetfulSettings,
  writtenBy: (database: Database) => Database = (database) => database,
): Promise<{ readonly amidRemoval: number }> {
  const random = generator(settings.seed);
  const archive = new Archive(await openHistory(), random);
  let disk = createForgetfulDisk(settings);
  let amidRemoval = 0;
  for (let cut = 0; cut < CUTS_PER_SEED; cut++) {
    const node = new PruningNode(await open(disk), { archive, random, writtenBy });
    const living = node.live().catch((error: unknown) => error);
    const cutShort = turns(20 + random.below(500)).then(() => undefined);
    const failure = await Promise.race([living, cutShort]);
    if (failure !== undefined) throw failure;
    node.isStopping = true;
    // The disk itself may lose what it had, save the beginning.
    const losing = node.announced > 5n && random.below(3) === 0 ? 1 + random.below(3) : 0;
    disk = disk.powerCut(losing);
    const found = await open(disk);
    await expectHistory(found, archive.node, `seed ${settings.seed}, cut ${cut}`);
    if (losing === 0) expect(found.chain.head.header.number).toBeGreaterThanOrEqual(node.announced);
    if ((await hasRemovable(disk.database)) || isBaseBehind(found)) amidRemoval++;
  }
  const found = await open(disk);
  const node = new PruningNode(found, { archive, random, writtenBy });
  const living = node.live();
  while (found.chain.historyStart.blocks === 0n && !node.isStopping) await turns(100);
  node.isStopping = true;
  await living;
  await expectHistory(found, archive.node, `seed ${settings.seed}, the end`);
  return { amidRemoval };
}

/** Sabotage: every other write comes after the one that follows it. */
function outOfOrder(database: Database): Database {
  let held: Parameters<Database["write"]>[0] | undefined;
  return {
    ...database,
    async write(batch) {
      const first = held;
      held = first === undefined ? batch : undefined;
      if (first === undefined) return;
      await database.write(batch);
      await database.write(first);
    },
  };
}

function isBaseBehind({ chain, database }: OpenChain): boolean {
  return BigInt(readStateBase(database) ?? -1) < chain.historyStart.states;
}

/** The database is sound, and everything from its start of the history on is as in the archive. */
async function expectHistory(
  { chain, world, database }: OpenChain,
  archive: OpenChain,
  when: string,
): Promise<void> {
  const { blocks, states } = chain.historyStart;
  const head = chain.head.header.number;
  const damages: string[] = [];
  for await (const damage of findDamage(database)) damages.push(damage);
  expect([...damages, ...(await checkState(database)).damages], when).toEqual([]);
  expect(states, when).toBeGreaterThanOrEqual(blocks);
  const isPruned = states > 0n;
  expect((await readSchema(database))?.isPruned === true, when).toBe(isPruned);
  expect(readStateBase(database) !== undefined, when).toBe(isPruned);
  for (let number = states; number <= head; number++)
    expect(stateOf(world, number), `${when}: the state of block ${number}`).toEqual(
      stateOf(archive.world, number),
    );
  for (let number = 0n; number <= head; number++) {
    const isKept = number === 0n || number >= blocks;
    expect(contentsOf(chain, number), `${when}: block ${number}`).toEqual(
      isKept ? contentsOf(archive.chain, number) : undefined,
    );
    expect(chain.headerByNumber(number)?.hash).toEqual(archive.chain.headerByNumber(number)?.hash);
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resume) => setImmediate(resume));
}

describe("a power cut while old blocks and states are removed", () => {
  it.each(Array.from({ length: SEEDS }, (_, index) => FIRST_SEED + index))(
    "leaves a sound folder with all that is kept (IBEX_SEED=%i)",
    async (seed) => {
      await surviveCuts({ seed });
    },
  );

  itIfThorough("comes amid a removal in this test", async () => {
    let amidRemoval = 0;
    for (let seed = FIRST_SEED; seed < FIRST_SEED + 3; seed++)
      amidRemoval += (await surviveCuts({ seed })).amidRemoval;
    expect(amidRemoval).toBeGreaterThan(3);
  });

  itIfThorough("is caught by this test when a removal writes in another order", async () => {
    const outcomes = [];
    for (let seed = FIRST_SEED; seed < FIRST_SEED + 6; seed++)
      outcomes.push(
        await surviveCuts({ seed }, outOfOrder).then(
          () => "survived",
          () => "caught",
        ),
      );
    expect(outcomes).toContain("caught");
  });
});
