import { readFileSync } from "node:fs";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { TransactionSupply } from "../../src/chain/blockExecution.ts";
import type { Chain } from "../../src/chain/createChain.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { Machine } from "../../src/evm/machine.ts";
import { AccessJournal } from "../../src/execution/accessJournal.ts";
import { BlockReceipts } from "../../src/execution/blockReceipts.ts";
import { loadInterpreter } from "../../src/execution/blockSession.ts";
import { Run } from "../../src/execution/interpreter/run.ts";
import { Substate } from "../../src/execution/interpreter/substate.ts";
import { type Candidate, createCandidate, sealedHeader } from "../../src/ibft/candidate.ts";
import { asAddress } from "../../src/primitives/address.ts";
import { AssertionFailed } from "../../src/primitives/assert.ts";
import { equalBytes, hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { addressOfPrivateKey, sign } from "../../src/primitives/secp256k1.ts";
import { atOnce } from "../../src/primitives/steps.ts";
import { JournaledOverlay } from "../../src/state/overlay.ts";
import { WorldState } from "../../src/state/worldState.ts";
import { DamagedData, DiskError } from "../../src/storage/database.ts";
import { rootOfList } from "../../src/types/listRoot.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aChain, type TestChain } from "../builders/aChain.ts";
import { aSupply } from "../builders/aSupply.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { genesisWith } from "../builders/genesisWith.ts";
import { loggedLines } from "../builders/loggedLines.ts";
import { account } from "../builders/testAccounts.ts";
import { someOf } from "../thorough.ts";

/*
 * Exceptions at random places of an execution, which no rule of the chain explains: thrown here by what the execution
 * uses, on the call that the test picks.
 */

const START_SECONDS = 1_800_000_000;
/** The network whose blocks begin by storing the hash of their parents, in a contract. */
const PRAGUE = readFileSync(DEV_GENESIS_FILE, "utf8");
/** Stores a word, logs it, hashes memory, calls the identity contract, and returns one byte of code. */
const BUSY =
  "0x602a60005560206000a0602060002060005260206000602060006004620186a0f1506001600052600160 1ff3".replace(
    " ",
    "",
  );

function creation(sender: number): SentTransaction {
  return aTransaction({
    to: undefined,
    data: hexToBytes(BUSY),
    gasLimit: 1_000_000n,
    value: 0n,
    privateKey: account(sender).privateKey,
  });
}

const TRANSACTIONS: readonly SentTransaction[] = [
  aTransaction({ privateKey: account(0).privateKey }),
  creation(1),
  aTransaction({ privateKey: account(2).privateKey }),
  creation(3),
  aTransaction({ privateKey: account(4).privateKey }),
];

/** Objects whose methods executions call, by name. */
const PLACES: Readonly<Record<string, object>> = {
  machine: Machine.prototype,
  journal: AccessJournal.prototype,
  receipts: BlockReceipts.prototype,
  overlay: JournaledOverlay.prototype,
  run: Run.prototype,
  substate: Substate.prototype,
};

let restore: (() => void) | undefined;

/** Makes the call number `call` of a method throw, once, or all calls from there on. Returns how often it has thrown. */
function failAt(place: string, method: string, call: number, how: { error?: Error; forever?: boolean } = {}) {
  const target = PLACES[place] as Record<string, (...given: unknown[]) => unknown>;
  const original = target[method];
  if (original === undefined) throw new Error(`${place} has no ${method}`);
  let calls = 0;
  let thrown = 0;
  target[method] = function (this: unknown, ...given) {
    calls++;
    if (calls !== call && !(how.forever === true && calls > call)) return original.apply(this, given);
    thrown++;
    throw how.error ?? new RangeError("injected");
  };
  restore = () => {
    target[method] = original;
  };
  return { thrown: () => thrown, calls: () => calls };
}

/** Another node, which judges what is built and stays at the genesis block. */
let other: Chain;
/** What is built of TRANSACTIONS without a fault. */
let faultless: Candidate;

beforeAll(async () => {
  await loadInterpreter();
  other = (await open()).chain;
  faultless = await build(other, aSupply(TRANSACTIONS).supply);
});

afterEach(() => {
  restore?.();
  restore = undefined;
});

async function open({
  logger,
  genesis = genesisWith({}),
}: Partial<Pick<Parameters<typeof aChain>[0], "logger" | "genesis">> = {}): Promise<TestChain> {
  return await aChain({
    genesis,
    clock: { nowMs: () => START_SECONDS * 1000 + 60_000, at: () => ({ cancel: () => undefined }) },
    builder: addressOfPrivateKey(DEV_VALIDATOR_KEY),
    ...(logger !== undefined && { logger }),
  });
}

async function build(chain: Chain, supply: TransactionSupply): Promise<Candidate> {
  const { head } = chain;
  const timestamp = BigInt(START_SECONDS) + head.header.number;
  const built = await chain.build({ parent: head, round: 0, timestamp }, supply);
  if (!built.ok) throw new Error(built.error.message);
  return built.value;
}

/** Seals and commits; the transactions leave the pool. */
async function commit(
  chain: Chain,
  candidate: Candidate,
  waiting: Map<string, SentTransaction>,
): Promise<void> {
  const seals = [sign(candidate.digest, DEV_VALIDATOR_KEY)];
  const committed = await chain.commit(candidate, seals);
  expect(committed.ok).toBe(true);
  for (const { hash } of candidate.transactions) waiting.delete(toHex(hash));
}

/** Every method of every place, with calls from the first to some later ones. */
const SPOTS = Object.entries(PLACES).flatMap(([place, target]) =>
  Object.entries(Object.getOwnPropertyDescriptors(target))
    .filter(([name, { value }]) => name !== "constructor" && typeof value === "function")
    .map(([name]) => [place, name] as const),
);

describe("while a block is built", () => {
  it.each(SPOTS)(
    "a fault in %s.%s does not keep the block from being made, nor others from agreeing",
    async (place, method) => {
      for (const call of someOf([1, 2, 5, 11, 23])) {
        const { chain } = await open();
        const { supply, waiting, dropped } = aSupply(TRANSACTIONS);
        const { thrown } = failAt(place, method, call);
        const candidate = await build(chain, supply);
        restore?.();
        expect(dropped).toEqual([]);
        const left = TRANSACTIONS.length - candidate.transactions.length;
        // One transaction is left out, or all where none is to blame.
        expect(thrown() === 0 ? [0] : [1, TRANSACTIONS.length], `call ${call}`).toContain(left);
        if (thrown() === 0) continue;
        expect(await other.check(candidate)).toEqual({ ok: true });
        await commit(chain, candidate, waiting);
        for (let more = 0; more < 11 && waiting.size > 0; more++)
          await commit(chain, await build(chain, supply), waiting);
        expect(waiting.size).toBe(0);
      }
    },
  );

  it("a transaction that fails again is dropped with a reason, and named twice in the log", async () => {
    const { logger, lines } = loggedLines();
    const { chain } = await open({ logger });
    const { supply, waiting, dropped } = aSupply(TRANSACTIONS.slice(0, 2));
    failAt("machine", "begin", 1, { forever: true });
    for (let block = 0; block < 13; block++) await commit(chain, await build(chain, supply), waiting);
    expect([waiting.size, dropped]).toEqual([0, ["this node failed to execute it"]]);
    expect(lines.filter(({ level }) => level === "ERROR").map(({ message }) => message)).toEqual([
      "a transaction could not be executed because of a fault in this node; blocks are built without it for a while",
      "a transaction failed again in the same way and is dropped from the pool",
    ]);
  });

  it("a transaction whose block cannot be finished is found among the others, which are mined, and is dropped", async () => {
    const { logger, lines } = loggedLines();
    const { chain } = await open({ logger });
    const cause = asAddress(new Uint8Array(20).fill(0xbd));
    const all = Array.from({ length: 9 }, (_, index) =>
      aTransaction({ privateKey: account(index).privateKey, ...(index === 5 && { to: cause }) }),
    );
    const { supply, waiting, dropped } = aSupply(all);
    const { stageInSteps } = WorldState.prototype;
    WorldState.prototype.stageInSteps = function (overlay, number) {
      if (atOnce(overlay.changesInSteps()).accounts.some(({ address }) => equalBytes(address, cause)))
        throw new RangeError("injected");
      return stageInSteps.call(this, overlay, number);
    };
    restore = () => {
      WorldState.prototype.stageInSteps = stageInSteps;
    };
    for (let block = 0; block < 8; block++) await commit(chain, await build(chain, supply), waiting);
    expect([...waiting.keys()]).toEqual([toHex((all[5] as SentTransaction).hash)]);
    // Others come while it is set aside, and it is tried again among them.
    const later = Array.from({ length: 3 }, (_, index) =>
      aTransaction({ privateKey: account(index).privateKey, nonce: 1n }),
    );
    for (let block = 0; block < 12; block++) await commit(chain, await build(chain, supply), waiting);
    for (const transaction of later) waiting.set(toHex(transaction.hash), transaction);
    for (let block = 0; block < 4; block++) await commit(chain, await build(chain, supply), waiting);
    expect([waiting.size, dropped]).toEqual([0, ["this node failed to execute it"]]);
    expect(lines.filter(({ level }) => level === "ERROR").at(-1)?.message).toBe(
      "a transaction failed again in the same way and is dropped from the pool",
    );
  });

  it("suspects that no block can have any more keep no other transaction waiting", async () => {
    const { chain } = await open();
    const { supply, waiting } = aSupply(TRANSACTIONS);
    const { stageInSteps } = WorldState.prototype;
    WorldState.prototype.stageInSteps = function (overlay, number) {
      if (atOnce(overlay.changesInSteps()).accounts.length > 2) throw new RangeError("injected");
      return stageInSteps.call(this, overlay, number);
    };
    restore = () => {
      WorldState.prototype.stageInSteps = stageInSteps;
    };
    expect((await build(chain, supply)).transactions).toEqual([]);
    restore();
    const another = aTransaction({ privateKey: account(6).privateKey });
    waiting.clear();
    waiting.set(toHex(another.hash), another);
    for (let block = 0; block < 2; block++) await commit(chain, await build(chain, supply), waiting);
    expect(waiting.size).toBe(0);
  });

  it("more faults than a candidate bears leave it without transactions, not without a block", async () => {
    const { chain } = await open();
    const all = Array.from({ length: 5 }, (_, index) => creation(index));
    const { supply, waiting } = aSupply(all);
    failAt("machine", "begin", 1, { forever: true });
    const candidate = await build(chain, supply);
    expect(candidate.transactions).toEqual([]);
    restore?.();
    await commit(chain, candidate, waiting);
    expect((await build(chain, supply)).transactions).toHaveLength(2);
  });

  it.each(someOf(SPOTS))(
    "a fault in %s.%s before the transactions of a Prague block leaves a sound block with the parent's hash",
    async (place, method) => {
      const prague = await open({ genesis: PRAGUE });
      const { chain } = await open({ genesis: PRAGUE });
      const { supply } = aSupply(TRANSACTIONS);
      const { thrown } = failAt(place, method, 1);
      const candidate = await build(chain, supply);
      restore?.();
      const left = TRANSACTIONS.length - candidate.transactions.length;
      expect(thrown() === 0 ? [0] : [1, TRANSACTIONS.length]).toContain(left);
      expect(await prague.chain.check(candidate)).toEqual({ ok: true });
    },
  );

  it.each([
    ["a failed assertion", new AssertionFailed("injected")],
    ["a failing disk", new DiskError("injected")],
    ["damaged data", new DamagedData("injected")],
  ])("%s is thrown, as it is not about one execution", async (_name, error) => {
    const { chain } = await open();
    failAt("overlay", "account", 2, { error });
    await expect(build(chain, aSupply(TRANSACTIONS).supply)).rejects.toBe(error);
  });
});

describe("while a block of others is checked", () => {
  it.each(someOf(SPOTS))("a fault in %s.%s is this node's", async (place, method) => {
    const candidate = faultless;
    expect(candidate.transactions).toHaveLength(TRANSACTIONS.length);
    const { chain } = await open();
    const during: string[] = [];
    chain.onExecutionFault((work) => during.push(work));
    const { thrown } = failAt(place, method, 1);
    const checked = await chain.check(candidate);
    restore?.();
    if (thrown() > 0) {
      expect(checked).toMatchObject({ ok: false, error: { code: "executionFailed", fault: "local" } });
      expect(during).toEqual(["checking"]);
    } else expect(checked.ok).toBe(true);
    expect(chain.badBlocks()).toEqual([]);
    expect(await chain.check(candidate)).toEqual({ ok: true });
    const block = { header: sealedHeader(candidate, [sign(candidate.digest, DEV_VALIDATOR_KEY)]) };
    const { transactions } = candidate;
    expect((await chain.importBlock({ ...block, transactions, ommers: [] })).ok).toBe(true);
  });
});

describe("a transaction that buys memory beyond what Besu's rules have", () => {
  /** Stores a word at 0xffef0000, for 3.5e13 gas: free where gas is. */
  const tooFar = aTransaction({
    to: undefined,
    data: hexToBytes("0x600163ffef00005200"),
    gasLimit: 100_000_000_000_000n,
    gasPrice: 0n,
    value: 0n,
  });

  async function openHuge(): Promise<Chain> {
    const genesis = { ...(JSON.parse(genesisWith({})) as object), gasLimit: "0x1fffffffffffff" };
    const { chain } = await aChain({
      genesis: JSON.stringify(genesis),
      clock: { nowMs: () => START_SECONDS * 1000 + 60_000, at: () => ({ cancel: () => undefined }) },
      builder: addressOfPrivateKey(DEV_VALIDATOR_KEY),
    });
    return chain;
  }

  it("leaves the pool with a reason, and blocks go on", async () => {
    const chain = await openHuge();
    const later = aTransaction({ privateKey: account(1).privateKey, gasPrice: 0n });
    const { supply, waiting, dropped } = aSupply([tooFar, later]);
    for (let block = 1n; block <= 3n; block++) {
      await commit(chain, await build(chain, supply), waiting);
      expect(chain.head.header.number).toBe(block);
    }
    expect([waiting.size, dropped]).toEqual([0, ["code addresses memory beyond 2 GiB, where Besu has none"]]);
    expect(chain.blockByNumber(1n)?.transactions).toHaveLength(1);
  });

  it("makes a block of others invalid, as in Besu", async () => {
    const chain = await openHuge();
    const candidate = await build(await openHuge(), aSupply([]).supply);
    const transactions = [tooFar];
    const header = { ...candidate.header, transactionsRoot: rootOfList([tooFar.raw]) };
    const checked = await chain.check(createCandidate(header, candidate.extra, transactions));
    expect(checked).toMatchObject({ ok: false, error: { code: "invalidTransaction", fault: "peer" } });
    expect(chain.badBlocks()).toHaveLength(1);
  });
});
