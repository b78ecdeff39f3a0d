import { beforeAll, describe, expect, it } from "vitest";
import type { TransactionSupply } from "../../src/chain/blockExecution.ts";
import type { Chain } from "../../src/chain/createChain.ts";
import { BLOCK_EFFECTS, TRANSACTION_EFFECTS } from "../../src/chain/timing/largeEffects.ts";
import { DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { loadInterpreter } from "../../src/execution/blockSession.ts";
import { type Candidate, createCandidate, sealedHeader } from "../../src/ibft/candidate.ts";
import { respondTo, type ServedParts } from "../../src/network/eth/serve.ts";
import { addressFromHex } from "../../src/primitives/address.ts";
import type { Hash } from "../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import { addressOfPrivateKey, sign } from "../../src/primitives/secp256k1.ts";
import { rootOfList } from "../../src/types/listRoot.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aChain } from "../builders/aChain.ts";
import { aSupply } from "../builders/aSupply.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { genesisWith } from "../builders/genesisWith.ts";
import { loggedLines } from "../builders/loggedLines.ts";
import { account } from "../builders/testAccounts.ts";
import { mostCopied } from "../primitives/mostCopied.ts";
import { itIfThorough } from "../thorough.ts";

const MIB = 1024 * 1024;
const START_SECONDS = 1_800_000_000;
/** Logs as many bytes as the call's data says. */
const LOGGER = "0x00000000000000000000000000000000000109e5";
/** Logs words without end, each with four topics, until the gas is used up: the call fails and its logs are undone. */
const SPENDER = "0x00000000000000000000000000000000000109e6";
/** Calls SPENDER with 4,000,000 gas, some 2 MiB of logs, as many times as the call's data says, and then logs one byte. */
const CALLER = "0x00000000000000000000000000000000000109e7";
/** Writes the block's number into as many slots as the call's data says. */
const WRITER = "0x00000000000000000000000000000000000109e8";
/** Likewise, and then reverts. */
const REVERTER = "0x00000000000000000000000000000000000109e9";
/** Calls WRITER twice with the call's data: each slot is written twice. */
const TWICE = "0x00000000000000000000000000000000000109ea";
/** Calls REVERTER three times with the call's data. */
const UNDONE = "0x00000000000000000000000000000000000109eb";
/** Sends one wei each to as many new accounts as the call's data says. */
const PAYER = "0x00000000000000000000000000000000000109ec";

/** Copies the call's data to memory. */
const COPY = "6000356000" + "52";
function call(to: string): string {
  return `6000600060206000600073${to.slice(2)}5af150`;
}

const CODE = {
  [LOGGER]: "0x6000356000a000",
  // JUMPDEST; five zeros and a size of 32; LOG4; JUMP to 0
  [SPENDER]: "0x5b600060006000600060206000a4600056",
  // count; JUMPDEST at 3: call; pop; subtract 1; jump back unless 0; log a byte
  [CALLER]: `0x6000355b6000600060006000600073${SPENDER.slice(2)}623d0900f150600190038060035760016000a000`,
  // count; JUMPDEST at 3: SSTORE of NUMBER; subtract 1; jump back unless 0
  [WRITER]: "0x6000355b4381556001900380600357" + "00",
  [REVERTER]: "0x6000355b4381556001900380600357" + "60006000fd",
  [TWICE]: `0x${COPY}${call(WRITER)}${call(WRITER)}00`,
  [UNDONE]: `0x${COPY}${call(REVERTER).repeat(3)}00`,
  // count; JUMPDEST at 3: call the account at 2^128 plus the count with a wei; pop; subtract 1; jump back unless 0
  [PAYER]: `0x6000355b60006000600060006001857001${"00".repeat(16)}015af150600190038060035700`,
};

function aLog(sender: number, bytes: number, nonce = 0n): SentTransaction {
  return calling(LOGGER, BigInt(bytes), { nonce, privateKey: account(sender).privateKey });
}

function calling(
  to: string,
  word: bigint,
  changes: Parameters<typeof aTransaction>[0] = {},
): SentTransaction {
  return aTransaction({
    to: addressFromHex(to),
    data: bigintToFixedBytes(word, 32),
    gasLimit: 20_000_000_000n,
    gasPrice: 0n,
    value: 0n,
    ...changes,
  });
}

async function open(
  choices: Partial<Parameters<typeof aChain>[0]> = {},
  config: object = {},
): Promise<Chain> {
  const genesis = JSON.parse(genesisWith(config)) as { alloc: object };
  const alloc = Object.fromEntries(
    Object.entries(CODE).map(([at, code]) => [at, { balance: "0xffffffff", code }]),
  );
  const { chain } = await aChain({
    genesis: JSON.stringify({
      ...genesis,
      gasLimit: "0x1fffffffffffff",
      alloc: { ...genesis.alloc, ...alloc },
    }),
    clock: { nowMs: () => START_SECONDS * 1000 + 60_000, at: () => ({ cancel: () => undefined }) },
    builder: addressOfPrivateKey(DEV_VALIDATOR_KEY),
    ...choices,
  });
  return chain;
}

async function build(chain: Chain, supply: TransactionSupply): Promise<Candidate> {
  const { head } = chain;
  const built = await chain.build(
    { parent: head, round: 0, timestamp: BigInt(START_SECONDS) + head.header.number },
    supply,
  );
  if (!built.ok) throw new Error(built.error.message);
  return built.value;
}

/** Builds and commits a block; returns how many transactions it has. */
async function mine(chain: Chain, { supply, waiting }: ReturnType<typeof aSupply>): Promise<number> {
  const candidate = await build(chain, supply);
  const committed = await chain.commit(candidate, [sign(candidate.digest, DEV_VALIDATOR_KEY)]);
  expect(committed.ok).toBe(true);
  for (const { hash } of candidate.transactions) waiting.delete(toHex(hash));
  return candidate.transactions.length;
}

beforeAll(loadInterpreter);

describe("the logs of our blocks", () => {
  it("a transaction with more than 8 MiB of them is dropped with a reason, and blocks go on", async () => {
    const { logger, lines } = loggedLines();
    const chain = await open({ logger });
    const pool = aSupply([aLog(0, 64 * MIB), aLog(1, TRANSACTION_EFFECTS.bytes), aLog(2, 1)]);
    expect(await mine(chain, pool)).toBe(1);
    expect(pool.waiting.size).toBe(0);
    const reason =
      "its logs and new code cost more than 8 MiB, the limit of one transaction in this node's blocks";
    expect(pool.dropped).toEqual([reason, reason]);
    const warnings = lines.filter(({ level }) => level === "WARN").map(({ message }) => message);
    expect(new Set(warnings)).toEqual(
      new Set(["a transaction logs, stores or changes more than a block of this node may have: dropped"]),
    );
    expect(await mine(chain, pool)).toBe(0);
  });

  itIfThorough(
    "several transactions of 7 MiB are spread over blocks, in spite of the gas that is left",
    async () => {
      const chain = await open();
      const pool = aSupply(Array.from({ length: 7 }, (_, sender) => aLog(sender, 7 * MIB)));
      const mined: number[] = [];
      for (let block = 0; block < 12 && pool.waiting.size > 0; block++) {
        const count = await mine(chain, pool);
        mined.push(count);
        expect(count * 7 * MIB).toBeLessThanOrEqual(BLOCK_EFFECTS.bytes);
      }
      expect(pool.dropped).toEqual([]);
      expect(mined.reduce((sum, count) => sum + count, 0)).toBe(7);
      expect(mined.length).toBeGreaterThan(1);
    },
  );

  it("those of reverted calls do not count", async () => {
    const chain = await open();
    const pool = aSupply([calling(CALLER, 12n)]);
    expect(await mine(chain, pool)).toBe(1);
    expect(pool.dropped).toEqual([]);
    expect(chain.blockByNumber(1n)?.receipts[0]?.logs.map(({ data }) => data.length)).toEqual([1]);
  });
});

describe("the changes of our blocks", () => {
  const { changes: most } = TRANSACTION_EFFECTS;

  it.each([
    { what: "slots", contract: WRITER },
    { what: "new accounts", contract: PAYER },
  ])(
    "a transaction that changes more than 20,000 $what is dropped with a reason, and blocks go on",
    async ({ contract }) => {
      const chain = await open();
      const pool = aSupply([
        calling(contract, BigInt(most)),
        calling(WRITER, 1n, { privateKey: account(1).privateKey }),
      ]);
      // It is tried again while it might fit into a block with more time.
      let mined = 0;
      for (let block = 0; block < 12 && pool.waiting.size > 0; block++) mined += await mine(chain, pool);
      expect(mined).toBe(1);
      expect(pool.dropped).toEqual([
        "it changes more than 20,000 accounts and storage slots, the limit of one transaction in this node's blocks",
      ]);
    },
  );

  it.each([
    { what: "changes", transaction: calling(WRITER, BigInt(most - 100)) },
    { what: "logs", transaction: aLog(0, 7 * MIB) },
  ])(
    "a lone validator mines the first $what at once: no block without it might follow",
    async ({ transaction }) => {
      const chain = await open();
      const pool = aSupply([transaction]);
      expect(await mine(chain, pool)).toBe(1);
    },
  );

  it("a lone validator mines one that there is no time for after small ones in each block, not two", async () => {
    const chain = await open();
    // A change takes a tenth of a second.
    chain.restoreBlockTiming({ fixedMs: 0, eachMs: 100 });
    const large = (sender: number) =>
      calling(WRITER, BigInt(most / 2), { privateKey: account(sender).privateKey });
    const small = calling(WRITER, 9n);
    const pool = aSupply([small, large(1), large(2), large(3)]);
    const candidate = await build(chain, pool.supply);
    expect(candidate.transactions).toEqual([small, large(1)]);
  });

  itIfThorough(
    "a lone validator mines one that there is no time for in the end, although another large one always comes first",
    async () => {
      const chain = await open();
      const large = calling(WRITER, BigInt(most / 2), { privateKey: account(1).privateKey });
      let mined = false;
      for (let block = 0; block < 40 && !mined; block++) {
        // A change takes a millisecond.
        chain.restoreBlockTiming({ fixedMs: 0, eachMs: 1 });
        const other = calling(WRITER, 600n, { nonce: BigInt(block) });
        const { supply } = aSupply([other, large]);
        const candidate = await build(chain, supply);
        expect(candidate.transactions[0]).toBe(other);
        mined = candidate.transactions.includes(large);
        expect((await chain.commit(candidate, [sign(candidate.digest, DEV_VALIDATOR_KEY)])).ok).toBe(true);
      }
      expect(mined).toBe(true);
    },
  );

  it("what stays below is mined, however often it writes, and what reverts does not count", async () => {
    const chain = await open();
    const pool = aSupply([
      calling(TWICE, BigInt(most - 100)),
      calling(UNDONE, BigInt(most / 2), { privateKey: account(1).privateKey }),
    ]);
    for (let block = 0; block < 12 && pool.waiting.size > 0; block++) await mine(chain, pool);
    expect(pool.waiting.size).toBe(0);
    expect(pool.dropped).toEqual([]);
    for (const { receipts } of blocksOf(chain))
      for (const { outcome } of receipts) expect(outcome).toEqual({ status: 1 });
  });

  it("code that is stored counts by its bytes", async () => {
    const chain = await open({}, { contractSizeLimit: 64 * MIB });
    const data = hexToBytes("0x62900000" + "6000f3");
    const pool = aSupply([
      aTransaction({ to: undefined, data, gasLimit: 20_000_000_000n, gasPrice: 0n, value: 0n }),
    ]);
    expect(await mine(chain, pool)).toBe(0);
    expect(pool.dropped).toEqual([
      "its logs and new code cost more than 8 MiB, the limit of one transaction in this node's blocks",
    ]);
  });

  function blocksOf({ head, blockByNumber }: Chain) {
    const numbers = Array.from({ length: Number(head.header.number) }, (_, at) => BigInt(at + 1));
    return numbers.map((number) => blockByNumber(number)).filter((block) => block !== undefined);
  }
});

describe("a block of others with 40 MiB of logs", () => {
  itIfThorough(
    "is valid, and is served to peers with pauses by bytes, save the receipts, which no message holds",
    async () => {
      const chain = await open();
      const transactions = Array.from({ length: 4 }, (_, sender) => aLog(sender, 10 * MIB));
      const candidate = await byOthers(chain, transactions);
      const header = sealedHeader(candidate, [sign(candidate.digest, DEV_VALIDATOR_KEY)]);
      const other = await open();
      expect((await other.importBlock({ header, transactions, ommers: [] })).ok).toBe(true);
      const { hash } = other.head;
      const served = (kind: "getBlockBodies" | "getReceipts", hashes: readonly Hash[]) => {
        const parts = { chain: other, pool: { get: () => undefined } } as unknown as ServedParts;
        const answer = mostCopied(respondTo({ kind, requestId: 1n, hashes }, parts));
        expect(answer.bytes).toBeLessThan(MIB);
        return answer.result.payload.length;
      };
      expect(served("getBlockBodies", [hash])).toBeGreaterThan(4 * 100);
      // The answer has none.
      expect(served("getReceipts", [hash])).toBe(3);
      await mine(other, aSupply([aLog(5, 3 * MIB)]));
      expect(served("getReceipts", [hash, other.head.hash])).toBeGreaterThan(3 * MIB);
    },
  );

  /** A block that this node would not make: what executing it gives is learnt from those who judge it. */
  async function byOthers(chain: Chain, transactions: readonly SentTransaction[]): Promise<Candidate> {
    // The state and the bloom of such a block do not depend on how many bytes its logs have.
    const small = transactions.map((_, sender) => aLog(sender, 1));
    const { header, extra } = await build(chain, aSupply(small).supply);
    const learnt: Record<string, unknown> = {
      transactionsRoot: rootOfList(transactions.map(({ raw }) => raw)),
    };
    for (let wrong = 0; wrong < 5; wrong++) {
      const candidate = createCandidate({ ...header, ...learnt }, extra, transactions);
      const checked = await chain.check(candidate);
      if (checked.ok) return candidate;
      const { message } = checked.error;
      const [, name = "", is = ""] =
        /(gas used|receipts root|logs bloom|state root)(?: is)? (\w+)/.exec(message) ?? [];
      const field = { "gas used": "gasUsed", "receipts root": "receiptsRoot", "logs bloom": "logsBloom" }[
        name
      ];
      learnt[field ?? "stateRoot"] = is.startsWith("0x") ? hexToBytes(is) : BigInt(is);
    }
    throw new Error("no valid block");
  }
});
