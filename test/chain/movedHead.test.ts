import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import type { TransactionSupply } from "../../src/chain/blockExecution.ts";
import type { Chain } from "../../src/chain/createChain.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { BlockReceipts } from "../../src/execution/blockReceipts.ts";
import { type Candidate, sealedHeader } from "../../src/ibft/candidate.ts";
import { asAddress } from "../../src/primitives/address.ts";
import type { Clock } from "../../src/primitives/clock.ts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { addressOfPrivateKey, sign } from "../../src/primitives/secp256k1.ts";
import type { Block } from "../../src/types/block.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aChain } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { account } from "../builders/testAccounts.ts";

/*
 * Executions during which the head moves: they read some accounts before it and others after. Each reading advances the
 * clock here, so that execution yields after every transaction.
 */

const genesis = readFileSync(DEV_GENESIS_FILE, "utf8");
const TIMESTAMP = 1_800_000_000n;

function fastClock(): Clock {
  let nowMs = Number(TIMESTAMP) * 1000 + 5_000;
  return {
    nowMs: () => {
      nowMs += 20;
      return nowMs;
    },
    at: () => ({ cancel: () => undefined }),
  };
}

async function open(): Promise<Chain> {
  const { chain } = await aChain({
    genesis,
    clock: fastClock(),
    builder: addressOfPrivateKey(DEV_VALIDATOR_KEY),
    production: { selectionTimePercent: 1_000_000 },
  });
  return chain;
}

function supplyOf(
  transactions: readonly SentTransaction[],
): TransactionSupply & { readonly dropped: string[]; readonly left: SentTransaction[] } {
  const left = [...transactions];
  const dropped: string[] = [];
  return {
    left,
    dropped,
    select: () => ({ next: () => left.shift(), skipSender: () => undefined }),
    drop: (hash) => void dropped.push(toHex(hash)),
  };
}

function ordered(chain: Chain): { parent: Chain["head"]; round: number; timestamp: bigint } {
  return { parent: chain.head, round: 0, timestamp: TIMESTAMP + chain.head.header.number };
}

async function build(chain: Chain, transactions: readonly SentTransaction[]): Promise<Candidate> {
  const built = await chain.build(ordered(chain), supplyOf(transactions));
  if (!built.ok) throw new Error(built.error.message);
  return built.value;
}

function seal(candidate: Candidate): Block {
  const { transactions, digest } = candidate;
  return { header: sealedHeader(candidate, [sign(digest, DEV_VALIDATOR_KEY)]), transactions, ommers: [] };
}

/** Many transactions of one account, then one of another, which also sends one in the rival block. */
const last = aTransaction({ privateKey: account(9).privateKey, value: 1n });
const many = Array.from({ length: 40 }, (_, nonce) => aTransaction({ nonce: BigInt(nonce) }));
/** Enough recipients that finishing their block takes more event-loop slices than importing a block already checked. */
const crowd = Array.from({ length: 400 }, (_, nonce) =>
  aTransaction({
    nonce: BigInt(nonce),
    to: asAddress(keccak256(Uint8Array.of(nonce >> 8, nonce & 255)).subarray(12)),
  }),
);
const rival = aTransaction({ privateKey: account(9).privateKey, value: 2n });

let chain: Chain;
let other: Chain;

beforeEach(async () => {
  chain = await open();
  other = await open();
});

describe("a block execution during which the head moves", () => {
  it("blames no peer for a block that could not be validated in time", async () => {
    const candidate = await build(other, [...many, last]);
    const rivalBlock = seal(await build(await open(), [rival]));
    const [checked, imported] = await Promise.all([chain.check(candidate), chain.importBlock(rivalBlock)]);
    expect(imported.ok).toBe(true);
    expect(checked).toMatchObject({ ok: false, error: { code: "notAfterHead", fault: "local" } });
  });

  it("reports a block as committed that peers delivered first, even if it is no longer the head", async () => {
    const candidate = await build(other, [rival]);
    const first = seal(candidate);
    await other.importBlock(first);
    const second = seal(await build(other, []));
    for (const block of [first, second]) expect((await chain.importBlock(block)).ok).toBe(true);
    const committed = await chain.commit(candidate, [sign(candidate.digest, DEV_VALIDATOR_KEY)]);
    expect(committed.ok && toHex(committed.value.hash)).toBe(toHex(candidate.hash));
    const rivalCandidate = await build(await open(), [last]);
    const lost = await chain.commit(rivalCandidate, [sign(rivalCandidate.digest, DEV_VALIDATOR_KEY)]);
    expect(lost).toMatchObject({ ok: false, error: { code: "wrongParent" } });
  });

  it("blames no transaction for what its execution throws while a block is built that is discarded", async () => {
    const rivalBlock = seal(await build(other, [rival]));
    const faults: string[] = [];
    chain.onExecutionFault((during) => faults.push(during));
    // The receipt of the first transaction after the head has moved is not made.
    const { add } = BlockReceipts.prototype;
    const before = chain.head;
    BlockReceipts.prototype.add = function (...given) {
      if (chain.head !== before) throw new RangeError("injected");
      return add.apply(this, given);
    };
    try {
      const supply = supplyOf([...many, last]);
      const [built] = await Promise.all([chain.build(ordered(chain), supply), chain.importBlock(rivalBlock)]);
      expect(built).toMatchObject({ ok: false, error: { code: "notAfterHead" } });
      expect([faults, supply.dropped]).toEqual([[], []]);
    } finally {
      BlockReceipts.prototype.add = add;
    }
  });

  it("drops no transaction for errors found while building a block that is discarded", async () => {
    const rivalBlock = seal(await build(other, [rival]));
    const supply = supplyOf([...many, last]);
    const [built, imported] = await Promise.all([
      chain.build(ordered(chain), supply),
      chain.importBlock(rivalBlock),
    ]);
    expect(imported.ok).toBe(true);
    expect(built).toMatchObject({ ok: false, error: { code: "notAfterHead" } });
    expect(supply.left).toEqual([]);
    expect(supply.dropped).toEqual([]);
  });

  it("fails to build when the head moves while the filled block is finished", async () => {
    const candidate = await build(other, []);
    expect((await chain.check(candidate)).ok).toBe(true);
    const rivalBlock = seal(candidate);
    const poor = aTransaction({ privateKey: account(9).privateKey, value: 10n ** 30n });
    let importing: Promise<unknown> | undefined;
    const supply = {
      ...supplyOf([...crowd, poor]),
      drop() {
        importing = chain.importBlock(rivalBlock);
      },
    };
    const built = await chain.build(ordered(chain), supply);
    expect(importing).toBeDefined();
    expect(built).toMatchObject({ ok: false, error: { code: "notAfterHead" } });
    expect(await importing).toMatchObject({ ok: true });
  });

  it("fails to build on a head that was rewound and imported again", async () => {
    const first = seal(await build(other, [rival]));
    await chain.importBlock(first);
    const order = ordered(chain);
    const following = aTransaction({ privateKey: account(9).privateKey, nonce: 1n });
    const building = chain.build(order, supplyOf([...many, following]));
    await chain.rewind(0n);
    expect((await chain.importBlock(first)).ok).toBe(true);
    expect(toHex(chain.head.hash)).toBe(toHex(order.parent.hash));
    expect(await building).toMatchObject({ ok: false, error: { code: "notAfterHead" } });
  });
});
