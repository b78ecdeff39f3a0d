import { beforeAll, describe, expect, it } from "vitest";
import { DEV_VALIDATOR_KEY } from "../../../src/config/devNetwork.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { addressOfPrivateKey } from "../../../src/primitives/secp256k1.ts";
import { aChain, type TestChain } from "../../builders/aChain.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { genesisWith } from "../../builders/genesisWith.ts";
import { createHandClock } from "../../builders/handClock.ts";
import { commitBlock } from "../../builders/sealedChain.ts";
import { account } from "../../builders/testAccounts.ts";
import { tracerOf } from "../../builders/tracerOf.ts";
import { INVALID_PARAMS } from "../invalidParams.ts";
import { returning, word } from "../overriddenCode.ts";
import { type Ask, requesterOf } from "../requester.ts";

const START_SECONDS = 1_700_000_000;
const RICH = toHex(account(0).address);
/** Adds one to slot 0 and returns it. */
const COUNTER = `0x${"c0".repeat(20)}`;
const COUNTER_CODE = returning("60005460010180600055");
/** The contract that stores the parent hash since Prague (EIP-2935); here with code that stores it under the parent's number. */
const HISTORY_CONTRACT = "0x0000f90827f1c53a10cb7a02335b175320002935";
const KEEPER_CODE = "0x6000356001430355";

let node: TestChain;
let ask: Ask;

/** Block 1 counts three times, block 2 has no transactions, block 3 counts once. */
beforeAll(async () => {
  const clock = createHandClock(START_SECONDS * 1000);
  const genesis = JSON.parse(genesisWith({ pragueTime: 0 })) as { alloc: object };
  const contracts = {
    [COUNTER]: { balance: "0x0", code: COUNTER_CODE },
    [HISTORY_CONTRACT]: { balance: "0x0", code: KEEPER_CODE },
  };
  node = await aChain({
    genesis: JSON.stringify({ ...genesis, alloc: { ...genesis.alloc, ...contracts } }),
    clock,
    builder: addressOfPrivateKey(DEV_VALIDATOR_KEY),
  });
  const counting = (nonce: bigint) =>
    aTransaction({ nonce, to: addressFromHex(COUNTER), value: 0n, gasLimit: 100_000n });
  const bodies = [[counting(0n), counting(1n), counting(2n)], [], [counting(3n)]];
  for (const [index, body] of bodies.entries()) {
    clock.advanceTo((START_SECONDS + index) * 1000);
    await commitBlock(node.chain, BigInt(START_SECONDS + index), body);
  }
  ask = requesterOf({ ...node, tracer: tracerOf(node.chain, node.spec) });
});

describe("txIndex of a traced call", () => {
  const trace = (block: string, options: object, to = COUNTER) =>
    ask("debug_traceCall", { from: RICH, to }, block, { tracer: "callTracer", ...options });
  const output = async (...args: Parameters<typeof trace>) =>
    ((await trace(...args)) as { output?: string }).output;

  it("executes the call in place of that transaction, in the same block", async () => {
    for (const [at, seen] of [1, 2, 3].entries())
      expect(await output("0x1", { txIndex: `0x${at.toString(16)}` })).toBe(word(seen));
    expect(await output("0x1", {})).toBe(word(4));
    expect(await output("0x1", { txIndex: null })).toBe(word(4));
    expect(await output("latest", { txIndex: "0x0" })).toBe(word(4));
    const stateOverrides = { [COUNTER]: { code: returning("43") } };
    expect(await output("0x1", { txIndex: "0x1", stateOverrides })).toBe(word(1));
  });

  it("applies before the overrides, and with every tracer", async () => {
    const stateDiff = { [word(0)]: word(0x40) };
    const stateOverrides = { [COUNTER]: { stateDiff } };
    expect(await output("0x1", { txIndex: "0x2", stateOverrides })).toBe(word(0x41));
    const before = await trace("0x1", { txIndex: "0x2", tracer: "prestateTracer" });
    expect(before).toMatchObject({ [COUNTER]: { storage: { [word(0)]: word(2) } }, [RICH]: { nonce: 2 } });
    const steps = await trace("0x1", { txIndex: "0x1", tracer: undefined });
    expect(steps).toMatchObject({ failed: false, returnValue: word(2).slice(2) });
  });

  it("includes the system calls before the block's transactions, also in an empty block", async () => {
    const parentHash = toHex(node.chain.headerByNumber(1n)?.hash ?? new Uint8Array());
    const stateOverrides = { [HISTORY_CONTRACT]: { code: returning("600154") } };
    expect(await output("0x1", { stateOverrides }, HISTORY_CONTRACT)).toBe(word(0));
    expect(await output("0x2", { txIndex: "0x0", stateOverrides }, HISTORY_CONTRACT)).toBe(parentHash);
  });

  it("is refused when there is no such transaction", async () => {
    const hashOf = (number: bigint) => toHex(node.chain.headerByNumber(number)?.hash ?? new Uint8Array());
    const refused = (message: string) => ({ code: -32000, message });
    const outOfRange = (index: bigint, number: bigint) =>
      refused(`transaction index ${index} out of range for block ${hashOf(number)}`);
    expect(await trace("0x1", { txIndex: "0x3" })).toEqual(outOfRange(3n, 1n));
    expect(await trace("0x2", { txIndex: "0x1" })).toEqual(outOfRange(1n, 2n));
    expect(await trace("0x1", { txIndex: "0xffffffffffffffff" })).toEqual(outOfRange(2n ** 64n - 1n, 1n));
    expect(await trace("earliest", { txIndex: "0x0" })).toEqual(refused("no transaction in genesis"));
    for (const txIndex of ["-0x1", -1, 0.5, "x", {}, true])
      expect(await trace("0x1", { txIndex }), String(txIndex)).toEqual(INVALID_PARAMS);
  });
});
