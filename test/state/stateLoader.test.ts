import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expectDefined } from "../../src/primitives/assert.ts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import { type AccountOfState, stateLeaves } from "../../src/state/stateLeaves.ts";
import { putState, StateLoader } from "../../src/state/stateLoader.ts";
import { readStateHead, readStateRecord } from "../../src/state/stateRecord.ts";
import { checkState } from "../../src/state/verifyState.ts";
import { WorldState } from "../../src/state/worldState.ts";
import { Batch } from "../../src/storage/batch.ts";
import type { Database } from "../../src/storage/database.ts";
import { putHistoryStart } from "../../src/storage/historyStart.ts";
import { createMemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import { codeKey } from "../../src/storage/stateKeys.ts";
import { EMPTY_ACCOUNT } from "../../src/types/account.ts";
import { casesOf, itIfThorough } from "../thorough.ts";
import { type addressOf, blockActions, type ModelState, perform, slotOf } from "./stateModel.ts";

const SNAPSHOT = 7;

/** A state as plain text, to be compared. */
function textOf(database: Database, number: number): string[] {
  return [...stateLeaves(database, number)].flatMap(({ hash, address, account, slots }) => [
    `${toHex(hash)} ${address && toHex(address)} ${account.nonce} ${account.balance} ${toHex(account.codeHash)}`,
    ...[...slots].map(({ hash: at, slot, value }) => `  ${toHex(at)} ${slot && toHex(slot)} ${toHex(value)}`),
  ]);
}

/** Loads the newest state of `from` into a new database, as that of block SNAPSHOT. */
async function load(from: Database): Promise<Database> {
  const into = createMemoryDatabase();
  const loader = new StateLoader(into, SNAPSHOT - 1);
  for (const { slots, ...account } of stateLeaves(
    from,
    expectDefined(readStateHead(from), "a state").number,
  )) {
    const code = from.get(codeKey(account.account.codeHash));
    if (code !== undefined) loader.addCode(code);
    loader.addAccount(account);
    for (const slot of slots) loader.addSlot(slot);
  }
  const record = await loader.finish();
  const batch = new Batch();
  putState(batch, SNAPSHOT, record);
  putHistoryStart(batch, { headers: 1n, blocks: BigInt(SNAPSHOT), states: BigInt(SNAPSHOT) });
  await into.write(batch);
  return into;
}

const rootOf = (database: Database, number: number) =>
  toHex(expectDefined(readStateRecord(database, number), "a state").root.hash);

async function commit(
  database: Database,
  world: WorldState,
  number: number,
  change: (overlay: ReturnType<typeof world.overlay>) => void,
): Promise<void> {
  const overlay = world.overlay();
  change(overlay);
  const staged = world.stage(overlay.changes(), BigInt(number));
  const batch = new Batch();
  staged.writeTo(batch);
  await database.write(batch);
  world.adopt(staged);
}

describe("the state loader", () => {
  it("rebuilds any state from its leaves: same root, sound, and both go on alike", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(blockActions(), { minLength: 1, maxLength: 5 }),
        blockActions(),
        async (blocks, next) => {
          const database = createMemoryDatabase();
          const world = new WorldState({ database });
          const model: ModelState = {};
          for (const [number, actions] of blocks.entries())
            await commit(database, world, number, (overlay) => {
              for (const action of actions) perform(overlay, model, action);
            });
          const head = blocks.length - 1;
          const copy = await load(database);
          expect(rootOf(copy, SNAPSHOT)).toBe(rootOf(database, head));
          expect(textOf(copy, SNAPSHOT)).toEqual(textOf(database, head));
          expect((await checkState(copy)).damages).toEqual([]);

          const loaded = new WorldState({ database: copy });
          const models = [structuredClone(model), structuredClone(model)] as const;
          await commit(database, world, head + 1, (overlay) => {
            for (const action of next) perform(overlay, models[0], action);
          });
          await commit(copy, loaded, SNAPSHOT + 1, (overlay) => {
            for (const action of next) perform(overlay, models[1], action);
          });
          expect(rootOf(copy, SNAPSHOT + 1)).toBe(rootOf(database, head + 1));
          expect((await checkState(copy)).damages).toEqual([]);
          expect(textOf(copy, SNAPSHOT)).toEqual(textOf(database, head));
        },
      ),
      { numRuns: casesOf(60) },
    );
  });

  itIfThorough("rebuilds a state whose tries fill many pages", async () => {
    const database = createMemoryDatabase();
    const world = new WorldState({ database });
    const nth = (index: number) => bigintToFixedBytes(BigInt(index), 20) as ReturnType<typeof addressOf>;
    await commit(database, world, 0, (overlay) => {
      for (let index = 1; index <= 3000; index++)
        overlay.putAccount(nth(index), { ...EMPTY_ACCOUNT, balance: BigInt(index) ** 5n });
      for (let index = 0; index < 2000; index++)
        overlay.putStorage(nth(1), bigintToFixedBytes(BigInt(index), 32), Uint8Array.of(1 + (index % 255)));
    });
    const copy = await load(database);
    expect(rootOf(copy, SNAPSHOT)).toBe(rootOf(database, 0));
    expect(await checkState(copy)).toMatchObject({ accounts: 3000, slots: 2000, damages: [] });
  });

  it("refuses leaves out of order, a storage root that differs, and code that is missing", () => {
    const account = (key: number, change: Partial<AccountOfState["account"]> = {}): AccountOfState => ({
      hash: bigintToFixedBytes(BigInt(key), 32) as AccountOfState["hash"],
      address: undefined,
      account: { ...EMPTY_ACCOUNT, nonce: 1n, ...change },
    });
    const loader = () => new StateLoader(createMemoryDatabase(), 1);
    const ordered = loader();
    ordered.addAccount(account(2));
    expect(() => ordered.addAccount(account(2))).toThrow("accounts are not in the order");
    const slots = loader();
    slots.addAccount(account(1, { storageRoot: keccak256(Uint8Array.of(1)) }));
    slots.addSlot({ hash: account(9).hash, slot: slotOf(1), value: Uint8Array.of(1) });
    expect(() => slots.addSlot({ hash: account(8).hash, slot: undefined, value: Uint8Array.of(1) })).toThrow(
      "not in the order of their hashes",
    );
    expect(() => slots.addAccount(account(3))).toThrow("its account names");
    expect(() => loader().addAccount(account(1, { codeHash: keccak256(Uint8Array.of(1)) }))).toThrow(
      "is missing",
    );
  });
});
