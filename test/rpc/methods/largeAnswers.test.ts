import { describe, expect, it } from "vitest";
import { silentLogger } from "../../../src/observability/logger.ts";
import { asAddress } from "../../../src/primitives/address.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { keccak256, ZERO_HASH } from "../../../src/primitives/hash.ts";
import { EMPTY_BYTES, toHex, toWordHex } from "../../../src/primitives/hex.ts";
import { joinPieces } from "../../../src/primitives/jsonPieces.ts";
import { packBytes } from "../../../src/primitives/packedBytes.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import { createDispatcher } from "../../../src/rpc/dispatcher.ts";
import { NAMESPACES } from "../../../src/rpc/method.ts";
import { METHODS } from "../../../src/rpc/methods/registry.ts";
import { EMPTY_ACCOUNT } from "../../../src/types/account.ts";
import { encodeBlock } from "../../../src/types/block.ts";
import { aCaller } from "../../builders/aCaller.ts";
import { type AllParts, aChainSpec, anRpcBackend, poolOf } from "../../builders/anRpcBackend.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { chainOf } from "../../builders/recordedChain.ts";
import { account } from "../../builders/testAccounts.ts";
import { aStoredChain } from "../../storage/storedBlocks.ts";

/*
 * Answers of megabytes are made as they are read, in pieces that take a thread some milliseconds each, so that they hold
 * nobody up.
 */

const MIB = 1024 * 1024;
const LONGEST_PIECE = MIB / 2;
const ADDRESS = toHex(account(0).address);
const COUNT = 10_000;

const CHAIN = chainOf([0, 1].map((number) => aStoredBlock({ number })));
const NODE = { chain: CHAIN, spec: aChainSpec(CHAIN, { chainId: 1337n, fork: "london" }) };

/** The result of a method, whose answer is made of pieces. */
async function resultInPieces(
  parts: Partial<AllParts>,
  method: string,
  ...params: readonly unknown[]
): Promise<unknown> {
  const dispatcher = createDispatcher(
    { methods: METHODS, modules: new Set(NAMESPACES) },
    { backend: anRpcBackend({ ...NODE, ...parts }), logger: silentLogger },
  );
  const request = { jsonrpc: "2.0", id: 1, method, params };
  const reply = await dispatcher.answerRequest(request, JSON.stringify(request), aCaller);
  const pieces = [...expectDefined(reply?.pieces, "the pieces of the answer")];
  for (const { length } of pieces) expect(length).toBeLessThanOrEqual(LONGEST_PIECE);
  return (JSON.parse(joinPieces(pieces)) as { readonly result: unknown }).result;
}

const words = Array.from({ length: COUNT }, (_, at) => bigintToFixedBytes(BigInt(at + 1), 32));

/** A backend whose state queries have one answer. */
function answering(answer: object): Partial<AllParts> {
  return { stateQueries: { query: async () => answer as never } };
}

