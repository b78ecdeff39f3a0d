import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expectDefined } from "../../src/primitives/assert.ts";
import { toDigits } from "../../src/primitives/hex.ts";
import { StateHistory } from "../../src/state/stateHistory.ts";
import type { StateReader } from "../../src/state/stateReader.ts";
import { encodeStateHead, encodeStateRecord, readStateRecord } from "../../src/state/stateRecord.ts";
import { checkState } from "../../src/state/verifyState.ts";
import { WorldState } from "../../src/state/worldState.ts";
import { Batch } from "../../src/storage/batch.ts";
import { openEntry, sealEntry } from "../../src/storage/checksum.ts";
import { DamagedData, type Database } from "../../src/storage/database.ts";
import { KEY_PREFIXES, prefixRange } from "../../src/storage/keys.ts";
import { createMemoryDatabase, type MemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import { STATE_HEAD_KEY, stateRecordKey } from "../../src/storage/stateKeys.ts";
import { casesOf } from "../thorough.ts";
import { type Action, blockActions, type ModelState, perform, readAll } from "./stateModel.ts";

describe("state check", () => {
  it("finds nothing wrong after any blocks, cleared storage and rewinds included", async () => {
    await fc.assert(
      fc.asyncProperty(chains(), fc.nat(5), async (chain, back) => {
        const { database } = await chainOf(chain);
        expect((await checkState(database)).damages).toEqual([]);
        const world = new WorldState({ database });
        const batch = new Batch();
        const number = BigInt(Math.min(back, chain.length - 1));
        await world.rewind(number, batch);
        await database.write(batch);
        expect((await checkState(database)).damages).toEqual([]);
      }),
      { numRuns: casesOf(60) },
    );
  });

  it("counts accounts and slots", async () => {
    const { database, states } = await chainOf([SOME_BLOCK, SOME_BLOCK]);
    const { accounts, slots } = await checkState(database);
    const state = Object.values(states.at(-1) ?? {});
    expect(accounts).toBe(state.length);
    expect(slots).toBe(state.reduce((sum, account) => sum + Object.keys(account.slots).length, 0));
  });

  it("tells how far it has come while blocks change nothing", async () => {
    const { database } = await chainOf([SOME_BLOCK]);
    const record = expectDefined(readStateRecord(database, 0), "the record of genesis");
    const batch = new Batch();
    for (let number = 1; number <= 25_000; number++)
      batch.put(stateRecordKey(number), encodeStateRecord(number, record));
    batch.put(STATE_HEAD_KEY, encodeStateHead({ number: 25_000, epoch: 0 }));
    await database.write(batch);
    const seen: number[] = [];
    const { damages } = await checkState(database, ({ blocks }) => void seen.push(blocks));
    expect(damages).toEqual([]);
    expect(seen).toHaveLength(2);
    expect(seen[0]).toBeGreaterThan(9_900);
    expect(seen[1]).toBeGreaterThan(19_900);
  });

  it("detects every lost entry and a flipped bit in each", async () => {
    const { database, states } = await chainOf([SOME_BLOCK, SOME_BLOCK]);
    const entries = await stateEntries(database);
    expect(entries.length).toBeGreaterThan(15);
    // Preimages are optional, and older databases lack them: a missing one is no damage.
    const needed = entries.filter(([key]) => key[0] !== KEY_PREFIXES.preimage);
    for (const [index, [key, value]] of needed.entries()) {
      const lost = database.copy();
      await change(lost, key, undefined);
      expectNoWrongAnswer(lost, states);
      expect((await checkState(lost)).damages, `entry ${toDigits(key)} lost`).not.toEqual([]);
      const flipped = database.copy();
      const bit = (index * 37) % (value.length * 8);
      await change(
        flipped,
        key,
        value.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte)),
      );
      expectNoWrongAnswer(flipped, states);
      expect((await checkState(flipped)).damages, `entry ${toDigits(key)} flipped`).not.toEqual([]);
    }
  });

  it("detects a page with a valid checksum and a node with another hash than its parent says", async () => {
    const { database, states } = await chainOf([SOME_BLOCK, SOME_BLOCK]);
    for (const [key, sealed] of await stateEntries(database, [KEY_PREFIXES.trie])) {
      const other = database.copy();
      const page = openEntry(key, sealed, "a page").slice();
      // The last byte of the topmost node, before the two that say where it begins.
      page[page.length - 3] = (page[page.length - 3] ?? 0) ^ 1;
      await change(other, key, sealEntry(key, page));
      expectNoWrongAnswer(other, states);
      expect((await checkState(other)).damages).not.toEqual([]);
    }
  });

  it("detects flat entries without a leaf", async () => {
    const { database } = await chainOf([SOME_BLOCK]);
    const [account] = await stateEntries(database, [KEY_PREFIXES.account]);
    if (account === undefined) throw new Error("the chain has an account");
    await change(
      database,
      account[0].map((byte, at) => (at === 5 ? byte ^ 1 : byte)),
      account[1],
    );
    expect((await checkState(database)).damages).toEqual(["1 accounts at the head are in no trie"]);
  });
});

const SOME_BLOCK: readonly Action[] = [
  ...Array.from({ length: 6 }, (_, who) => ({ kind: "fund" as const, who, wei: BigInt(who) << 60n })),
  { kind: "deploy", who: 1, code: 2 },
  ...Array.from({ length: 5 }, (_, slot) => ({ kind: "slot" as const, who: 1, slot, value: 0xffffff })),
  { kind: "slot", who: 2, slot: 3, value: 1 },
];

const chains = () => fc.array(blockActions(), { minLength: 1, maxLength: 6 });

async function chainOf(
  chain: readonly (readonly Action[])[],
): Promise<{ readonly database: MemoryDatabase; readonly states: readonly ModelState[] }> {
  const database = createMemoryDatabase();
  const world = new WorldState({ database });
  const states: ModelState[] = [];
  for (const [number, actions] of chain.entries()) {
    const overlay = world.overlay();
    const state = structuredClone(states.at(-1) ?? {});
    for (const action of actions) perform(overlay, state, action);
    const staged = world.stage(overlay.changes(), BigInt(number));
    const batch = new Batch();
    staged.writeTo(batch);
    await database.write(batch);
    world.adopt(staged);
    states.push(state);
  }
  return { database, states };
}

type Entry = readonly [key: Uint8Array, value: Uint8Array];

async function stateEntries(database: Database, prefixes = Object.values(KEY_PREFIXES)): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const prefix of prefixes)
    for await (const entry of database.range(prefixRange(prefix))) entries.push(entry);
  return entries;
}

async function change(database: Database, key: Uint8Array, value: Uint8Array | undefined): Promise<void> {
  const batch = new Batch();
  if (value === undefined) batch.delete(key);
  else batch.put(key, value);
  await database.write(batch);
}

/** Each read of the damaged state returns the right value or throws DamagedData. */
function expectNoWrongAnswer(database: Database, states: readonly ModelState[]): void {
  const head = unlessDamaged(() => new WorldState({ database }).head);
  if (head !== undefined) expectState(head, states.at(-1) ?? {});
  for (const [number, state] of states.entries()) {
    const reader = unlessDamaged(() => new StateHistory(database).at(BigInt(number)));
    if (reader !== undefined) expectState(reader, state);
  }
}

function expectState(reader: StateReader, state: ModelState): void {
  const found = unlessDamaged(() => readAll(reader));
  if (found !== undefined) expect(found).toEqual(state);
}

function unlessDamaged<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof DamagedData) return undefined;
    throw error;
  }
}
