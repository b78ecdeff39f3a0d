import { describe, expect, it } from "vitest";
import type { ChainSpec } from "../../src/chainspec/chainSpec.ts";
import { FORK_NAMES, type ForkName } from "../../src/chainspec/forks.ts";
import {
  type CallRequest,
  type SimulationResult,
  SLOT_LENGTH,
  unpackTouched,
} from "../../src/execution/simulation/callRequest.ts";
import { runSimulation } from "../../src/execution/simulation/runSimulation.ts";
import type { CallContext } from "../../src/execution/simulation/simulate.ts";
import { memoryBounded } from "../../src/execution/yieldPolicy.ts";
import { asHash } from "../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import type { StateReader } from "../../src/state/stateReader.ts";
import type { Header } from "../../src/types/header.ts";
import { account } from "../builders/testAccounts.ts";
import {
  anOverlay,
  BENEFICIARY,
  CHAIN_ID,
  type ContextAccount,
  chainHashOf,
  contractAt,
  ETHER,
  slotOf,
  word,
} from "./context.ts";

const CONTRACT = contractAt(1);
const OTHER = contractAt(2);
const SMALL_MEMORY_BYTES = 1024 * 1024;
const RETURN_WORD = "60005260206000f3";

interface Choices {
  readonly fork?: ForkName;
  readonly header?: Partial<Header>;
  readonly gasCap?: bigint;
  readonly accounts?: Readonly<Record<string, ContextAccount>>;
}

/** Block 100 of a chain under one fork from its first block on; London and later with a base fee of 7 wei. */
function aCallContext(
  code: string,
  { fork = "cancun", header = {}, gasCap = 0n, accounts = {} }: Choices = {},
): CallContext {
  const state: StateReader = anOverlay([
    [CONTRACT, { code, ...accounts["contract"] }],
    [OTHER, accounts["other"] ?? {}],
  ]);
  const hasBaseFee = FORK_NAMES.indexOf(fork) >= FORK_NAMES.indexOf("london");
  const spec = {
    chainId: CHAIN_ID,
    forks: { activations: [{ fork, at: { block: 0n } }] },
    ibft: { eras: [{ fromBlock: 0n, parameters: { blockPeriodSeconds: 1, blockRewardWei: 0n } }] },
    contractSizeLimitBytes: 24_576,
    evmStackSize: 1024,
    isZeroBaseFee: false,
  } as unknown as ChainSpec;
  return {
    spec,
    header: {
      parentHash: chainHashOf(99n),
      number: 100n,
      timestamp: 1_700_000_000n,
      gasLimit: 30_000_000n,
      coinbase: BENEFICIARY,
      difficulty: 1n,
      mixHash: asHash(slotOf(1)),
      ...(hasBaseFee && { baseFeePerGas: 7n }),
      ...header,
    } as Header,
    state,
    ancestorHash: chainHashOf,
    gasCap,
  };
}

async function call(context: CallContext, request: CallRequest = {}): Promise<SimulationResult> {
  return runSimulation({ kind: "call", call: { to: CONTRACT, ...request }, blockNumber: 100n }, context);
}

async function estimate(context: CallContext, request: CallRequest = {}): Promise<SimulationResult> {
  return runSimulation(
    { kind: "estimateGas", call: { to: CONTRACT, ...request }, blockNumber: 100n },
    context,
  );
}

async function list(context: CallContext, request: CallRequest = {}): Promise<SimulationResult> {
  return runSimulation(
    { kind: "createAccessList", call: { to: CONTRACT, ...request }, blockNumber: 100n },
    context,
  );
}

function dataOf(result: SimulationResult): string {
  return result.kind === "returned" || result.kind === "reverted" ? toHex(result.data) : result.kind;
}

