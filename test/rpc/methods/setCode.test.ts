import { RLP } from "@ethereumjs/rlp";
import { beforeAll, describe, expect, it } from "vitest";
import { DEV_VALIDATOR_KEY } from "../../../src/config/devNetwork.ts";
import type { CallRequest } from "../../../src/execution/simulation/callRequest.ts";
import { transactionOfCall } from "../../../src/execution/simulation/simulatedTransaction.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { toQuantity } from "../../../src/primitives/quantity.ts";
import { addressOfPrivateKey } from "../../../src/primitives/secp256k1.ts";
import type { Header } from "../../../src/types/header.ts";
import type { Authorization } from "../../../src/types/transaction.ts";
import { aChain } from "../../builders/aChain.ts";
import { anAuthorization, aTransaction } from "../../builders/aTransaction.ts";
import { genesisWith } from "../../builders/genesisWith.ts";
import { createHandClock } from "../../builders/handClock.ts";
import { hereWorkers } from "../../builders/hereWorkers.ts";
import { commitBlock } from "../../builders/sealedChain.ts";
import { account } from "../../builders/testAccounts.ts";
import { tracerOf } from "../../builders/tracerOf.ts";
import { type Ask, requesterOf } from "../requester.ts";

/** Calls with authorizations (EIP-7702), in every method that takes a call. */

const START_SECONDS = 1_700_000_000;
const RICH = toHex(account(0).address);
const AUTHORITY = toHex(account(2).address);
const KEEPER = `0x${"4e".repeat(20)}`;
const CALLER = `0x${"ca".repeat(20)}`;
/** Stores 7 in slot 0, and returns it. */
const KEEPER_CODE = "0x60078060005560005260206000f3";
/** Calls AUTHORITY with all its gas, and returns the output. */
const CALLER_CODE = `0x6020600060006000600073${AUTHORITY.slice(2)}5af15060206000f3`;
const SEVEN = `0x${"7".padStart(64, "0")}`;
const SLOT_0 = `0x${"0".repeat(64)}`;
const BENEFICIARY = toHex(addressOfPrivateKey(DEV_VALIDATOR_KEY));
const CODE_HASH = toHex(keccak256(hexToBytes(KEEPER_CODE)));
const DELEGATION = `0xef0100${KEEPER.slice(2)}`;
const DELEGATION_HASH = toHex(keccak256(hexToBytes(DELEGATION)));

function toJson({ chainId, address, nonce, yParity, r, s }: Authorization): Record<string, string> {
  const [, ...numbers] = [0n, chainId, nonce, yParity, r, s].map(toQuantity);
  const [chain = "", count = "", parity = "", first = "", second = ""] = numbers;
  return { chainId: chain, address: toHex(address), nonce: count, yParity: parity, r: first, s: second };
}

const AUTHORIZATION = toJson(anAuthorization({ address: addressFromHex(KEEPER) }));
/** The signed transaction equivalent to CALL. */
const SENT = aTransaction({
  type: 4,
  to: account(2).address,
  value: 0n,
  authorizationList: [anAuthorization({ address: addressFromHex(KEEPER) })],
});
const CALL = { from: RICH, to: AUTHORITY, authorizationList: [AUTHORIZATION] };
const UNSET = { from: RICH, to: AUTHORITY };

async function aRequester(config: object): Promise<Ask> {
  const genesis = JSON.parse(genesisWith(config)) as { alloc: object };
  const contracts = {
    [KEEPER]: { balance: "0x0", code: KEEPER_CODE },
    [CALLER]: { balance: "0x0", code: CALLER_CODE },
  };
  const node = await aChain({
    genesis: JSON.stringify({ ...genesis, alloc: { ...genesis.alloc, ...contracts } }),
    clock: createHandClock(START_SECONDS * 1000),
    builder: addressOfPrivateKey(DEV_VALIDATOR_KEY),
  });
  await commitBlock(node.chain, BigInt(START_SECONDS), []);
  return requesterOf({ ...node, ...hereWorkers(node), tracer: tracerOf(node.chain, node.spec) });
}

let ask: Ask;

beforeAll(async () => {
  ask = await aRequester({ pragueTime: 0 });
});

