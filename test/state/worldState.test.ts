import { verifyMerkleProof } from "@ethereumjs/mpt";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Address, asAddress } from "../../src/primitives/address.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { EMPTY_TRIE_ROOT, keccak256 } from "../../src/primitives/hash.ts";
import { toDigits, toHex } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import { BranchTooLarge } from "../../src/state/branch.ts";
import { JournaledOverlay, type Overlay } from "../../src/state/overlay.ts";
import { StateHistory } from "../../src/state/stateHistory.ts";
import { checkState } from "../../src/state/verifyState.ts";
import { type StagedState, WorldState } from "../../src/state/worldState.ts";
import { Batch } from "../../src/storage/batch.ts";
import type { Database } from "../../src/storage/database.ts";
import { createMemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import { STATE_HEAD_KEY, stateRecordKey } from "../../src/storage/stateKeys.ts";
import { EMPTY_ACCOUNT } from "../../src/types/account.ts";
import { digestOf } from "../builders/batchDigest.ts";
import { encodeAccount } from "../builders/encodeAccount.ts";
import { countSteps } from "../primitives/countSteps.ts";
import { casesOf, itIfThorough } from "../thorough.ts";
import {
  type Action,
  ADDRESSES,
  addressOf,
  blockActions,
  type ModelState,
  oracleRoot,
  perform,
  readAll,
  SLOTS,
  slotOf,
} from "./stateModel.ts";

const blocks = () => fc.array(blockActions(), { minLength: 1, maxLength: 7 });

describe("world state", () => {
  it("has the library's root after each block, and keeps every old block readable", async () => {
    await fc.assert(
      fc.asyncProperty(blocks(), async (chain) => {
        const node = new Node();
        for (const actions of chain) {
          const staged = await node.commit(actions);
          expect(toHex(staged.root)).toBe(toHex(await oracleRoot(node.state)));
        }
        node.expectAllReads();
        // The same with cold caches, as after a start and in a worker thread.
        new Node(node.database, node.states).expectAllReads();
      }),
      { numRuns: casesOf(120) },
    );
  });

  it("rewinds to an earlier block and continues from there", async () => {
    await fc.assert(
      fc.asyncProperty(blocks(), fc.nat(6), blocks(), async (chain, back, other) => {
        const node = new Node();
        for (const actions of chain) await node.commit(actions);
        node.expectAllReads();
        await node.rewind(Math.min(back, chain.length - 1));
        node.expectAllReads();
        for (const actions of other) {
          const staged = await node.commit(actions);
          expect(toHex(staged.root)).toBe(toHex(await oracleRoot(node.state)));
        }
        node.expectAllReads();
        new Node(node.database, node.states).expectAllReads();
      }),
      { numRuns: casesOf(120) },
    );
  });

  it("simulates states on top of any block, with the library's roots, without storing them", async () => {
    await fc.assert(
      fc.asyncProperty(blocks(), fc.nat(6), blocks(), async (chain, back, other) => {
        const node = new Node();
        for (const actions of chain) await node.commit(actions);
        const from = Math.max(0, chain.length - 1 - back);
        const branch = expectDefined(node.otherReader.branch(BigInt(from)), "the branch");
        let state = expectDefined(node.states[from], "the model");
        for (const actions of other) {
          const overlay = new JournaledOverlay(branch.head);
          state = structuredClone(state);
          for (const action of actions) perform(overlay, state, action);
          expect(toHex(branch.extend(overlay.changes()))).toBe(toHex(await oracleRoot(state)));
          expect(readAll(branch.head)).toEqual(state);
        }
        node.expectAllReads();
      }),
      { numRuns: casesOf(60) },
    );
  });

  it("stops a branch that takes too much memory", async () => {
    const node = new Node();
    await node.commit([]);
    const branch = expectDefined(node.otherReader.branch(0n, 1000), "the branch");
    const overlay = new JournaledOverlay(branch.head);
    for (let i = 0; i < 100; i++) overlay.putAccount(numberedAddress(i), EMPTY_ACCOUNT);
    expect(() => branch.extend(overlay.changes())).toThrow(BranchTooLarge);
  });

  it("proves accounts and slots, and their absence, so that the library agrees", async () => {
    await fc.assert(
      fc.asyncProperty(blocks(), async (chain) => {
        const node = new Node();
        for (const actions of chain) await node.commit(actions);
        for (const [number, state] of node.states.entries())
          for (let who = 0; who < ADDRESSES; who++) await expectProof(node.world, number, who, state);
      }),
      { numRuns: casesOf(15) },
    );
  });

  it("keeps the staged states of one height apart and adopts one", async () => {
    const node = new Node();
    await node.commit([{ kind: "fund", who: 1, wei: 10n }]);
    const first = node.stage([{ kind: "fund", who: 1, wei: 20n }]);
    const second = node.stage([{ kind: "fund", who: 1, wei: 30n }]);
    await node.adopt(second);
    expect(node.world.head.account(addressOf(1))?.balance).toBe(30n);
    expect(() => node.world.adopt(first)).toThrow("staged for");
  });

  it("derives two states in interleaved steps, each as if alone", async () => {
    const database = createMemoryDatabase();
    const world = new WorldState({ database });
    const genesis = world.overlay();
    for (let i = 0; i < 2 * CHANGED; i++) genesis.putAccount(numberedAddress(i), LARGE_ACCOUNT);
    await commit(world, database, genesis, 0n);
    const overlays = [1n, 2n].map((wei) => manyChanges(world, wei));
    const roots = overlays.map((overlay) => toHex(world.stage(overlay.changes(), 1n).root));
    const staging = overlays.map((overlay) => world.stageInSteps(overlay, 1n));
    const staged: StagedState[] = [];
    let pauses = 0;
    while (staged.length < staging.length) {
      for (const [index, steps] of staging.entries()) {
        const { done, value } = steps.next();
        if (done === true && value !== undefined) staged[index] = value as StagedState;
        else if (done !== true) pauses++;
      }
    }
    expect(staged.map(({ root }) => toHex(root))).toEqual(roots);
    expect(pauses).toBeGreaterThan(2 * (CHANGED / 64 + CHANGED / 128));
    const [whole, sliced] = [new Batch(), new Batch()];
    expectDefined(staged[0], "the first").writeTo(whole);
    expect(countSteps(expectDefined(staged[0], "the first").writeInSteps(sliced)).pauses).toBeGreaterThan(
      CHANGED / 128,
    );
    expect(digestOf(sliced)).toBe(digestOf(whole));
    await database.write(sliced);
    expect(countSteps(world.prepareInSteps(expectDefined(staged[0], "the first"))).pauses).toBeGreaterThan(0);
    expect(world.head.account(numberedAddress(0))?.balance).toBe(LARGE_ACCOUNT.balance);
    world.adopt(expectDefined(staged[0], "the first"));
    expect(world.head.account(numberedAddress(0))?.balance).toBe(1n);
    expect(await checkState(database)).toMatchObject({});
  });

  it("refuses to continue staging once the head has moved", async () => {
    const database = createMemoryDatabase();
    const world = new WorldState({ database });
    await commit(world, database, world.overlay(), 0n);
    const steps = world.stageInSteps(manyChanges(world, 1n), 1n);
    expect(steps.next().done).toBe(false);
    await commit(world, database, manyChanges(world, 2n), 1n);
    expect(() => steps.next()).toThrow("as long as its base is the head's");
  });

  itIfThorough("reads one consistent state while a batch is being written", async () => {
    const database = createMemoryDatabase();
    const world = new WorldState({ database }, SMALLEST_LIMITS);
    const genesis = world.overlay();
    for (let i = 0; i < OTHERS; i++) genesis.putAccount(numberedAddress(i), LARGE_ACCOUNT);
    perform(genesis, {}, { kind: "fund", who: 1, wei: 10n });
    await commit(world, database, genesis, 0n);
    const overlay = world.overlay();
    perform(overlay, {}, { kind: "fund", who: 1, wei: 99n });
    perform(overlay, {}, { kind: "fund", who: 2, wei: 99n });
    const staged = world.stage(overlay.changes(), 1n);
    const batch = new Batch();
    staged.writeTo(batch);
    await database.write(batch);
    evictAccounts(world);
    expect(world.head.account(addressOf(1))?.balance).toBe(10n);
    expect(world.head.account(addressOf(2))).toBeUndefined();
    world.adopt(staged);
    evictAccounts(world);
    expect(world.head.account(addressOf(1))?.balance).toBe(99n);
    expect(world.head.account(addressOf(2))?.balance).toBe(99n);
  });

  it("reads the head's state at each step in which the next one is prepared, and that one from its adoption on", async () => {
    const database = createMemoryDatabase();
    const world = new WorldState({ database });
    await commit(world, database, world.overlay(), 0n);
    await commit(world, database, manyChanges(world, 1n), 1n);
    const staged = world.stage(manyChanges(world, 2n).changes(), 2n);
    const batch = new Batch();
    staged.writeTo(batch);
    await database.write(batch);
    const some = [0, 1, CHANGED / 2, CHANGED - 1];
    const read = (): unknown[] =>
      some.map((at) => [
        world.head.account(numberedAddress(at))?.balance,
        world.head.storage(numberedAddress(0), numberedSlot(at))[0],
      ]);
    const expected = (wei: number): unknown[] => some.map(() => [BigInt(wei), wei]);
    let steps = 0;
    for (const _ of world.prepareInSteps(staged)) {
      steps++;
      expect(read()).toEqual(expected(1));
    }
    expect(steps).toBeGreaterThan((2 * CHANGED) / 200);
    expect(read()).toEqual(expected(1));
    world.adopt(staged);
    expect(read()).toEqual(expected(2));
  });

  it("starts with an empty state and refuses any block but the next", async () => {
    const node = new Node();
    expect(node.world.at(0n)).toBeUndefined();
    const empty = { accounts: [], code: [] };
    expect(() => node.world.stage(empty, 1n)).toThrow();
    expect(toHex(node.world.stage(empty, 0n).root)).toBe(toHex(EMPTY_TRIE_ROOT));
    await node.commit([{ kind: "fund", who: 3, wei: 1n }]);
    expect(() => node.world.stage(empty, 3n)).toThrow();
    expect(node.world.at(1n)).toBeUndefined();
    expect(node.world.at(-1n)).toBeUndefined();
  });

  it("says what is missing when the records of the states are gone", async () => {
    const node = new Node();
    await node.commit([{ kind: "fund", who: 1, wei: 10n }]);
    const { world, database } = new Node(node.database, node.states);
    const batch = new Batch();
    batch.delete(STATE_HEAD_KEY);
    batch.delete(stateRecordKey(0));
    await database.write(batch);
    const reads = [
      () => world.at(0n),
      () => world.prove(0n, addressOf(1), []),
      () => new StateHistory(database).at(0n),
    ];
    for (const read of reads) expect(read).toThrow(/record of the newest state is missing/);
  });

  itIfThorough(
    "has the same root after many blocks as after one, with thousands of accounts and slots",
    async () => {
      const random = fc.sample(fc.tuple(fc.nat(4000), fc.nat(2), fc.nat(3000), fc.nat(200)), {
        numRuns: 9000,
        seed: 7,
      });
      const database = createMemoryDatabase();
      const world = new WorldState({ database });
      const balances = new Map<number, bigint>();
      const slots = new Map<number, number>();
      const contract = numberedAddress(5000);
      for (let number = 0; number < 9; number++) {
        const overlay = world.overlay();
        overlay.putAccount(contract, { ...EMPTY_ACCOUNT, nonce: 1n });
        for (const [who, kind, slot, value] of random.slice(number * 1000, number * 1000 + 1000)) {
          if (kind === 0) balances.delete(who);
          else balances.set(who, BigInt(value));
          overlay.putAccount(
            numberedAddress(who),
            kind === 0 ? undefined : { ...EMPTY_ACCOUNT, balance: BigInt(value) },
          );
          overlay.putStorage(
            contract,
            numberedSlot(slot),
            value < 60 ? new Uint8Array(0) : Uint8Array.of(value),
          );
          if (value < 60) slots.delete(slot);
          else slots.set(slot, value);
        }
        await commit(world, database, overlay, BigInt(number));
      }
      const whole = new WorldState({ database: createMemoryDatabase() });
      const overlay = whole.overlay();
      overlay.putAccount(contract, { ...EMPTY_ACCOUNT, nonce: 1n });
      for (const [who, balance] of balances)
        overlay.putAccount(numberedAddress(who), { ...EMPTY_ACCOUNT, balance });
      for (const [slot, value] of slots)
        overlay.putStorage(contract, numberedSlot(slot), Uint8Array.of(value));
      const expected = whole.stage(overlay.changes(), 0n);
      const empty = { accounts: [], code: [] };
      expect(toHex(world.stage(empty, 9n).root)).toBe(toHex(expected.root));
      expect((await checkState(database)).damages).toEqual([]);
    },
  );

  it("writes a genesis of 20,000 accounts as a few pages of many nodes", async () => {
    const world = new WorldState({ database: createMemoryDatabase() });
    const overlay = world.overlay();
    for (let i = 0; i < 20_000; i++)
      overlay.putAccount(numberedAddress(i), { ...EMPTY_ACCOUNT, balance: 7n });
    const batch = new Batch();
    world.stage(overlay.changes(), 0n).writeTo(batch);
    // Each account has a flat entry and a preimage.
    expect(batch.operations.length).toBeGreaterThan(40_000);
    expect(batch.operations.length).toBeLessThan(42_500);
  });
});

/** Reads other accounts until they have displaced everything else from the smallest cache, of a megabyte. */
function evictAccounts(world: WorldState): void {
  for (let round = 0; round < 2; round++)
    for (let i = 0; i < OTHERS; i++) world.head.account(numberedAddress(i));
}

const OTHERS = 12_000;
/** An account with the largest entry without storage: some hundred bytes with its address. */
const LARGE_ACCOUNT = {
  ...EMPTY_ACCOUNT,
  nonce: 2n ** 64n - 1n,
  balance: 2n ** 256n - 1n,
  codeHash: keccak256(Uint8Array.of(1)),
};

function numberedAddress(number: number): Address {
  return asAddress(bigintToFixedBytes(BigInt(number), 20));
}

function numberedSlot(number: number): Uint8Array {
  return bigintToFixedBytes(BigInt(number), 32);
}

const CHANGED = 1000;

/** Changes many accounts, and many slots of one of them. */
function manyChanges(world: WorldState, wei: bigint): Overlay {
  const overlay = world.overlay();
  for (let i = 0; i < CHANGED; i++)
    overlay.putAccount(numberedAddress(i), { ...LARGE_ACCOUNT, balance: wei });
  for (let i = 0; i < CHANGED; i++)
    overlay.putStorage(numberedAddress(0), bigintToFixedBytes(BigInt(i), 32), bigintToFixedBytes(wei, 1));
  return overlay;
}

async function commit(
  world: WorldState,
  database: Database,
  overlay: Overlay,
  number: bigint,
): Promise<void> {
  const staged = world.stage(overlay.changes(), number);
  const batch = new Batch();
  staged.writeTo(batch);
  await database.write(batch);
  world.adopt(staged);
}

/** A world state over a database, with a model of every block. */
class Node {
  readonly database: Database;
  readonly world: WorldState;
  /** Reads the same database without notice of commits and rewinds, as a worker thread does. */
  readonly otherReader: StateHistory;
  /** The model after each block. */
  states: ModelState[];

  constructor(database: Database = createMemoryDatabase(), states: ModelState[] = []) {
    this.database = database;
    this.states = states;
    this.world = new WorldState({ database });
    this.otherReader = new StateHistory(database);
  }

  get state(): ModelState {
    return this.states.at(-1) ?? {};
  }

  async commit(actions: readonly Action[]): Promise<StagedState> {
    const overlay = this.world.overlay();
    const next = structuredClone(this.state);
    for (const action of actions) perform(overlay, next, action);
    const staged = this.world.stage(overlay.changes(), BigInt(this.states.length));
    await this.adopt(staged);
    this.states.push(next);
    return staged;
  }

  stage(actions: readonly Action[]): StagedState {
    const overlay = this.world.overlay();
    const next = structuredClone(this.state);
    for (const action of actions) perform(overlay, next, action);
    return this.world.stage(overlay.changes(), BigInt(this.states.length));
  }

  async adopt(staged: StagedState): Promise<void> {
    const batch = new Batch();
    staged.writeTo(batch);
    await this.database.write(batch);
    this.world.adopt(staged);
  }

  async rewind(number: number): Promise<void> {
    const batch = new Batch();
    await this.world.rewind(BigInt(number), batch);
    await this.database.write(batch);
    this.world.reload(BigInt(number));
    this.states = this.states.slice(0, number + 1);
  }

  expectAllReads(): void {
    expect(readAll(this.world.head)).toEqual(this.state);
    for (const [number, state] of this.states.entries()) {
      const [ours, theirs] = [this.world.at(BigInt(number)), this.otherReader.at(BigInt(number))];
      if (ours === undefined || theirs === undefined) throw new Error(`block ${number} is not stored`);
      expect(readAll(ours)).toEqual(state);
      expect(readAll(theirs)).toEqual(state);
    }
    expect(this.world.at(BigInt(this.states.length))).toBeUndefined();
  }
}

const SMALLEST_LIMITS = {
  nodeCacheBytes: 0,
  accountCacheBytes: 0,
  slotCacheBytes: 0,
  pageCacheBytes: 0,
  codeCacheBytes: 0,
};

async function expectProof(world: WorldState, number: number, who: number, state: ModelState): Promise<void> {
  const slots = Array.from({ length: SLOTS }, (_, slot) => slotOf(slot));
  const proof = world.prove(BigInt(number), addressOf(who), slots);
  if (proof === undefined) throw new Error(`block ${number} is not stored`);
  const model = state[toDigits(addressOf(who))];
  expect(proof.account === undefined).toBe(model === undefined);
  const root = keccak256(proof.accountProof[0] ?? Uint8Array.of(0x80));
  if (Object.keys(state).length > 0) {
    expect(toHex(root)).toBe(toHex(await oracleRoot(state)));
    const leaf = await verifyMerkleProof(keccak256(addressOf(who)), [...proof.accountProof]);
    expect(leaf ?? undefined).toEqual(proof.account === undefined ? undefined : encodeAccount(proof.account));
  }
  for (const { slot, value, proof: nodes } of proof.storageProof) {
    expect(toDigits(value)).toBe(model?.slots[toDigits(slot)] ?? "");
    if (nodes.length === 0) continue;
    expect(toHex(keccak256(nodes[0] ?? slot))).toBe(toHex(proof.account?.storageRoot ?? slot));
    const leaf = await verifyMerkleProof(keccak256(slot), [...nodes]);
    expect(leaf === null).toBe(value.length === 0);
  }
}
