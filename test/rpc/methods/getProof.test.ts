import { afterEach, expect, it, vi } from "vitest";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { EMPTY_ACCOUNT } from "../../../src/types/account.ts";
import { aChainSpec } from "../../builders/anRpcBackend.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { chainOf } from "../../builders/recordedChain.ts";
import { account } from "../../builders/testAccounts.ts";
import { requesterOf } from "../requester.ts";

const KEYS = Array.from({ length: 1000 }, (_, index) => `0x${(index + 1).toString(16)}`);

afterEach(() => {
  vi.restoreAllMocks();
});

/** A slow disk: each look at a hand clock finds that the last proofs took 6 ms. */
function slowProofs(isStored: (proofs: number) => boolean) {
  let nowMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  const lengths: number[] = [];
  const chain = chainOf([0, 1, 2].map((number) => aStoredBlock({ number })));
  const ask = requesterOf({
    spec: aChainSpec(chain, { chainId: 1337n, fork: "cancun" }),
    chain: {
      ...chain,
      headerByNumber: (number) => (isStored(lengths.length) ? chain.headerByNumber(number) : undefined),
    },
    prove(_number, _address, slots) {
      nowMs += 6;
      lengths.push(slots.length);
      const storageProof = slots.map((slot) => ({ slot, value: Uint8Array.of(7), proof: [] }));
      return { account: EMPTY_ACCOUNT, accountProof: [], storageProof };
    },
  });
  return { lengths, answer: () => ask("eth_getProof", toHex(account(0).address), KEYS, "0x2") };
}

it("proves many keys in steps, between which others have their turns", async () => {
  const { lengths, answer } = slowProofs(() => true);
  let turns = 0;
  const turn = (): void => {
    turns++;
    if (lengths.length < Math.ceil(KEYS.length / 16)) setImmediate(turn);
  };
  setImmediate(turn);
  const { storageProof } = (await answer()) as { readonly storageProof: readonly { readonly key: string }[] };
  expect(storageProof.map(({ key }) => BigInt(key))).toEqual(KEYS.map(BigInt));
  expect(Math.max(...lengths)).toBe(16);
  expect(turns).toBeGreaterThanOrEqual(lengths.length - 1);
  expect(expectDefined(lengths.at(-1), "a proof")).toBe(KEYS.length % 16);
});

it("gives no proofs of two states where the block is removed meanwhile", async () => {
  const { lengths, answer } = slowProofs((proofs) => proofs < 3);
  expect(await answer()).toEqual({ code: -32000, message: "Account not found" });
  expect(lengths).toHaveLength(3);
});