describe("a call with authorizations", () => {
  it("runs the code that they set", async () => {
    expect(await ask("eth_call", UNSET, "latest")).toBe("0x");
    expect(await ask("eth_call", CALL, "latest")).toBe(SEVEN);
    expect(await ask("eth_call", { ...CALL, to: CALLER }, "latest")).toBe(SEVEN);
    // An invalid authorization is skipped, as in a block.
    const late = toJson(anAuthorization({ address: addressFromHex(KEEPER), nonce: 5n }));
    expect(await ask("eth_call", { ...CALL, authorizationList: [late] }, "latest")).toBe("0x");
    expect(await ask("eth_call", { ...UNSET, authorizationList: [] }, "latest")).toBe("0x");
    const { yParity, ...others } = AUTHORIZATION;
    expect(await ask("eth_call", { ...CALL, authorizationList: [{ ...others, v: yParity }] }, "latest")).toBe(
      SEVEN,
    );
  });

  it("pays for them before its first instruction, with a refund for an existing account", async () => {
    const gasOf = async (call: object) => Number(await ask("eth_estimateGas", call));
    // AUTHORITY is funded in genesis, the other signer has no account.
    const unknown = toJson(anAuthorization({ privateKey: new Uint8Array(32).fill(7) }));
    const ineffective = { ...UNSET, to: RICH, authorizationList: [unknown, unknown] };
    expect(await gasOf(ineffective)).toBe(21_000 + 2 * 25_000);
    const needed = await gasOf(CALL);
    expect(needed).toBeGreaterThan(21_000 + 25_000 + 20_000);
    const gas = toQuantity(needed);
    expect(await ask("eth_call", { ...CALL, gas }, "latest")).toBe(SEVEN);
    const tooFew = await ask("eth_call", { ...CALL, gas: toQuantity(needed - 1) }, "latest");
    expect(tooFew).toMatchObject({ code: -32000 });
    const poor = await ask("eth_call", { ...ineffective, gas: toQuantity(70_999) }, "latest");
    expect(poor).toMatchObject({ code: -32003 });
  });

  it("has an access list", async () => {
    const listed = await ask("eth_createAccessList", CALL, "latest");
    expect(listed).toMatchObject({ accessList: [{ address: AUTHORITY, storageKeys: [SLOT_0] }] });
  });

  it("is a transaction of type 4 in simulated blocks, and sets the code for later calls", async () => {
    const calls = [CALL, { from: RICH, to: AUTHORITY }];
    const payload = { blockStateCalls: [{ calls }], returnFullTransactions: true };
    const [block] = (await ask("eth_simulateV1", payload, "latest")) as {
      calls: { returnData: string; status: string }[];
      transactions: Record<string, unknown>[];
    }[];
    expect(block?.calls).toMatchObject([
      { returnData: SEVEN, status: "0x1" },
      { returnData: SEVEN, status: "0x1" },
    ]);
    const [first, second] = block?.transactions ?? [];
    expect(first).toMatchObject({ type: "0x4", authorizationList: [AUTHORIZATION] });
    expect(second).toMatchObject({ type: "0x2" });
  });

  it("is encoded in simulated blocks like a sent transaction, except for the signature", () => {
    const { raw, header } = { ...SENT, header: { baseFeePerGas: 0n } as Header };
    const { sender: from, gasLimit, maxFeePerGas, maxPriorityFeePerGas, authorizationList } = SENT;
    const { to, value, data, nonce } = SENT;
    const call = { from, maxFeePerGas, maxPriorityFeePerGas, authorizationList, to, value, data };
    const simulated = transactionOfCall(call as CallRequest, { nonce, gasLimit, chainId: 1337n, header });
    const itemsOf = (bytes: Uint8Array) => (RLP.decode(bytes.subarray(1)) as readonly unknown[]).slice(0, -3);
    expect([simulated.type, simulated.raw[0]]).toEqual([4, 4]);
    expect(itemsOf(simulated.raw)).toEqual(itemsOf(raw));
  });

  it("is traced with the delegations that it sets, by every tracer", async () => {
    const logs = (await ask("debug_traceCall", CALL, "latest")) as { returnValue: string; structLogs: [] };
    expect(logs.returnValue).toBe(SEVEN.slice(2));
    const types = ["trace", "stateDiff"];
    const expected = {
      output: SEVEN,
      trace: [{ action: { to: AUTHORITY } }],
      stateDiff: { [AUTHORITY]: { code: { "*": { from: "0x", to: DELEGATION } } } },
    };
    expect(await ask("trace_call", CALL, types, "latest")).toMatchObject(expected);
    const many = await ask(
      "trace_callMany",
      [
        [CALL, types],
        [UNSET, ["trace"]],
      ],
      "latest",
    );
    expect(many).toMatchObject([expected, { output: SEVEN }]);
    expect(await ask("trace_rawTransaction", toHex(SENT.raw), types)).toMatchObject(expected);
  });

  it.each([
    ["no list", {}],
    ["an item that is not an object", ["0x"]],
    ["an item without an address", [{ ...AUTHORIZATION, address: undefined }]],
    ["an item without a signature", [{ ...AUTHORIZATION, r: undefined }]],
    ["a nonce of nine bytes", [{ ...AUTHORIZATION, nonce: `0x1${"0".repeat(16)}` }]],
    ["an invalid number", [{ ...AUTHORIZATION, s: "zz" }]],
  ])("is refused with %s", async (_, authorizationList) => {
    for (const method of ["eth_call", "eth_estimateGas", "debug_traceCall"])
      expect(await ask(method, { ...UNSET, authorizationList }, "latest")).toMatchObject({ code: -32602 });
  });

  it("is refused without a recipient, with blobs, and on a fork without set-code transactions", async () => {
    const { authorizationList } = CALL;
    const refused = { message: expect.stringMatching(/^Invalid transaction type/) };
    expect(await ask("eth_call", { from: RICH, authorizationList }, "latest")).toMatchObject(refused);
    const blobVersionedHashes = [`0x01${"00".repeat(31)}`];
    expect(await ask("eth_call", { ...CALL, blobVersionedHashes }, "latest")).toMatchObject({ code: -32602 });
    const cancun = await aRequester({ pragueTime: undefined });
    expect(await cancun("eth_call", CALL, "latest")).toMatchObject(refused);
    expect(await cancun("eth_estimateGas", CALL)).toMatchObject(refused);
    expect(await cancun("eth_call", { ...UNSET, authorizationList: [] }, "latest")).toBe("0x");
  });
});