describe("eth_call", () => {
  it("sees the block's own header, its parent by BLOCKHASH, and the incremented nonce", async () => {
    expect(dataOf(await call(aCallContext(`0x43${RETURN_WORD}`)))).toBe(toHex(word(100n)));
    expect(dataOf(await call(aCallContext(`0x45${RETURN_WORD}`)))).toBe(toHex(word(30_000_000n)));
    expect(dataOf(await call(aCallContext(`0x606340${RETURN_WORD}`)))).toBe(toHex(chainHashOf(99n)));
    const creation = await runSimulation(
      {
        kind: "call",
        call: { from: account(0).address, data: hexToBytes(`0x30${RETURN_WORD}`) },
        blockNumber: 100n,
      },
      aCallContext("0x"),
    );
    // The address of a creation depends on the nonce before the increment.
    expect(dataOf(creation)).toBe(toHex(word(hexToBytes("0x5fbdb2315678afecb367f032d93f642f64180aa3"))));
  });

  it("reads the hash of an earlier block once, however often BLOCKHASH asks for it", async () => {
    const asked: bigint[] = [];
    const context: CallContext = {
      ...aCallContext(`0x${["60504050", "60514050"].join("").repeat(100)}605040${RETURN_WORD}`),
      ancestorHash(number) {
        asked.push(number);
        return chainHashOf(number);
      },
    };
    expect(dataOf(await call(context))).toBe(toHex(chainHashOf(80n)));
    expect(asked).toEqual([80n, 81n]);
  });

  it("is free, and sees a base fee of zero, unless it has a price", async () => {
    const price = aCallContext(`0x3a${RETURN_WORD}`);
    const baseFee = aCallContext(`0x48${RETURN_WORD}`);
    const from = account(0).address;
    expect(dataOf(await call(price))).toBe(toHex(word(0n)));
    expect(dataOf(await call(baseFee))).toBe(toHex(word(0n)));
    expect(dataOf(await call(baseFee, { from, gasPrice: 8n }))).toBe(toHex(word(7n)));
    expect(dataOf(await call(price, { from, maxFeePerGas: 9n, maxPriorityFeePerGas: 1n }))).toBe(
      toHex(word(8n)),
    );
    expect(dataOf(await call(price, { from, maxFeePerGas: 9n, strict: false }))).toBe(toHex(word(0n)));
  });

  it("must be affordable if strict", async () => {
    const poor = contractAt(7);
    const london = aCallContext("0x00");
    const berlin = aCallContext("0x00", { fork: "berlin" });
    const refused = { kind: "refused", code: "upfrontCostAboveBalance" };
    const strict = { from: poor, strict: true };
    expect(await call(london, { ...strict, gasPrice: 8n })).toMatchObject(refused);
    expect(await call(london, { ...strict, maxFeePerGas: 8n })).toMatchObject(refused);
    expect(await call(london, { from: poor })).toMatchObject({ kind: "returned" });
    expect(await call(london, { from: poor, strict: true })).toMatchObject({ code: "gasPriceBelowBaseFee" });
    expect(await call(berlin, { ...strict, gasPrice: 1n })).toMatchObject(refused);
    expect(await call(berlin, { from: poor, maxFeePerGas: 1n })).toMatchObject({ kind: "returned" });
    expect(await call(berlin, { ...strict, value: 1n })).toMatchObject({
      ...refused,
      detail: "transaction up-front cost 0x1 exceeds transaction sender account balance 0x0",
    });
    const tip = { from: account(0).address, maxFeePerGas: 8n, maxPriorityFeePerGas: 9n };
    expect(await call(london, tip)).toMatchObject({ kind: "refused", code: "priorityFeeAboveFeeCap" });
    expect(await call(berlin, tip)).toMatchObject({ kind: "returned" });
  });

  it("never fails for lack of balance unless strict, and sees its own price and value", async () => {
    const poor = contractAt(7);
    // Returns the price, the value, and the remaining balances of sender and contract.
    const seen = `0x3a600052346020523331604052475f60605260806000f3`;
    const wordsOf = async (request: CallRequest): Promise<readonly bigint[]> => {
      const data = dataOf(await call(aCallContext(seen, { fork: "shanghai" }), { from: poor, ...request }));
      return [2, 66, 130].map((at) => BigInt(`0x${data.slice(at, at + 64)}`));
    };
    for (const strict of [undefined, false]) {
      const options = strict === undefined ? {} : { strict };
      expect(await wordsOf({ ...options, value: 5n * ETHER })).toEqual([0n, 5n * ETHER, 0n]);
      expect(await wordsOf({ ...options, value: 2n ** 255n })).toEqual([0n, 2n ** 255n, 0n]);
    }
    expect(await wordsOf({ gasPrice: 8n, value: 3n })).toEqual([8n, 3n, 0n]);
    expect(await wordsOf({ gasPrice: 8n, value: 3n, strict: false })).toEqual([0n, 3n, 0n]);
    expect(await wordsOf({ maxFeePerGas: 9n, maxPriorityFeePerGas: 1n })).toEqual([8n, 0n, 0n]);
    // A sender that can pay keeps its own balance.
    const rich = await wordsOf({ from: account(0).address, value: ETHER });
    expect(rich[2]).toBeGreaterThan(0n);
    expect(await estimate(aCallContext("0x00"), { from: poor, value: 1n })).toMatchObject({
      code: "upfrontCostAboveBalance",
    });
    expect(await list(aCallContext("0x00"), { from: poor, value: 1n })).toMatchObject({
      code: "upfrontCostAboveBalance",
    });
  });

  it("may come from a contract, and is limited by its own gas limit, the block's, or the operator's cap", async () => {
    expect(await call(aCallContext("0x00"), { from: CONTRACT })).toMatchObject({
      kind: "returned",
      gas: 21_000n,
    });
    const gas = `0x5a${RETURN_WORD}`;
    expect(dataOf(await call(aCallContext(gas)))).toBe(toHex(word(30_000_000n - 21_002n)));
    expect(dataOf(await call(aCallContext(gas), { gasLimit: 10n ** 12n }))).toBe(
      toHex(word(10n ** 12n - 21_002n)),
    );
    expect(dataOf(await call(aCallContext(gas, { gasCap: 50_000n }), { gasLimit: 22_000n }))).toBe(
      toHex(word(28_998n)),
    );
    expect(await call(aCallContext("0x00"), { gasLimit: 20_999n })).toEqual({
      kind: "refused",
      code: "intrinsicGasAboveLimit",
      detail: "intrinsic gas cost 21000 exceeds gas limit 20999",
    });
  });

  it("ends as too large if it takes or returns too much memory, whatever its gas", async () => {
    const gasLimit = 2n ** 60n;
    const run = (code: string, request: CallRequest = {}) =>
      call(aCallContext(code, { fork: "shanghai" }), { gasLimit, ...request });
    const [filled, callsItself] = ["63039387005f5f39", "5f5f5f5f5f305af1"];
    expect(await run(`0x${filled}${callsItself}`)).toEqual({ kind: "tooLarge" });
    // The memory of earlier callees is released.
    const callee = `5b${filled}00`;
    const sixCalls = "5f5f60015f5f305af150".repeat(6);
    expect(await run(`0x36604157${sixCalls}00${callee}`)).toMatchObject({ kind: "returned" });
    expect(await run("0x63010000005ff3")).toMatchObject({ kind: "returned" });
    expect(await run("0x63010000015ff3")).toEqual({ kind: "tooLarge" });
    expect(await run("0x63010000015ffd")).toEqual({ kind: "tooLarge" });
    expect(await run(`0x${filled}`, { gasLimit: 30_000_000n })).toMatchObject({
      kind: "halted",
      reason: "INSUFFICIENT_GAS",
    });
  });

  it.each([
    ["writes many slots", "808055"],
    ["reads many slots", "805450"],
    ["writes many transient slots", "80805d"],
    ["reads many accounts", "803150"],
    ["calls many accounts", "5f5f5f5f5f855af150"],
    ["creates many contracts", "5f5f5ff050"],
    ["emits many empty logs", "5f5fa0"],
  ])("ends as too large, whatever its gas, if it %s", async (_, body) => {
    // The stack holds a counter.
    const flood = `0x5f5b${body}600101600156`;
    const context = { ...aCallContext(flood), yieldPolicy: memoryBounded(SMALL_MEMORY_BYTES) };
    expect(await call(context, { gasLimit: 2n ** 60n })).toEqual({ kind: "tooLarge" });
  });

  it("counts the memory of overrides", async () => {
    const slots = Array.from({ length: 2000 }, (_, n) => ({
      slot: asHash(slotOf(n)),
      value: Uint8Array.of(1),
    }));
    const overrides = { accounts: [{ address: CONTRACT, storage: { replacesAll: false, slots } }] };
    const context = { ...aCallContext("0x00"), yieldPolicy: memoryBounded(SMALL_MEMORY_BYTES) };
    const job = { kind: "call", call: { to: CONTRACT }, blockNumber: 100n, overrides } as const;
    expect(await runSimulation(job, context)).toEqual({ kind: "tooLarge" });
  });

  it.each([
    ["a slot", "805f55"],
    ["a transient slot", "805f5d"],
  ])("takes little memory if it writes %s repeatedly", async (_, body) => {
    const tenThousandTimes = `0x5f5b${body}6001018061271011600157`;
    const context = { ...aCallContext(tenThousandTimes), yieldPolicy: memoryBounded(SMALL_MEMORY_BYTES) };
    expect(await call(context, { gasLimit: 2n ** 60n })).toMatchObject({ kind: "returned" });
  });

  it.each([
    ["writes slots", (slot: string) => `600160${slot}55`],
    ["writes transient slots", (slot: string) => `600160${slot}5d`],
    ["logs", () => "5f5fa0"],
  ])("releases the memory of a reverted callee that %s", async (_, step) => {
    // Calls itself 200 times; each callee performs the step 20 times and reverts.
    const steps = Array.from({ length: 20 }, (_, slot) => step(slot.toString(16).padStart(2, "0")));
    const callee = `5b${steps.join("")}5f5ffd`;
    const code = `0x36601a5760c85b5f5f60015f5f305af1506001900380600657005b${callee.slice(2)}`;
    const context = { ...aCallContext(code), yieldPolicy: memoryBounded(SMALL_MEMORY_BYTES) };
    expect(await call(context, { gasLimit: 2n ** 60n })).toMatchObject({ kind: "returned" });
  });

  it("returns a revert with its data, and a halt with its reason", async () => {
    expect(await call(aCallContext("0x602a60005260206000fd"))).toMatchObject({
      kind: "reverted",
      data: word(42n),
    });
    expect(await call(aCallContext("0xfe"), { gasLimit: 30_000n })).toEqual({
      kind: "halted",
      reason: "INVALID_OPERATION",
      gas: 30_000n,
    });
  });
});

