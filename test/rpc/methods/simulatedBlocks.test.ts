import { RLP } from "@ethereumjs/rlp";
import { beforeAll, describe, expect, it } from "vitest";
import { queryState } from "../../../src/calls/queryState.ts";
import { DEV_VALIDATOR_KEY } from "../../../src/config/devNetwork.ts";
import type {
  StateQuery,
  StateQueryResult,
  StateQueryRunner,
} from "../../../src/execution/simulation/stateQuery.ts";
import type { Address } from "../../../src/primitives/address.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { bigintToBytes, toQuantity } from "../../../src/primitives/quantity.ts";
import { addressOfPrivateKey } from "../../../src/primitives/secp256k1.ts";
import { StateHistory } from "../../../src/state/stateHistory.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { aChain, type TestChain } from "../../builders/aChain.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { genesisWith } from "../../builders/genesisWith.ts";
import { createHandClock } from "../../builders/handClock.ts";
import { hereWorkers } from "../../builders/hereWorkers.ts";
import { commitBlock } from "../../builders/sealedChain.ts";
import { account } from "../../builders/testAccounts.ts";
import { type Ask, requesterOf } from "../requester.ts";

const START_SECONDS = 1_700_000_000;
/** The contract that stores the parent hash since Prague (EIP-2935); here with code that stores it under the parent's number. */
const HISTORY_CONTRACT = "0x0000f90827f1c53a10cb7a02335b175320002935";
/** Stores call data under the number of the parent block. */
const KEEPER = "0x6000356001430355";
/** Creates a contract that adds one to slot 0 and emits an empty log. */
const CREATION = hexToBytes("0x600f600c600039600f6000f360016000540160005560006000a000");
/** Its address, created by the first account's second transaction. */
const CREATED = "0xe7f1725e7734ce288f8367e1bb143e90bb3f0512";

/** A chain whose blocks change the state in every way: fees, a reward, and the parent's hash. */
function genesis(): string {
  const ibft2 = { blockperiodseconds: 1, epochlength: 30000, requesttimeoutseconds: 10, blockreward: "0x64" };
  const base = JSON.parse(genesisWith({ zeroBaseFee: false, pragueTime: 0, ibft2 })) as { alloc: object };
  const alloc = { ...base.alloc, [HISTORY_CONTRACT]: { balance: "0x0", code: KEEPER } };
  return JSON.stringify({ ...base, baseFeePerGas: "0x3b9aca00", alloc });
}

function transactions(): readonly (readonly SentTransaction[])[] {
  const next = (nonce: bigint, more: Parameters<typeof aTransaction>[0]) =>
    aTransaction({ type: 2, nonce, maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 7n, ...more });
  const calling = { to: hexToBytes(CREATED) as Address, value: 0n };
  return [
    [next(0n, { value: 5n }), next(1n, { to: undefined, value: 0n, data: CREATION }), next(2n, calling)],
    [next(3n, calling)],
  ];
}

type BlockJson = Readonly<Record<string, unknown>>;

let node: TestChain;
let ask: Ask;

beforeAll(async () => {
  const clock = createHandClock(START_SECONDS * 1000);
  const builder = addressOfPrivateKey(DEV_VALIDATOR_KEY);
  node = await aChain({ genesis: genesis(), clock, builder });
  ask = requesterOf({ ...node, ...hereWorkers(node) });
  for (const [index, body] of transactions().entries()) {
    const timestamp = BigInt(START_SECONDS + index);
    clock.advanceTo(Number(timestamp) * 1000);
    await commitBlock(node.chain, timestamp, body);
  }
});

function queryWith(gasCap: bigint): StateQueryRunner["query"] {
  const { spec, database } = node;
  const stored = { spec, database, history: new StateHistory(database), gasCap };
  return async <Job extends StateQuery>(job: Job) => (await queryState(stored, job)) as StateQueryResult<Job>;
}

