import { expect, it } from "vitest";
import type { Chain } from "../../src/chain/createChain.ts";
import { DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { sealedHeader } from "../../src/ibft/candidate.ts";
import { addressOfPrivateKey, sign } from "../../src/primitives/secp256k1.ts";
import type { Block } from "../../src/types/block.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aChain } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { genesisWith } from "../builders/genesisWith.ts";
import { createHandClock } from "../builders/handClock.ts";
import { account } from "../builders/testAccounts.ts";

const SENDER = account(0);
const START_SECONDS = 1_800_000_000n;

/** A node of a network with `fixedBaseFee` whose own minimum gas price is that. */
async function aNode(minGasPriceWei: bigint) {
  const { chain, world } = await aChain({
    genesis: genesisWith({ fixedBaseFee: true, zeroBaseFee: false, londonBlock: 0 }),
    minGasPriceWei,
    clock: createHandClock(Number(START_SECONDS) * 1000),
    builder: addressOfPrivateKey(DEV_VALIDATOR_KEY),
  });
  const balance = (): bigint => world.at(chain.head.header.number)?.account(SENDER.address)?.balance ?? 0n;
  return { chain, balance };
}

/** The next block of a node, sealed by its validator, with these transactions. */
async function blockOf(chain: Chain, transactions: readonly SentTransaction[]): Promise<Block> {
  const waiting = [...transactions];
  const timestamp = START_SECONDS - 10n + chain.head.header.number;
  const built = await chain.build(
    { parent: chain.head, round: 0, timestamp },
    { select: () => ({ next: () => waiting.shift(), skipSender: () => undefined }), drop: () => undefined },
  );
  if (!built.ok) throw new Error(built.error.message);
  const header = sealedHeader(built.value, [sign(built.value.digest, DEV_VALIDATOR_KEY)]);
  return { header, transactions: built.value.transactions, ommers: [] };
}

it("with fixedBaseFee a block has its builder's minimum gas price as base fee, and others execute it with that", async () => {
  const dear = await aNode(5000n);
  const cheap = await aNode(70n);
  const pay = (nonce: bigint) =>
    aTransaction({
      type: 2,
      nonce,
      maxFeePerGas: 6000n,
      maxPriorityFeePerGas: 1n,
      value: 0n,
      privateKey: SENDER.privateKey,
    });
  const before = cheap.balance();
  for (const [builder, baseFeePerGas] of [
    [dear, 5000n],
    [cheap, 70n],
    [dear, 5000n],
  ] as const) {
    const spentBefore = before - cheap.balance();
    const { number } = cheap.chain.head.header;
    const block = await blockOf(builder.chain, [pay(number)]);
    expect(block.header).toMatchObject({ number: number + 1n, baseFeePerGas, gasUsed: 21_000n });
    for (const { chain } of [dear, cheap]) expect(await chain.importBlock(block)).toMatchObject({ ok: true });
    for (const { balance } of [dear, cheap])
      expect(before - balance() - spentBefore).toBe(21_000n * (baseFeePerGas + 1n));
  }
  // What a transaction offers below the builder's own minimum is in no block of that builder.
  const offer = aTransaction({ type: 2, nonce: 3n, maxFeePerGas: 100n, maxPriorityFeePerGas: 0n });
  expect((await blockOf(dear.chain, [offer])).transactions).toEqual([]);
  expect((await blockOf(cheap.chain, [offer])).transactions).toHaveLength(1);
});