describe("eth_estimateGas", () => {
  const gasOf = (result: SimulationResult): unknown => (result.kind === "returned" ? result.gas : result);

  it("is the gas that the call uses, if that suffices", async () => {
    expect(
      gasOf(
        await estimate(aCallContext("0x00"), { to: account(1).address, value: 1n, from: account(0).address }),
      ),
    ).toBe(21_000n);
    expect(gasOf(await estimate(aCallContext("0x6001600055")))).toBe(21_006n + 22_100n);
    const creation = await runSimulation(
      { kind: "estimateGas", call: {}, blockNumber: 100n },
      aCallContext("0x"),
    );
    expect(gasOf(creation)).toBe(53_000n);
    expect(
      gasOf(await estimate(aCallContext("0x00", { fork: "prague" }), { data: new Uint8Array(100).fill(1) })),
    ).toBe(25_000n);
  });

  it("is enough for a call with value, whose stipend is left over", async () => {
    // A call of OTHER with 1 wei and no gas of its own; reverts if it fails.
    const code = `0x6000600060006000600173${toHex(OTHER).slice(2)}6000f1602a5760006000fd5b00`;
    const accounts = { contract: { balance: 1n }, other: { balance: 1n } };
    // 21,000, seven pushes, 2,600 for a cold address, 9,000 for the value; the stipend of 2,300 pays for the rest.
    expect(gasOf(await estimate(aCallContext(code, { accounts })))).toBe(21_000n + 21n + 2_600n + 9_000n);
  });

  it("ignores the call's own gas limit, and searches for the gas that the 63/64 rule requires", async () => {
    // CALL(all gas, other), and a jump to nowhere if that failed.
    const calling = `0x6000600060006000600073${toHex(OTHER).slice(2)}5af115602257`;
    const context = aCallContext(calling, { accounts: { other: { code: "0x6001600055" } } });
    const found = await estimate(context, { gasLimit: 1n });
    if (found.kind !== "returned") throw new Error(found.kind);
    const at = (gasLimit: bigint): Promise<SimulationResult> => call(context, { gasLimit });
    expect(await at(30_000_000n)).toMatchObject({ kind: "returned", gas: 45_742n });
    expect(found.gas).toBeGreaterThan(45_742n);
    expect(await at(found.gas)).toMatchObject({ kind: "returned" });
    expect(await at(found.gas - 1n)).toMatchObject({ kind: "halted" });
  });

  it("does not count refunds, and needs no balance for gas unless strict", async () => {
    const clearing = aCallContext("0x6000600055", { accounts: { contract: { storage: { 0: 7n } } } });
    expect(gasOf(await estimate(clearing))).toBe(26_006n);
    const poor = { from: contractAt(7), gasPrice: 10n ** 18n };
    expect(gasOf(await estimate(aCallContext("0x00"), poor))).toBe(21_000n);
    expect(await estimate(aCallContext("0x00"), { ...poor, strict: true })).toMatchObject({
      code: "upfrontCostAboveBalance",
    });
    expect(await estimate(aCallContext("0x00"), { from: contractAt(7), value: 1n })).toMatchObject({
      code: "upfrontCostAboveBalance",
    });
  });

  it("fails as the call does", async () => {
    expect(await estimate(aCallContext("0x60006000fd"))).toMatchObject({ kind: "reverted" });
    expect(await estimate(aCallContext("0x01"))).toMatchObject({
      kind: "halted",
      reason: "INSUFFICIENT_STACK_ITEMS",
    });
  });
});

