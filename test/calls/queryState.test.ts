import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { queryState, type StoredStates } from "../../src/calls/queryState.ts";
import { DEV_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import { type Address, asAddress } from "../../src/primitives/address.ts";
import { asHash, type Hash, keccak256, ZERO_HASH } from "../../src/primitives/hash.ts";
import { compareBytes, hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { recordsOf } from "../../src/primitives/packedBytes.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import { encodeRlpList, encodeRlpString } from "../../src/primitives/rlp.ts";
import { StateHistory } from "../../src/state/stateHistory.ts";
import { decodeBlock } from "../../src/types/block.ts";
import { aChain } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { sealedDevBlocks } from "../builders/sealedChain.ts";
import { account } from "../builders/testAccounts.ts";

/** Stores the second word of its input in the slot given by the first. */
const STORE = "602035600035 55 00".replaceAll(" ", "");
const INIT_CODE = hexToBytes(`0x67${STORE.padEnd(16, "0")}60005260086018f3`);

const CONTRACT: Address = asAddress(
  keccak256(encodeRlpList([encodeRlpString(account(0).address), encodeRlpString(new Uint8Array())])).slice(
    12,
  ),
);

function store(nonce: bigint, slot: bigint, value: bigint) {
  const data = Uint8Array.from([...bigintToFixedBytes(slot, 32), ...bigintToFixedBytes(value, 32)]);
  return aTransaction({ nonce, to: CONTRACT, value: 0n, data });
}

function hashOf(slot: bigint): Hash {
  return keccak256(bigintToFixedBytes(slot, 32));
}

let stored: StoredStates;

/** Block 1 creates the contract; block 2 sets slots 1 and 2, and changes and clears them again. */
beforeAll(async () => {
  const blocks = await sealedDevBlocks([
    [aTransaction({ nonce: 0n, to: undefined, value: 0n, data: INIT_CODE }), store(1n, 7n, 7n)],
    [store(2n, 1n, 0x11n), store(3n, 2n, 0x22n), store(4n, 1n, 0x12n), store(5n, 7n, 0n)],
  ]);
  const { chain, spec, database } = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8") });
  for (const bytes of blocks.slice(1)) {
    const block = decodeBlock(bytes);
    const imported = block.ok ? await chain.importBlock(block.value) : block;
    if (!imported.ok) throw new Error(imported.error.message);
  }
  stored = { spec, database, history: new StateHistory(database) };
});

async function slotsAt(transactions: number, from: Hash = ZERO_HASH, limit = 10) {
  const at = { blockNumber: 2n, transactions };
  const answer = await queryState(stored, { kind: "slots", at, address: CONTRACT, from, limit });
  if (answer.kind !== "slots") throw new Error(answer.kind);
  const slots = [...recordsOf(answer.slots, ["hash", "slot", "value"])];
  const { next } = answer;
  return {
    slots: Object.fromEntries(slots.map(({ slot, value }) => [Number(toHex(slot)), toHex(value)])),
    hashes: slots.map(({ hash }) => toHex(hash)),
    next: next && toHex(next),
  };
}

describe("a state in the middle of a block", () => {
  it("has an account as the earlier transactions left it", async () => {
    const nonceAfter = async (transactions: number) => {
      const at = { blockNumber: 2n, transactions };
      const answer = await queryState(stored, { kind: "account", at, address: account(0).address });
      return answer.kind === "account" ? answer.account?.nonce : answer.kind;
    };
    expect(await Promise.all([0, 1, 4].map(nonceAfter))).toEqual([2n, 3n, 6n]);
  });

  it("has storage as the earlier transactions left it", async () => {
    expect((await slotsAt(0)).slots).toEqual({ 7: "0x07" });
    expect((await slotsAt(1)).slots).toEqual({ 1: "0x11", 7: "0x07" });
    expect((await slotsAt(3)).slots).toEqual({ 1: "0x12", 2: "0x22", 7: "0x07" });
    expect((await slotsAt(4)).slots).toEqual({ 1: "0x12", 2: "0x22" });
  });

  it("is listed in the order of hashes, page by page", async () => {
    const all = [1n, 2n, 7n].map(hashOf).sort(compareBytes);
    const [first, second, third] = all.map(toHex);
    expect((await slotsAt(3)).hashes).toEqual([first, second, third]);
    expect(await slotsAt(3, ZERO_HASH, 2)).toMatchObject({ hashes: [first, second], next: third });
    expect(await slotsAt(3, all[1], 5)).toMatchObject({ hashes: [second, third], next: undefined });
    expect(await slotsAt(3, asHash(bigintToFixedBytes(2n ** 256n - 1n, 32)))).toMatchObject({ hashes: [] });
  });
});

describe("the accounts of a state", () => {
  it("are listed in the order of hashes, from a given one on, with their addresses", async () => {
    const list = async (blockNumber: bigint, from: Hash, limit: number) => {
      const answer = await queryState(stored, { kind: "accounts", blockNumber, from, limit });
      if (answer.kind !== "accounts") throw new Error(answer.kind);
      const accounts = [...recordsOf(answer.accounts, ["hash", "address"])];
      for (const { hash, address } of accounts) expect(toHex(keccak256(address))).toBe(toHex(hash));
      return { accounts, next: answer.next };
    };
    const whole = await list(2n, ZERO_HASH, 1000);
    expect(whole.next).toBeUndefined();
    expect(whole.accounts.map(({ address }) => toHex(address))).toContain(toHex(CONTRACT));
    const hashes = whole.accounts.map(({ hash }) => hash);
    expect(hashes).toEqual([...hashes].sort(compareBytes));
    expect((await list(0n, ZERO_HASH, 1000)).accounts.length).toBeLessThan(hashes.length);
    const third = asHash(hashes[2] ?? ZERO_HASH);
    const page = await list(2n, third, 2);
    expect([...page.accounts.map(({ hash }) => hash), page.next]).toEqual(hashes.slice(2, 5));
  });
});
