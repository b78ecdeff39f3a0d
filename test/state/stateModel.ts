import { MerklePatriciaTrie } from "@ethereumjs/mpt";
import { RLP } from "@ethereumjs/rlp";
import fc from "fast-check";
import { type Address, asAddress } from "../../src/primitives/address.ts";
import { asHash, EMPTY_CODE_HASH, EMPTY_TRIE_ROOT, type Hash, keccak256 } from "../../src/primitives/hash.ts";
import { hexToBytes, toDigits } from "../../src/primitives/hex.ts";
import type { Overlay } from "../../src/state/overlay.ts";
import type { StateReader } from "../../src/state/stateReader.ts";
import { EMPTY_ACCOUNT } from "../../src/types/account.ts";
import { encodeAccount } from "../builders/encodeAccount.ts";

/** One account as plain data, so that structuredClone copies it. */
interface ModelAccount {
  nonce: bigint;
  balance: bigint;
  code: string;
  slots: Record<string, string>;
}

/** A whole state by hex address. */
export type ModelState = Record<string, ModelAccount>;

export type Action =
  | { readonly kind: "fund"; readonly who: number; readonly wei: bigint }
  | { readonly kind: "delete" | "clear"; readonly who: number }
  | { readonly kind: "deploy"; readonly who: number; readonly code: number }
  | { readonly kind: "slot"; readonly who: number; readonly slot: number; readonly value: number };

export const ADDRESSES = 12;
export const SLOTS = 10;

export function blockActions(): fc.Arbitrary<readonly Action[]> {
  const who = fc.nat(ADDRESSES - 1);
  return fc.array(
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ kind: fc.constant("fund" as const), who, wei: fc.bigInt(0n, 1n << 70n) }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constantFrom("delete" as const, "clear" as const), who }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("deploy" as const), who, code: fc.nat(3) }) },
      {
        weight: 8,
        arbitrary: fc.record({
          kind: fc.constant("slot" as const),
          who,
          slot: fc.nat(SLOTS - 1),
          value: fc.constantFrom(0, 0, 1, 0x80, 0xffffff),
        }),
      },
    ),
    { maxLength: 25 },
  );
}

/** Performs one action on both; the model follows the rules of the overlay in the simplest way. */
export function perform(overlay: Overlay, state: ModelState, action: Action): void {
  const address = addressOf(action.who);
  const name = toDigits(address);
  switch (action.kind) {
    case "fund": {
      const account = overlay.account(address) ?? EMPTY_ACCOUNT;
      overlay.putAccount(address, { ...account, balance: action.wei, nonce: account.nonce + 1n });
      const model = ensure(state, name);
      model.balance = action.wei;
      model.nonce += 1n;
      return;
    }
    case "delete":
      overlay.putAccount(address, undefined);
      delete state[name];
      return;
    case "clear":
      overlay.clearStorage(address);
      if (state[name] !== undefined) state[name].slots = {};
      return;
    case "deploy": {
      const code = new Uint8Array(action.code * 50).fill(action.code);
      overlay.putCode(address, code);
      ensure(state, name).code = toDigits(code);
      return;
    }
    case "slot":
      performSlot(overlay, state[name], action);
  }
}

function performSlot(
  overlay: Overlay,
  model: ModelAccount | undefined,
  { who, slot, value }: Extract<Action, { kind: "slot" }>,
): void {
  if (model === undefined) return;
  const digits = value === 0 ? "" : value.toString(16).padStart(value > 255 ? 6 : 2, "0");
  overlay.putStorage(addressOf(who), slotOf(slot), hexToBytes(digits));
  if (value === 0) delete model.slots[toDigits(slotOf(slot))];
  else model.slots[toDigits(slotOf(slot))] = digits;
}

function ensure(state: ModelState, name: string): ModelAccount {
  const known = state[name];
  if (known !== undefined) return known;
  const fresh: ModelAccount = { nonce: 0n, balance: 0n, code: "", slots: {} };
  state[name] = fresh;
  return fresh;
}

/** The state root according to the library. */
export async function oracleRoot(state: ModelState): Promise<Hash> {
  const trie = new MerklePatriciaTrie({ useKeyHashing: true });
  for (const [name, model] of Object.entries(state)) {
    const { nonce, balance } = model;
    const leaf = encodeAccount({
      nonce,
      balance,
      storageRoot: await oracleStorageRoot(model),
      codeHash: codeHashOf(model),
    });
    await trie.put(hexToBytes(name), leaf);
  }
  return asHash(trie.root());
}

async function oracleStorageRoot({ slots }: ModelAccount): Promise<Hash> {
  if (Object.keys(slots).length === 0) return EMPTY_TRIE_ROOT;
  const trie = new MerklePatriciaTrie({ useKeyHashing: true });
  for (const [slot, value] of Object.entries(slots))
    await trie.put(hexToBytes(slot), RLP.encode(hexToBytes(value)));
  return asHash(trie.root());
}

function codeHashOf({ code }: ModelAccount): Hash {
  return code === "" ? EMPTY_CODE_HASH : keccak256(hexToBytes(code));
}

/** Reads all addresses and slots of the model through a reader, in the model's form. */
export function readAll(reader: StateReader): ModelState {
  const state: ModelState = {};
  for (let who = 0; who < ADDRESSES; who++) {
    const account = reader.account(addressOf(who));
    if (account === undefined) continue;
    const slots: Record<string, string> = {};
    for (let slot = 0; slot < SLOTS; slot++) {
      const value = reader.storage(addressOf(who), slotOf(slot));
      if (value.length > 0) slots[toDigits(slotOf(slot))] = toDigits(value);
    }
    const { nonce, balance } = account;
    state[toDigits(addressOf(who))] = {
      nonce,
      balance,
      code: toDigits(reader.code(account.codeHash)),
      slots,
    };
  }
  return state;
}

export function addressOf(who: number): Address {
  return asAddress(keccak256(Uint8Array.of(0xad, who)).slice(0, 20));
}

export function slotOf(index: number): Uint8Array {
  const slot = new Uint8Array(32);
  slot[31] = index;
  return slot;
}