describe("eth_createAccessList", () => {
  const readable = (packed: Uint8Array<ArrayBuffer> | undefined) =>
    [...unpackTouched(packed)].map(({ address, slots }) => {
      const numbers = Array.from({ length: slots.length / SLOT_LENGTH }, (_, n) =>
        BigInt(toHex(slots.subarray(n * SLOT_LENGTH, (n + 1) * SLOT_LENGTH))),
      );
      return [toHex(address), numbers];
    });

  it("lists the touched storage, and returns the gas with that list", async () => {
    const result = await list(aCallContext("0x600354506001600455"));
    if (result.kind !== "returned") throw new Error(result.kind);
    expect(readable(result.accessList)).toEqual([[toHex(CONTRACT), [3n, 4n]]]);
    // 21,000 + 2,400 + 2 × 1,900 for the list, a warm SLOAD, a warm SSTORE; and the stipend that SSTORE requires.
    expect(result.gas).toBe(27_200n + 3n + 100n + 2n + 6n + 20_000n + 2_300n);
  });

  it("omits addresses without slots, and slots touched by a failed call", async () => {
    const failing = { other: { code: "0x600154fe" } };
    const calling = `0x6000600060006000600073${toHex(OTHER).slice(2)}620186a0f131`;
    const result = await list(aCallContext(calling, { accounts: failing }));
    expect(result).toMatchObject({ kind: "returned", accessList: new Uint8Array(0) });
  });

  it("is empty for a plain transfer, and keeps the caller's own list", async () => {
    const to = account(1).address;
    expect(await list(aCallContext("0x"), { to })).toMatchObject({
      kind: "returned",
      gas: 21_000n,
      accessList: new Uint8Array(0),
    });
    const accessList = [{ address: CONTRACT, storageKeys: [asHash(slotOf(9))] }];
    const result = await list(aCallContext("0x"), { to, accessList });
    if (result.kind !== "returned") throw new Error(result.kind);
    expect(readable(result.accessList)).toEqual([[toHex(CONTRACT), [9n]]]);
    expect(result.gas).toBe(25_300n);
  });

  it("inflates the gas by 65/64 for each level of calls", async () => {
    const codeless = { other: {} };
    const calling = `0x6000600060006000600073${toHex(OTHER).slice(2)}620186a0f1`;
    const result = await list(aCallContext(calling, { accounts: codeless }));
    if (result.kind !== "returned") throw new Error(result.kind);
    const used = 21_000n + 6n * 3n + 3n + 2_600n;
    expect(result.gas).toBe(BigInt(Math.trunc((Number(used) * 65) / 64)));
  });
});

describe("simulations", () => {
  it("do not change the state", async () => {
    const context = aCallContext("0x6001600055");
    await call(context, { from: account(0).address, value: ETHER });
    expect(context.state.account(account(0).address)).toMatchObject({ nonce: 0n, balance: 10n * ETHER });
    expect(context.state.storage(CONTRACT, slotOf(0))).toHaveLength(0);
  });
});
