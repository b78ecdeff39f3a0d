import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { TransactionSupply } from "../../src/chain/blockExecution.ts";
import type { Chain } from "../../src/chain/createChain.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { loadInterpreter } from "../../src/execution/blockSession.ts";
import { type Candidate, createCandidate, sealedHeader } from "../../src/ibft/candidate.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { addressOfPrivateKey, sign } from "../../src/primitives/secp256k1.ts";
import type { WorldState } from "../../src/state/worldState.ts";
import type { Block } from "../../src/types/block.ts";
import { rootOfList } from "../../src/types/listRoot.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aChain } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { account } from "../builders/testAccounts.ts";

/*
 * A proposal that takes longer to execute than its round lasts, or for ever: its validation stops when its signal is
 * aborted. A block sealed by a quorum is executed to its end, whatever happens to the validation of its proposal.
 */

const genesis = readFileSync(DEV_GENESIS_FILE, "utf8");
const TIMESTAMP = 1_800_000_000n;
/** Jumps back and forth for ever. */
const ENDLESS = creationOf("0x5b600056");
/** Counts down from 60,000, some tens of milliseconds. */
const LONG = creationOf("0x61ea605b6001900380600357");

function creationOf(code: string): SentTransaction {
  return aTransaction({
    to: undefined,
    data: hexToBytes(code),
    gasLimit: 100_000_000n,
    value: 0n,
    gasPrice: 10n ** 9n,
  });
}

let chain: Chain;
let world: WorldState;
let long: Candidate;

async function open() {
  let nowMs = Number(TIMESTAMP) * 1000 + 5_000;
  const opened = await aChain({
    genesis,
    // Each reading advances the clock, so that execution yields often.
    clock: { nowMs: () => (nowMs += 1), at: () => ({ cancel: () => undefined }) },
    builder: addressOfPrivateKey(DEV_VALIDATOR_KEY),
    production: { selectionTimePercent: 10_000_000 },
  });
  return opened;
}

beforeEach(async () => {
  await loadInterpreter();
  ({ chain, world } = await open());
  long = await build((await open()).chain, [LONG, aTransaction({ privateKey: account(1).privateKey })]);
  expect(long.transactions).toHaveLength(2);
});

async function build(on: Chain, transactions: readonly SentTransaction[]): Promise<Candidate> {
  const left = [...transactions];
  const supply: TransactionSupply = {
    select: () => ({ next: () => left.shift(), skipSender: () => undefined }),
    drop: () => undefined,
  };
  const built = await on.build({ parent: on.head, round: 0, timestamp: TIMESTAMP }, supply);
  if (!built.ok) throw new Error(built.error.message);
  return built.value;
}

function seal(candidate: Candidate): Block {
  const { transactions, digest } = candidate;
  return { header: sealedHeader(candidate, [sign(digest, DEV_VALIDATOR_KEY)]), transactions, ommers: [] };
}

const eventLoopSlices = async (count: number): Promise<void> => {
  for (let slice = 0; slice < count; slice++) await new Promise((resume) => setImmediate(resume));
};

describe("the validation of a proposal", () => {
  it("stops soon after its signal is aborted, without a peer at fault", async () => {
    const header = { ...long.header, transactionsRoot: rootOfList([ENDLESS.raw]) };
    const endless = createCandidate(header, long.extra, [ENDLESS]);
    const controller = new AbortController();
    const checked = chain.check(endless, controller.signal);
    await eventLoopSlices(20);
    expect(chain.isExecuting).toBe(true);
    controller.abort();
    expect(await checked).toMatchObject({
      ok: false,
      error: { code: "validationStopped", fault: "local" },
    });
    expect(chain.isExecuting).toBe(false);
    expect(chain.badBlocks()).toEqual([]);
    expect((await chain.check(long)).ok).toBe(true);
  });

  it("stops when the head moves", async () => {
    const header = { ...long.header, transactionsRoot: rootOfList([ENDLESS.raw]) };
    const checked = chain.check(createCandidate(header, long.extra, [ENDLESS]), new AbortController().signal);
    await eventLoopSlices(5);
    expect((await chain.importBlock(seal(await build((await open()).chain, [])))).ok).toBe(true);
    expect(await checked).toMatchObject({ ok: false, error: { code: "notAfterHead", fault: "local" } });
    expect(chain.isExecuting).toBe(false);
  });

  it("is shared with the sealed block that arrives meanwhile, which is executed once and to its end", async () => {
    const overlays = vi.spyOn(world, "overlay");
    const controller = new AbortController();
    const checked = chain.check(long, controller.signal);
    await eventLoopSlices(5);
    const imported = chain.importBlock(seal(long));
    await eventLoopSlices(5);
    expect(chain.isExecuting).toBe(true);
    controller.abort();
    expect((await imported).ok).toBe(true);
    expect(toHex(chain.head.hash)).toBe(toHex(long.hash));
    expect((await checked).ok).toBe(true);
    expect(overlays).toHaveBeenCalledTimes(1);
  });

  it("that stops just before its sealed block arrives does not prevent that block's execution", async () => {
    for (let later = 0; later < 6; later++) {
      const { chain: other } = await open();
      const controller = new AbortController();
      const checked = other.check(long, controller.signal);
      await eventLoopSlices(4);
      controller.abort();
      await eventLoopSlices(later % 3);
      for (let tick = 0; tick < later; tick++) await Promise.resolve();
      expect((await other.importBlock(seal(long))).ok).toBe(true);
      await checked;
      expect(toHex(other.head.hash)).toBe(toHex(long.hash));
    }
  });
});