function callOf(transaction: SentTransaction): object {
  const { sender, to, nonce, gasLimit, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = transaction;
  return {
    from: toHex(sender),
    ...(to && { to: toHex(to) }),
    nonce: toQuantity(nonce),
    gas: toQuantity(gasLimit),
    maxFeePerGas: toQuantity(maxFeePerGas),
    maxPriorityFeePerGas: toQuantity(maxPriorityFeePerGas),
    value: toQuantity(transaction.value),
    data: toHex(transaction.data),
  };
}

async function simulated(blockStateCalls: readonly object[], from: string, more: object = {}) {
  return (await ask("eth_simulateV1", { blockStateCalls, ...more }, from)) as readonly BlockJson[];
}

describe("simulated blocks", () => {
  it("have the state root, receipts and gas of real blocks with the same transactions", async () => {
    const real = await Promise.all(
      [1, 2].map((n) => ask("eth_getBlockByNumber", toQuantity(BigInt(n)), false)),
    );
    const [first, second] = real as readonly BlockJson[];
    const feeRecipient = first?.["miner"];
    const blockStateCalls = transactions().map((body, index) => ({
      blockOverrides: { time: toQuantity(BigInt(START_SECONDS + index)), feeRecipient },
      calls: body.map(callOf),
    }));
    // The second block has the first one's hash as parent, which differs from the real one's because it has no seals.
    const alone = blockStateCalls.slice(1);
    const made = await simulated(blockStateCalls, "0x0", { validation: true });
    const next = await simulated(alone, "0x1", { validation: true });
    const members = [
      "number",
      "stateRoot",
      "receiptsRoot",
      "logsBloom",
      "gasUsed",
      "gasLimit",
      "baseFeePerGas",
    ];
    const pick = (block: BlockJson = {}) => members.map((member) => [member, block[member]]);
    expect(pick(made[0])).toEqual(pick(first));
    expect(pick(next[0])).toEqual(pick(second));
    expect(made[1]?.["stateRoot"]).not.toBe(second?.["stateRoot"]);
    expect(next[0]?.["parentHash"]).toBe(first?.["hash"]);
  });

  it("see the states and hashes of earlier blocks, and change nothing", async () => {
    const head = await ask("eth_getBlockByNumber", "latest", false);
    const touch = { from: toHex(account(3).address), to: CREATED };
    const made = await simulated([{ calls: [touch] }, {}, { calls: [touch] }], "latest");
    const roots = made.map(({ stateRoot }) => stateRoot);
    expect(new Set([...roots, (head as BlockJson)["stateRoot"]]).size).toBe(4);
    expect(made.slice(1).map(({ parentHash }) => parentHash)).toEqual(
      made.slice(0, 2).map(({ hash }) => hash),
    );
    expect(made.map(({ miner }) => miner)).toEqual(made.map(() => (head as BlockJson)["miner"]));
    expect(await ask("eth_getBlockByNumber", "latest", false)).toEqual(head);
    expect(await simulated([{ calls: [touch] }, {}, { calls: [touch] }], "latest")).toEqual(made);
  });

  it("have precompiled contracts where overrides move them, separately in each block", async () => {
    const [identity, elsewhere] = [`0x${"4".padStart(40, "0")}`, `0x${"c4".repeat(20)}`];
    const calls = [identity, elsewhere].map((to) => ({ to, data: "0x1234" }));
    const move = (to: string) => ({ stateOverrides: { [identity]: { movePrecompileToAddress: to } }, calls });
    const returned = (await simulated([move(elsewhere), { calls }], "latest")).map((block) =>
      (block["calls"] as BlockJson[]).map(({ returnData }) => returnData),
    );
    expect(returned).toEqual([
      ["0x", "0x1234"],
      ["0x1234", "0x"],
    ]);
    const nowhere = { stateOverrides: { [elsewhere]: { movePrecompileToAddress: identity } } };
    expect(await simulated([nowhere], "latest")).toMatchObject({ code: -32000 });
  });

  it("share the operator's gas cap of a simulation", async () => {
    const capped = requesterOf({ ...node, stateQueries: { query: queryWith(45_000n) } });
    const transfer = { to: CREATED, data: "0x", gas: "0x186a0" };
    const simulate = (count: number) =>
      capped("eth_simulateV1", {
        blockStateCalls: Array.from({ length: count }, () => ({ calls: [transfer] })),
        returnFullTransactions: true,
      });
    const [first] = (await simulate(1)) as BlockJson[];
    expect(first?.["transactions"]).toMatchObject([{ gas: toQuantity(45_000n) }]);
    expect(await simulate(2)).toMatchObject({ code: -38013 });
  });

  it.each([
    ["returns a megabyte", "0x620f42405ff3"],
    ["reverts with a megabyte", "0x620f42405ffd"],
    ["logs a megabyte", "0x620f42405fa0"],
    ["emits a thousand empty logs", "0x6103e85b5f5fa0600190038060035700"],
  ])("are refused when the answer would be too large: each %s", async (_name, code) => {
    const call = { to: CREATED, gas: "0x1000000" };
    const simulate = (count: number) => {
      const blockOverrides = { gasLimit: "0xffffffffff" };
      const stateOverrides = { [CREATED]: { code } };
      const calls = Array.from({ length: count }, () => call);
      return simulated([{ blockOverrides, stateOverrides, calls }], "latest");
    };
    expect(await simulate(16)).toHaveLength(1);
    expect(await simulate(17)).toMatchObject({ code: -38026 });
  });

  it("have the hash of their header, and their size in bytes", async () => {
    const [block = {}] = await simulated([{ blockOverrides: { baseFeePerGas: "0x7" } }], "latest");
    const items = HEADER_MEMBERS.map((member) => hexToBytes(block[member] as string));
    const numbers = HEADER_NUMBERS.map((member) => bigintToBytes(BigInt(block[member] as string)));
    const header = [...items.slice(0, 7), ...numbers.slice(0, 5), ...items.slice(7), ...numbers.slice(5)];
    expect(block["hash"]).toBe(toHex(keccak256(RLP.encode(header))));
    expect(block["size"]).toBe(toQuantity(BigInt(RLP.encode([header, [], []]).length)));
  });
});

const HEADER_MEMBERS = [
  ...["parentHash", "sha3Uncles", "miner", "stateRoot", "transactionsRoot", "receiptsRoot", "logsBloom"],
  ...["extraData", "mixHash", "nonce"],
];
const HEADER_NUMBERS = ["difficulty", "number", "gasLimit", "gasUsed", "timestamp", "baseFeePerGas"];