describe("go-ethereum's prestateTracer for such a call", () => {
  const trace = (call: object, tracerConfig: object = {}, stateOverrides: object = {}) =>
    ask("debug_traceCall", call, "latest", { tracer: "prestateTracer", tracerConfig, stateOverrides });

  it("shows authorities, and the account whose code runs for a called account", async () => {
    const ineffective = toJson(anAuthorization({ privateKey: account(3).privateKey, chainId: 99n }));
    const call = { ...CALL, to: CALLER, authorizationList: [AUTHORIZATION, ineffective] };
    const state = (await trace(call)) as Record<string, object>;
    const ether = { balance: expect.stringMatching(/^0x/) };
    expect(state).toEqual({
      [RICH]: ether,
      [AUTHORITY]: { ...ether, storage: { [SLOT_0]: SLOT_0 } },
      [toHex(account(3).address)]: ether,
      [CALLER]: { balance: "0x0", code: CALLER_CODE, codeHash: toHex(keccak256(hexToBytes(CALLER_CODE))) },
      [KEEPER]: { balance: "0x0", code: KEEPER_CODE, codeHash: CODE_HASH },
    });
  });

  it("shows the account whose code runs for a recipient with an earlier delegation", async () => {
    const stateOverrides = { [AUTHORITY]: { code: DELEGATION } };
    expect(await trace(UNSET, { disableCode: true }, stateOverrides)).toMatchObject({
      [AUTHORITY]: { codeHash: DELEGATION_HASH },
      [KEEPER]: { balance: "0x0", codeHash: CODE_HASH },
    });
  });

  it("shows in diff mode the code that an account gets or loses", async () => {
    const set = await trace(CALL, { diffMode: true });
    expect(set).toMatchObject({
      post: { [AUTHORITY]: { code: DELEGATION, codeHash: DELEGATION_HASH, nonce: 1 } },
    });
    expect(set).not.toHaveProperty(["pre", AUTHORITY, "codeHash"]);
    const none = toJson(anAuthorization({ address: addressFromHex(`0x${"00".repeat(20)}`) }));
    const stateOverrides = { [AUTHORITY]: { code: DELEGATION } };
    const call = { ...CALL, authorizationList: [none] };
    const cleared = await trace(call, { diffMode: true }, stateOverrides);
    expect(cleared).toMatchObject({
      pre: { [AUTHORITY]: { code: DELEGATION, codeHash: DELEGATION_HASH } },
      post: { [AUTHORITY]: { code: "0x", codeHash: toHex(keccak256(new Uint8Array())), nonce: 1 } },
    });
  });

  it("leaves out empty accounts, unless includeEmpty is set", async () => {
    const unused = `0x${"de".repeat(20)}`;
    const call = { from: RICH, to: unused };
    expect(Object.keys((await trace(call)) as object)).toEqual([RICH]);
    const all = (await trace(call, { includeEmpty: true })) as object;
    expect(Object.keys(all).sort()).toEqual([RICH, unused, BENEFICIARY].sort());
    expect(all).toHaveProperty(unused, { balance: "0x0" });
    const paid = (await trace({ ...call, value: "0x1" }, { diffMode: true })) as Record<string, object>;
    expect(paid["post"]).toHaveProperty(unused, { balance: "0x1" });
    expect(paid["pre"]).not.toHaveProperty(unused);
    expect(await trace(call, { diffMode: true, includeEmpty: true })).toMatchObject({ code: -32602 });
  });
});
