import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { queryState } from "../../src/calls/queryState.ts";
import { HISTORY_CONTRACT } from "../../src/execution/systemCalls.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes, bytesToBigint } from "../../src/primitives/quantity.ts";
import { beginTimeSlice } from "../../src/primitives/timeSlice.ts";
import { type DumpedAccount, packAccounts, unpackAccounts } from "../../src/state/dump/dumpedAccount.ts";
import { DUMP_LIMITS } from "../../src/state/dump/dumpLimits.ts";
import { StateHistory } from "../../src/state/stateHistory.ts";
import { accountFromSeed } from "../builders/testAccounts.ts";
import { itIfThorough } from "../thorough.ts";
import { aDevelopmentChain } from "./aDevelopmentChain.ts";

type DevelopmentChain = Awaited<ReturnType<typeof aDevelopmentChain>>;

const [NOBODY, OTHER] = [accountFromSeed(77).address, accountFromSeed(78).address];
const CODE = Uint8Array.of(0x60, 0x00);
const ENTRY_BYTES = 64;

const word = (value: bigint): Uint8Array => bigintToFixedBytes(value, 32);
const slotsOf = (values: Readonly<Record<number, bigint>>): Uint8Array =>
  Buffer.concat(Object.entries(values).flatMap(([slot, value]) => [word(BigInt(slot)), word(value)]));

const anAccount = (changes: Partial<DumpedAccount> = {}): DumpedAccount => ({
  ...{ address: NOBODY, nonce: 3n, balanceWei: 9n, code: CODE, slots: slotsOf({ 5: 6n }) },
  ...changes,
});

function storedOf({ spec, database }: DevelopmentChain) {
  return { spec, database, history: new StateHistory(database) };
}

async function dumpOf(node: DevelopmentChain): Promise<Uint8Array> {
  const { number } = node.chain.head.header;
  const found = await queryState(storedOf(node), { kind: "dump", blockNumber: number });
  if (found.kind !== "dump") throw new Error(found.kind);
  return found.gzip;
}

async function readOf(node: DevelopmentChain, dump: Uint8Array) {
  const found = await queryState(storedOf(node), { kind: "readDump", dump });
  return found.kind === "read" ? [...unpackAccounts(found.accounts)] : found;
}

const textDump = (content: unknown): Uint8Array => Buffer.from(JSON.stringify(content));

/** What a state has of an account: nonce, balance, code and some slots. */
function seen({ chain }: DevelopmentChain, slots: readonly number[] = [], address = NOBODY) {
  const state = chain.stateAt(chain.head.header.number);
  const account = state?.account(address);
  if (state === undefined || account === undefined) return undefined;
  const { nonce, balance, codeHash } = account;
  const values = slots.map((slot) => bytesToBigint(state.storage(address, word(BigInt(slot)))));
  return { nonce, balance, code: toHex(state.code(codeHash)), slots: values };
}

describe("a dump of a state", () => {
  it("is what anvil writes, without blocks", async () => {
    const node = await aDevelopmentChain();
    await node.development.load(packAccounts([anAccount()]));
    const { accounts, ...others } = JSON.parse(gunzipSync(await dumpOf(node)).toString());
    expect(others).toEqual({
      ...{ block: null, best_block_number: null, blocks: [], transactions: [], historical_states: null },
    });
    expect(accounts[toHex(NOBODY)]).toEqual({
      nonce: 3,
      balance: "0x9",
      code: "0x6000",
      storage: { [toHex(word(5n))]: toHex(word(6n)) },
    });
    expect(Object.keys(accounts)).toHaveLength(11);
  });

  it("has not the contract of past block hashes, which each chain writes itself", async () => {
    const node = await aDevelopmentChain();
    await node.development.mine({ blocks: 3 });
    const text = gunzipSync(await dumpOf(node)).toString();
    expect(text).not.toContain(toHex(HISTORY_CONTRACT));
    const [address, other] = [toHex(HISTORY_CONTRACT), toHex(NOBODY)];
    const account = { nonce: 0, balance: "0x1", code: "0x", storage: {} };
    const read = await readOf(node, textDump({ accounts: { [address]: account, [other]: account } }));
    expect(read).toMatchObject([{ address: NOBODY }]);
  });

  it("is read again as it was written, also a nonce that numbers of JSON cannot hold", async () => {
    const node = await aDevelopmentChain();
    const account = anAccount({ nonce: 2n ** 64n - 2n, balanceWei: 2n ** 256n - 1n });
    await node.development.load(packAccounts([account]));
    const read = await readOf(node, await dumpOf(node));
    expect(read).toContainEqual({ ...account, slots: Uint8Array.from(account.slots) });
  });

  it("is given up within a slice of time, and refused where it would be too large", async () => {
    const node = await aDevelopmentChain();
    await node.development.mine({ blocks: 1 });
    const times = { nowMs: () => now++, cpuMs: () => now };
    let now = 0;
    const slice = beginTimeSlice({ cpuMs: 1, longestMs: 1 }, times);
    await expect(queryState({ ...storedOf(node), slice }, { kind: "dump", blockNumber: 1n })).rejects.toThrow(
      "first slice",
    );
    const code = new Uint8Array(DUMP_LIMITS.codeBytes + 1);
    await node.development.alter([{ kind: "code", address: NOBODY, code }]);
    expect(await queryState(storedOf(node), { kind: "dump", blockNumber: 2n })).toEqual({
      kind: "tooLargeToDump",
    });
  });
});

