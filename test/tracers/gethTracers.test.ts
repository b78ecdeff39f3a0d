import { beforeAll, describe, expect, it } from "vitest";
import { DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { addressFromHex } from "../../src/primitives/address.ts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { addressOfPrivateKey } from "../../src/primitives/secp256k1.ts";
import { aChain } from "../builders/aChain.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { genesisWith } from "../builders/genesisWith.ts";
import { createHandClock } from "../builders/handClock.ts";
import { commitBlock } from "../builders/sealedChain.ts";
import { account } from "../builders/testAccounts.ts";
import { tracerOf } from "../builders/tracerOf.ts";
import { type Ask, requesterOf } from "../rpc/requester.ts";

const START_SECONDS = 1_700_000_000;
const RICH = toHex(account(0).address);
const CALLER = `0x${"ca".repeat(20)}`;
const CALLEE = `0x${"ce".repeat(20)}`;
const RECIPIENT = `0x${"ae".repeat(20)}`;
const IDENTITY = `0x${"4".padStart(40, "0")}`;
const SELECTOR = "a9059cbb";

/** CALL(some gas, to, no value, `bytes` of memory), ignoring the result. */
function calling(to: string, bytes: string): string {
  return `6000600060${bytes}6000600073${to.slice(2)}61fffff150`;
}

/** Calls CALLEE with a selector and a word, twice, then with two bytes, then the identity contract with the word. */
const CALLER_CODE =
  `0x63${SELECTOR}60e01b600052` +
  [calling(CALLEE, "24"), calling(CALLEE, "24"), calling(CALLEE, "02"), calling(IDENTITY, "24")].join("");
/** Self-destructs to RECIPIENT when called with two bytes, else fails with an invalid instruction. */
const CALLEE_CODE = `0x60023614600857fe5b73${RECIPIENT.slice(2)}ff`;

let ask: Ask;
let mined: { readonly hash: string; readonly blockHash: string };

beforeAll(async () => {
  const clock = createHandClock(START_SECONDS * 1000);
  const genesis = JSON.parse(genesisWith({})) as { alloc: object };
  const contracts = {
    [CALLER]: { balance: "0x0", code: CALLER_CODE },
    [CALLEE]: { balance: "0x5", code: CALLEE_CODE },
  };
  const node = await aChain({
    genesis: JSON.stringify({ ...genesis, alloc: { ...genesis.alloc, ...contracts } }),
    clock,
    builder: addressOfPrivateKey(DEV_VALIDATOR_KEY),
  });
  const transaction = aTransaction({ to: addressFromHex(CALLER), value: 0n, gasLimit: 1_000_000n });
  await commitBlock(node.chain, BigInt(START_SECONDS), [transaction]);
  mined = { hash: toHex(transaction.hash), blockHash: toHex(node.chain.head.hash) };
  ask = requesterOf({ ...node, tracer: tracerOf(node.chain, node.spec) });
});

describe("go-ethereum's flatCallTracer", () => {
  const tracer = "flatCallTracer";

  it("lists the calls of a mined transaction with its position, without those of precompiled contracts", async () => {
    const traces = (await ask("debug_traceTransaction", mined.hash, { tracer })) as object[];
    const position = {
      blockHash: mined.blockHash,
      blockNumber: 1,
      transactionHash: mined.hash,
      transactionPosition: 0,
    };
    const call = { callType: "call", from: CALLER, to: CALLEE, value: "0x0" };
    const failed = {
      action: call,
      error: "invalid opcode: INVALID",
      subtraces: 0,
      type: "call",
      ...position,
    };
    const receipt = (await ask("eth_getTransactionReceipt", mined.hash)) as { gasUsed: string };
    expect(traces).toMatchObject([
      {
        action: { callType: "call", from: RICH, to: CALLER, gas: "0xf4240", input: "0x", value: "0x0" },
        result: { gasUsed: receipt.gasUsed, output: "0x" },
        subtraces: 3,
        traceAddress: [],
        ...position,
      },
      { ...failed, traceAddress: [0] },
      { ...failed, traceAddress: [1] },
      { action: call, subtraces: 1, traceAddress: [2] },
      {
        action: { address: CALLEE, balance: "0x5", refundAddress: RECIPIENT },
        type: "suicide",
        traceAddress: [2, 0],
      },
    ]);
    expect(traces[1]).not.toHaveProperty("result");
    expect(traces[4]).not.toHaveProperty("result");
  });

  it("shows precompiled contracts and Parity's error names on request", async () => {
    const tracerConfig = { includePrecompiles: true, convertParityErrors: true };
    const traces = await ask("debug_traceTransaction", mined.hash, { tracer, tracerConfig });
    expect(traces).toHaveLength(6);
    expect(traces).toMatchObject([
      { subtraces: 4 },
      { error: "Bad instruction" },
      {},
      {},
      {},
      { action: { to: IDENTITY }, traceAddress: [3] },
    ]);
  });

  it("shows the code of a creation, and the output of a reverted one", async () => {
    const trace = (data: string) => ask("debug_traceCall", { from: RICH, data }, "latest", { tracer });
    expect(await trace("0x602a60005360016000f3")).toMatchObject([
      {
        action: { creationMethod: "create", init: "0x602a60005360016000f3" },
        result: { code: "0x2a" },
        type: "create",
      },
    ]);
    const [reverted] = (await trace("0x602a60005360016000fd")) as { result: object }[];
    expect(reverted).toMatchObject({
      error: "execution reverted",
      result: { code: "0x2a" },
      blockHash: null,
    });
    expect(reverted?.result).not.toHaveProperty("address");
  });
});

describe("go-ethereum's 4byteTracer", () => {
  it("counts the called functions by selector and length of the arguments", async () => {
    const tracer = "4byteTracer";
    const counted = { [`0x${SELECTOR}-32`]: 2 };
    expect(await ask("debug_traceTransaction", mined.hash, { tracer })).toEqual(counted);
    const call = { from: RICH, to: CALLER, data: "0x0102030405" };
    expect(await ask("debug_traceCall", call, "latest", { tracer })).toEqual({
      ...counted,
      "0x01020304-1": 1,
    });
    expect(await ask("debug_traceBlockByNumber", "0x1", { tracer })).toEqual([
      { txHash: mined.hash, result: counted },
    ]);
    expect(await ask("debug_traceCall", { from: RICH, data: "0x00010203" }, "latest", { tracer })).toEqual(
      {},
    );
  });
});

describe("go-ethereum's prestateTracer", () => {
  it("leaves out code and storage on request, in both modes", async () => {
    const code = "0x60026001556003600055";
    const one = `0x${"1".padStart(64, "0")}`;
    const stateOverrides = { [CALLEE]: { code, balance: "0x5", stateDiff: { [one]: one } } };
    const trace = (tracerConfig: object) =>
      ask("debug_traceCall", { from: RICH, to: CALLEE, value: "0x1" }, "latest", {
        tracer: "prestateTracer",
        tracerConfig,
        stateOverrides,
      });
    const whole = (await trace({})) as { [CALLEE]: { storage: object } };
    expect(whole[CALLEE]).toMatchObject({ balance: "0x5", code, storage: { [one]: one } });
    const bare = { balance: "0x5", codeHash: toHex(keccak256(hexToBytes(code))) };
    expect(await trace({ disableCode: true })).toMatchObject({ [CALLEE]: { storage: { [one]: one } } });
    expect(await trace({ disableCode: true, disableStorage: true })).toHaveProperty(CALLEE, bare);
    expect(await trace({ disableStorage: true })).toHaveProperty(CALLEE, { ...bare, code });
    const changes = await trace({ diffMode: true, disableCode: true, disableStorage: true });
    expect(changes).toMatchObject({ pre: { [CALLEE]: bare }, post: { [CALLEE]: { balance: "0x6" } } });
    expect(JSON.stringify(changes)).not.toMatch(/"code"|"storage"/);
  });
});
