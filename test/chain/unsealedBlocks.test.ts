import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Chain } from "../../src/chain/createChain.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { sealedHeader } from "../../src/ibft/candidate.ts";
import { addressOfPrivateKey, sign } from "../../src/primitives/secp256k1.ts";
import type { Block } from "../../src/types/block.ts";
import type { Transaction } from "../../src/types/transaction.ts";
import { aChain, recoverSendersHere } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { createHandClock } from "../builders/handClock.ts";
import { account } from "../builders/testAccounts.ts";

/*
 * Blocks that anyone can make: valid except for their seals, with a body that takes work. The first step of validating a
 * body is recovering its senders, so counting those calls shows whether the body was touched.
 */

it.each<[name: string, keys: readonly Uint8Array[], code: string]>([
  ["without seals", [], "tooFewSeals"],
  ["sealed by a non-validator", [account(9).privateKey], "sealerNotValidator"],
  ["sealed twice by its validator", [DEV_VALIDATOR_KEY, DEV_VALIDATOR_KEY], "duplicateSeal"],
  ["with three thousand seals", Array.from({ length: 3000 }, () => DEV_VALIDATOR_KEY), "duplicateSeal"],
])("a block %s is rejected before its body is validated", async (_, keys, code) => {
  const { chain, recoveries } = await open();
  const imported = await chain.importBlock(await blockOf(keys));
  expect(imported).toMatchObject({ ok: false, error: { code, fault: "peer" } });
  expect(recoveries()).toBe(0);
  expect(await chain.importBlock(await blockOf([DEV_VALIDATOR_KEY]))).toMatchObject({ ok: true });
  expect(recoveries()).toBe(1);
});

async function open(): Promise<{ readonly chain: Chain; recoveries(): number }> {
  let recoveries = 0;
  const { chain } = await aChain({
    genesis: readFileSync(DEV_GENESIS_FILE, "utf8"),
    clock: createHandClock(1_800_000_000_000),
    builder: addressOfPrivateKey(DEV_VALIDATOR_KEY),
    recoverSenders(transactions: readonly Transaction[]) {
      recoveries++;
      return recoverSendersHere(transactions);
    },
  });
  return { chain, recoveries: () => recoveries };
}

async function blockOf(keys: readonly Uint8Array[]): Promise<Block> {
  const { chain } = await open();
  const waiting = [aTransaction({})];
  const built = await chain.build(
    { parent: chain.head, round: 0, timestamp: 1_799_999_999n },
    { select: () => ({ next: () => waiting.shift(), skipSender: () => undefined }), drop: () => undefined },
  );
  if (!built.ok) throw new Error(built.error.message);
  const { digest, transactions } = built.value;
  const header = sealedHeader(
    built.value,
    keys.map((key) => sign(digest, key)),
  );
  return { header, transactions, ommers: [] };
}