describe("a dump that is read", () => {
  it("may be of anvil, of any version, and as gzip or as text", async () => {
    const node = await aDevelopmentChain();
    const accounts = {
      [toHex(NOBODY)]: { nonce: 3, balance: "0x9", code: "0x6000", storage: { "0x5": "0x6" } },
    };
    const dump = textDump({ block: { number: "0x9" }, accounts, blocks: [{}], transactions: [{}] });
    const expected = [anAccount({ slots: Uint8Array.from(slotsOf({ 5: 6n })) })];
    expect(await readOf(node, dump)).toEqual(expected);
    expect(await readOf(node, gzipSync(dump))).toEqual(expected);
  });

  it("is refused with the reason where it is none", async () => {
    const node = await aDevelopmentChain();
    const account = (changes: object) => ({
      accounts: { [toHex(NOBODY)]: { nonce: 1, balance: "0x1", code: "0x", storage: {}, ...changes } },
    });
    for (const [content, why] of [
      [null, "is no object"],
      [[], "is no object"],
      [{}, "its accounts is no object"],
      [{ accounts: { "0x12": {} } }, '"0x12" is no address'],
      [{ accounts: { [toHex(NOBODY)]: null } }, "is no object"],
      [account({ nonce: -1 }), "the nonce"],
      [account({ nonce: 2 ** 60 }), "the nonce"],
      [account({ nonce: "0xffffffffffffffff" }), "the nonce"],
      [account({ balance: `0x1${"0".repeat(64)}` }), "the balance"],
      [account({ balance: 5 }), "the balance"],
      [account({ code: "0x1" }), "the code"],
      [account({ code: 5 }), "the code"],
      [account({ code: `0x${"00".repeat(DUMP_LIMITS.accountCodeBytes + 1)}` }), "the code"],
      [account({ storage: { abc: "0x1" } }), "a slot of"],
      [account({ storage: { "0x1": 1 } }), "a slot of"],
    ] as const)
      expect(await readOf(node, textDump(content))).toEqual({
        kind: "unreadable",
        why: expect.stringContaining(why),
      });
    for (const bytes of ["0x", "0x12", "0x1f8b", `0x${"5b".repeat(100_000)}`])
      expect(await readOf(node, hexToBytes(bytes))).toMatchObject({ kind: "unreadable" });
  });

  itIfThorough("is bounded in text, accounts, slots and code before anything is made of it", async () => {
    const node = await aDevelopmentChain();
    const long = gzipSync(Buffer.alloc(DUMP_LIMITS.textBytes + 1, 0x20));
    expect(await readOf(node, long)).toMatchObject({
      why: expect.stringContaining("its text has more than"),
    });
    const none = { nonce: 0, balance: "0x0", code: "0x", storage: {} };
    const address = (index: number) => `0x${index.toString(16).padStart(40, "0")}`;
    const many = Array.from({ length: DUMP_LIMITS.entries + 1 }, (_, index) => [address(index), none]);
    expect(await readOf(node, textDump({ accounts: Object.fromEntries(many) }))).toMatchObject({
      why: expect.stringContaining("accounts and slots"),
    });
    const code = `0x${"00".repeat(DUMP_LIMITS.accountCodeBytes)}`;
    const coded = Array.from({ length: 17 }, (_, index) => [address(index), { ...none, code }]);
    expect(await readOf(node, textDump({ accounts: Object.fromEntries(coded) }))).toMatchObject({
      why: expect.stringContaining("its code has more than"),
    });
  });

  itIfThorough(
    "is bounded in lists, objects and members before it is parsed, which would take a gigabyte",
    async () => {
      const node = await aDevelopmentChain();
      const repeated = (text: string) => gzipSync(Buffer.alloc(DUMP_LIMITS.textBytes, text));
      for (const text of ["[", '{"a":']) {
        const why = expect.stringContaining("lists and objects more than 1000 deep");
        expect(await readOf(node, repeated(text))).toEqual({ kind: "unreadable", why });
      }
      for (const text of ["[],", '"a":1,'])
        expect(await readOf(node, repeated(text))).toMatchObject({ why: expect.stringContaining("parts") });
      const marks = `${"[{:,".repeat(DUMP_LIMITS.textParts)}\\"\\\\`;
      expect(await readOf(node, Buffer.from(`{"a":"${marks}","accounts":{}}`))).toEqual([]);
    },
  );

  it("is given up within a slice of time where it is long, or has a long text", async () => {
    const node = await aDevelopmentChain();
    const slice = beginTimeSlice({ cpuMs: 1000, longestMs: 1000 }, { nowMs: () => 0, cpuMs: () => 0 });
    const text = Buffer.alloc(100_000, " ");
    for (const dump of [text, gzipSync(text)]) {
      const job = { kind: "readDump", dump } as const;
      await expect(queryState({ ...storedOf(node), slice }, job)).rejects.toThrow("first slice");
    }
  });
});

