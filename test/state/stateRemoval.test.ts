import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expectDefined } from "../../src/primitives/assert.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { decodeAccount } from "../../src/state/accountLeaf.ts";
import { removeStates } from "../../src/state/removal/stateRemoval.ts";
import { readStateRecord } from "../../src/state/stateRecord.ts";
import { ACCOUNT_TRIE } from "../../src/state/stateWriter.ts";
import { PageReader } from "../../src/state/trie/pageReader.ts";
import { NO_STORAGE } from "../../src/state/trie/storedNode.ts";
import { trieLeaves } from "../../src/state/trie/trieLeaves.ts";
import type { TrieRoot } from "../../src/state/trie/trieRoot.ts";
import { checkState } from "../../src/state/verifyState.ts";
import { WorldState } from "../../src/state/worldState.ts";
import { Batch } from "../../src/storage/batch.ts";
import type { Database } from "../../src/storage/database.ts";
import { putHistoryStart, readHistoryStart } from "../../src/storage/historyStart.ts";
import { KEY_PREFIXES, prefixRange } from "../../src/storage/keys.ts";
import { createMemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import { NO_BASE, putStateBase, readStateBase } from "../../src/storage/stateBase.ts";
import { baseNodeKey, trieKeysBetween } from "../../src/storage/stateKeys.ts";
import { StateRemoved } from "../../src/types/stateRemoved.ts";
import {
  type Action,
  ADDRESSES,
  addressOf,
  blockActions,
  type ModelState,
  perform,
  SLOTS,
  slotOf,
} from "./stateModel.ts";

/** States before the head that are kept. */
const KEPT = 3;
const TINY = { bytes: 400, operations: 3, compactedBytes: 2000 };

type Step =
  | { readonly kind: "block"; readonly actions: readonly Action[] }
  /** Moves the start on, when nothing is being removed. */
  | { readonly kind: "keep" }
  /** Lets the removal do so many steps; it is killed afterwards where `isKilled`. */
  | { readonly kind: "remove"; readonly steps: number; readonly isKilled: boolean }
  | { readonly kind: "rewind"; readonly blocks: number };

function histories(): fc.Arbitrary<readonly Step[]> {
  return fc.array(
    fc.oneof(
      { weight: 6, arbitrary: blockActions().map((actions) => ({ kind: "block" as const, actions })) },
      { weight: 3, arbitrary: fc.constant({ kind: "keep" as const }) },
      {
        weight: 6,
        arbitrary: fc.record({
          kind: fc.constant("remove" as const),
          steps: fc.oneof(fc.nat(12), fc.constant(10_000)),
          isKilled: fc.boolean(),
        }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("rewind" as const), blocks: fc.nat(KEPT) }) },
    ),
    { minLength: 30, maxLength: 70, size: "max" },
  );
}

/** One chain of states stored twice: an archive, and a node that removes old states. */
class TwoNodes {
  readonly archive = createMemoryDatabase();
  readonly pruned = createMemoryDatabase();
  readonly archiveWorld = new WorldState({ database: this.archive });
  /** Lives through all removals, with what it has read. */
  prunedWorld = new WorldState({ database: this.pruned });
  head = -1;
  /** What the actions make of each block's predecessor. */
  private readonly models: ModelState[] = [{}];
  private removal: AsyncGenerator<unknown, void> | undefined;

  get start(): number {
    return Number(readHistoryStart(this.pruned).states);
  }

  async perform(step: Step): Promise<void> {
    if (step.kind === "block") await this.add(step.actions);
    if (step.kind === "keep") await this.keep();
    if (step.kind === "remove") await this.remove(step.steps, step.isKilled);
    if (step.kind === "rewind") await this.rewind(Math.max(this.start, this.head - step.blocks));
  }

  async remove(steps: number, isKilled: boolean): Promise<void> {
    this.removal ??= removeStates(this.pruned, TINY);
    for (let step = 0; step < steps && this.removal !== undefined; step++)
      if ((await this.removal.next()).done === true) this.removal = undefined;
    if (isKilled) {
      this.removal = undefined;
      this.prunedWorld = new WorldState({ database: this.pruned });
    }
  }

  async finish(): Promise<void> {
    await this.remove(Number.POSITIVE_INFINITY, false);
  }

  async keep(): Promise<void> {
    const states = this.head - KEPT;
    // As the remover does: the start moves between removals.
    if (this.removal !== undefined || states <= this.start) return;
    if ((readStateBase(this.pruned) ?? NO_BASE) < this.start && this.start > 0) return;
    const batch = new Batch();
    putHistoryStart(batch, { headers: 0n, blocks: 0n, states: BigInt(states) });
    if (readStateBase(this.pruned) === undefined) putStateBase(batch, NO_BASE);
    await this.pruned.write(batch);
  }