describe("a large answer", () => {
  it("of eth_getProof is proven some slots at a time", async () => {
    const node = new Uint8Array(532).fill(7);
    const asked: number[] = [];
    const prove: AllParts["prove"] = (_number, _address, slots) => {
      asked.push(slots.length);
      const storageProof = slots.map((slot) => ({ slot, value: slot, proof: Array(6).fill(node) }));
      return { account: EMPTY_ACCOUNT, accountProof: [node], storageProof };
    };
    const keys = words.slice(0, 1024).map(toHex);
    const proof = await resultInPieces({ prove }, "eth_getProof", ADDRESS, keys, "latest");
    expect(proof).toMatchObject({ address: ADDRESS, accountProof: [toHex(node)], nonce: "0x0" });
    const { storageProof } = proof as { readonly storageProof: readonly { readonly value: string }[] };
    expect(storageProof.map(({ value }) => BigInt(value))).toEqual(keys.map(BigInt));
    expect(Math.max(...asked)).toBeLessThanOrEqual(16);
    expect(asked.reduce((sum, count) => sum + count)).toBe(1024);
  });

  it("of debug_storageRangeAt has the slots that crossed threads as one piece of memory", async () => {
    const slots = packBytes(words.flatMap((word) => [keccak256(word), word, Uint8Array.of(5)]));
    const range = await resultInPieces(
      answering({ kind: "slots", slots, next: ZERO_HASH }),
      "debug_storageRangeAt",
      "latest",
      0,
      ADDRESS,
      "0x0",
      COUNT,
    );
    const shown = words.map((word) => [
      toHex(keccak256(word)),
      { key: toHex(word), value: toWordHex(Uint8Array.of(5)) },
    ]);
    const nextKey = toHex(ZERO_HASH);
    expect(range).toEqual({ storage: Object.fromEntries(shown), nextKey, complete: false });
    const unknown = packBytes([keccak256(EMPTY_BYTES), EMPTY_BYTES, Uint8Array.of(1)]);
    const params = ["debug_storageRangeAt", "latest", 0, ADDRESS, "0x0", 1] as const;
    const hashed = await resultInPieces(answering({ kind: "slots", slots: unknown }), ...params);
    expect(hashed).toEqual({
      storage: { [toHex(keccak256(EMPTY_BYTES))]: { key: null, value: toWordHex(Uint8Array.of(1)) } },
      complete: true,
    });
  });

  it("of debug_accountRange has the accounts that crossed threads as one piece of memory", async () => {
    const addresses = words.map((word) => asAddress(word.slice(12)));
    const accounts = packBytes(addresses.flatMap((address) => [keccak256(address), address]));
    const range = await resultInPieces(
      answering({ kind: "accounts", accounts }),
      "debug_accountRange",
      "latest",
      0,
      "0x0",
      COUNT,
    );
    const shown = addresses.map((address) => [toHex(keccak256(address)), toHex(address)]);
    expect(range).toEqual({ addressMap: Object.fromEntries(shown), nextKey: toHex(ZERO_HASH) });
  });

  it("of debug_accountAt may have code of megabytes", async () => {
    const code = new Uint8Array(3 * MIB).fill(0x5b);
    const chain = aStoredChain({ seed: 1, blocks: 1, transactions: 1 });
    const block = expectDefined(chain.at(-1), "a block");
    const parts = answering({ kind: "account", account: { ...EMPTY_ACCOUNT, code } });
    const shown = await resultInPieces(
      { ...parts, chain: { ...CHAIN, blockByNumber: () => block } },
      "debug_accountAt",
      "latest",
      0,
      ADDRESS,
    );
    expect(shown).toMatchObject({ code: toHex(code), nonce: "0x0", balance: "0x0" });
  });

  it("of eth_getTransactionByHash may have a pooled transaction of megabytes", async () => {
    const long = aTransaction({ data: new Uint8Array(2 * MIB).fill(3), gasLimit: 100_000_000n });
    const shown = await resultInPieces(
      { pool: poolOf([long]) },
      "eth_getTransactionByHash",
      toHex(long.hash),
    );
    expect(shown).toMatchObject({ hash: toHex(long.hash), input: toHex(long.data), raw: toHex(long.raw) });
  });

  it("of debug_getBadBlocks has each block with its bytes", async () => {
    const block = expectDefined(aStoredChain({ seed: 2, blocks: 1, transactions: 1 }).at(-1), "a block");
    const long = aTransaction({ data: new Uint8Array(2 * MIB).fill(3), gasLimit: 100_000_000n });
    const bad = { ...block, transactions: [long] };
    const shown = await resultInPieces({ badBlocks: () => [bad, bad] }, "debug_getBadBlocks");
    const one = { hash: toHex(block.hash), rlp: toHex(encodeBlock(bad)) };
    expect(shown).toMatchObject([
      { ...one, block: { transactions: [{ input: toHex(long.data) }] } },
      { ...one, block: { hash: toHex(block.hash) } },
    ]);
  });
});