describe("a dump that is loaded", () => {
  it("takes the place of accounts, but for higher nonces and slots that it does not name", async () => {
    const node = await aDevelopmentChain();
    const { development } = node;
    await development.load(packAccounts([anAccount({ nonce: 7n, slots: slotsOf({ 1: 1n, 2: 2n }) })]));
    await development.load(
      packAccounts([anAccount({ code: new Uint8Array(0), slots: slotsOf({ 2: 0n, 3: 3n }) })]),
    );
    expect(seen(node, [1, 2, 3])).toEqual({ nonce: 7n, balance: 9n, code: "0x", slots: [1n, 0n, 3n] });
    expect(node.chain.head.header.number).toBe(2n);
    const nothing = { address: OTHER, nonce: 0n, balanceWei: 0n, code: new Uint8Array(0) };
    await development.load(packAccounts([anAccount({ ...nothing, slots: slotsOf({ 1: 0n }) })]));
    expect(seen(node, [], OTHER)).toBeUndefined();
  });

  it("goes from one chain to another", async () => {
    const [from, to] = [await aDevelopmentChain(), await aDevelopmentChain()];
    await from.development.load(packAccounts([anAccount()]));
    await to.development.load(packAccounts((await readOf(to, await dumpOf(from))) as DumpedAccount[]));
    expect(seen(to, [5])).toEqual(seen(from, [5]));
    expect(gunzipSync(await dumpOf(to)).equals(gunzipSync(await dumpOf(from)))).toBe(true);
  });

  it("is divided into altered blocks of some thousand accounts and slots, of which a later one adds to the one before", async () => {
    const node = await aDevelopmentChain();
    const slots = new Uint8Array(12_000 * ENTRY_BYTES);
    for (let index = 0; index < 12_000; index++)
      slots.set(slotsOf({ [index]: 1n + BigInt(index) }), index * ENTRY_BYTES);
    const other = anAccount({ address: OTHER });
    await node.development.load(packAccounts([other, anAccount({ slots })]));
    expect(node.chain.head.header.number).toBe(4n);
    expect(seen(node, [0, 4998, 4999, 9999, 11_999])).toEqual({
      ...{ nonce: 3n, balance: 9n, code: "0x6000" },
      slots: [1n, 4999n, 5000n, 10_000n, 12_000n],
    });
    expect(seen(node, [5], OTHER)).toMatchObject({ slots: [6n] });
  });

  it("is refused while something forbids blocks", async () => {
    const node = await aDevelopmentChain({ whyHalted: () => "the disk is full" });
    expect(await node.development.load(packAccounts([anAccount()]))).toMatchObject({
      error: { code: "halted" },
    });
    expect(seen(node)).toBeUndefined();
  });
});