  private async add(actions: readonly Action[]): Promise<void> {
    const model = structuredClone(expectDefined(this.models[this.head + 1], "the state at the head"));
    this.head++;
    for (const [database, world] of [
      [this.archive, this.archiveWorld],
      [this.pruned, this.prunedWorld],
    ] as const) {
      const overlay = world.overlay();
      const after = structuredClone(model);
      for (const action of actions) perform(overlay, after, action);
      this.models[this.head + 1] = after;
      const staged = world.stage(overlay.changes(), BigInt(this.head));
      const batch = new Batch();
      staged.writeTo(batch);
      await database.write(batch);
      world.adopt(staged);
    }
  }

  private async rewind(number: number): Promise<void> {
    if (number < 0 || number >= this.head) return;
    for (const [database, world] of [
      [this.archive, this.archiveWorld],
      [this.pruned, this.prunedWorld],
    ] as const) {
      const batch = new Batch();
      await world.rewind(BigInt(number), batch);
      await database.write(batch);
      world.reload(BigInt(number));
    }
    this.head = number;
  }
}

/** Everything of one state, with proofs. */
function textOf(world: WorldState, number: number): unknown {
  const slots = Array.from({ length: SLOTS }, (_, slot) => slotOf(slot));
  const state = world.at(BigInt(number));
  if (state === undefined) return undefined;
  return Array.from({ length: ADDRESSES }, (_, who) => {
    const address = addressOf(who);
    const proof = world.prove(BigInt(number), address, slots);
    return JSON.stringify(
      [state.account(address), slots.map((slot) => state.storage(address, slot)), proof],
      (_key, value) =>
        value instanceof Uint8Array ? toHex(value) : typeof value === "bigint" ? `${value}` : value,
    );
  });
}

function expectSame({ archiveWorld, prunedWorld, pruned, start, head }: TwoNodes): void {
  const restarted = new WorldState({ database: pruned });
  for (let number = Math.max(0, start - 3); number <= head; number++) {
    const expected = textOf(archiveWorld, number);
    for (const world of [prunedWorld, restarted]) {
      if (number >= start) expect(textOf(world, number)).toEqual(expected);
      else expectSameOrRemoved(world, number, expected);
    }
  }
}

function expectSameOrRemoved(world: WorldState, number: number, expected: unknown): void {
  try {
    const found = textOf(world, number);
    if (found !== undefined) expect(found).toEqual(expected);
  } catch (error) {
    if (!(error instanceof StateRemoved)) throw error;
  }
}

/** Keys of the base that the state at the start needs. */
function neededKeys(database: Database, start: number): Set<string> {
  const keys = new Set<string>();
  const pages = new PageReader(database, 1_000_000);
  const reader = {
    read: (...place: Parameters<PageReader["read"]>) => {
      const [trieId, key, depth] = place;
      keys.add(toHex(baseNodeKey(trieId, key, depth)));
      return pages.read(...place);
    },
  };
  const fail = (error: unknown) => {
    throw error;
  };
  const leavesOf = (trieId: number, root: TrieRoot) => trieLeaves({ reader, trieId, root }, 32, fail);
  const { root } = expectDefined(readStateRecord(database, start), "the first state");
  for (const { value, storage = NO_STORAGE } of leavesOf(ACCOUNT_TRIE, root)) {
    const { trieId, version } = storage;
    if (trieId === 0) continue;
    for (const _ of leavesOf(trieId, { hash: decodeAccount(value).storageRoot, version }));
  }
  return keys;
}

async function keysIn(database: Database, range: Parameters<Database["range"]>[0]): Promise<Set<string>> {
  const keys = new Set<string>();
  for await (const [key] of database.range(range)) keys.add(toHex(key));
  return keys;
}

const HISTORIES = Number(process.env["IBEX_HISTORIES"] ?? 5);

describe("removeStates", () => {
  it("keeps every newer state as an archive has it, at each moment and through kills and rewinds", async () => {
    await fc.assert(
      fc.asyncProperty(histories(), async (steps) => {
        const nodes = new TwoNodes();
        await nodes.perform({ kind: "block", actions: [] });
        for (const step of steps) {
          await nodes.perform(step);
          if (step.kind === "remove" || step.kind === "rewind") expectSame(nodes);
        }
        await nodes.finish();
        await nodes.keep();
        await nodes.finish();
        expectSame(nodes);
        const { pruned, start } = nodes;
        expect((await checkState(pruned)).damages).toEqual([]);
        if (start === 0) return;
        expect(readStateBase(pruned)).toBe(start);
        expect(await keysIn(pruned, prefixRange(KEY_PREFIXES.base))).toEqual(neededKeys(pruned, start));
        expect(await keysIn(pruned, trieKeysBetween(0, start + 1))).toEqual(new Set());
        expect(nodes.prunedWorld.at(BigInt(start - 1))).toBeUndefined();
      }),
      { numRuns: HISTORIES },
    );
  });
});
