import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { concatBytes, toHex } from "../../../src/primitives/hex.ts";
import { bigintToBytes } from "../../../src/primitives/quantity.ts";
import { encodeRlpList, encodeRlpString, readRlpList } from "../../../src/primitives/rlp.ts";
import { SECP256K1_ORDER } from "../../../src/primitives/secp256k1.ts";
import { aTransaction, type TransactionFields } from "../../builders/aTransaction.ts";
import { nestedLists } from "../../builders/nestedLists.ts";
import { account } from "../../builders/testAccounts.ts";
import { withoutProblems } from "../../rpc/problems.ts";
import { type NodeProcess, startNodeProcess } from "../harness/nodeProcess.ts";

let node: NodeProcess;
let socket: WebSocket;

beforeAll(async () => {
  node = await startNodeProcess({ options: ["--logging=WARN", "--rpc-max-logs-range=5000"] });
  socket = new WebSocket(node.wsUrl);
  await once(socket, "open");
});

afterAll(async () => {
  expect(await node.rpc("eth_chainId")).toBe("0x539");
  // Bad requests cause no warnings in the log; a busy machine may.
  const warnings = node
    .output()
    .split("\n")
    .filter((line) => /"level":"(WARN|ERROR)"/.test(line));
  expect(warnings.filter((line) => !line.includes("too slow to build a block with"))).toEqual([]);
  expect(await node.stop()).toBe(0);
});

const PARSE_ERROR = [-32700, "Parse error"] as const;
const INVALID_REQUEST = [-32600, "Invalid Request"] as const;
const NOT_FOUND = [-32601, "Method not found"] as const;
const INVALID_PARAMS = [-32602, "Invalid params"] as const;
const INTERNAL_ERROR = [-32603, "Internal error"] as const;
const NOT_ENABLED = [-32604, "Method not enabled"] as const;
const BATCH_TOO_LARGE = [-32005, "Number of requests exceeds max batch size"] as const;
const TOO_MANY_PARTS = [-32005, "The message has more than 200,000 lists, objects and members"] as const;

type Refusal = readonly [code: number, message: string];

function refusal([code, message]: Refusal, id: unknown = null): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });
}

function request(method: string, ...params: readonly unknown[]): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
}

/** Nested lists. */
function nested(depth: number): string {
  return "[".repeat(depth) + "]".repeat(depth);
}

async function post(body: string): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(node.httpUrl, { method: "POST", body });
  return { status: response.status, text: withoutProblems(await response.text()) };
}

async function sendMessage(message: string): Promise<string> {
  const answer = once(socket, "message") as Promise<[Buffer]>;
  socket.send(message);
  return withoutProblems((await answer)[0].toString("utf8"));
}

const CHAIN_ID = request("eth_chainId");
const CHAIN_ID_ANSWER = '{"jsonrpc":"2.0","id":1,"result":"0x539"}';

describe("an invalid JSON-RPC request", () => {
  it.each<[name: string, body: string, status: number, answer: string, overWebSocket: string]>([
    ["incomplete JSON", CHAIN_ID.slice(0, 30), 400, refusal(PARSE_ERROR), refusal(INTERNAL_ERROR)],
    ["plain text", "eth_chainId", 400, refusal(PARSE_ERROR), refusal(INTERNAL_ERROR)],
    ["two requests in a row", CHAIN_ID + CHAIN_ID, 400, refusal(PARSE_ERROR), refusal(INTERNAL_ERROR)],
    ["a number", "5", 400, refusal(PARSE_ERROR), refusal(INTERNAL_ERROR)],
    ["null", "null", 400, refusal(PARSE_ERROR), refusal(INTERNAL_ERROR)],
    ["nothing", "", 400, refusal(PARSE_ERROR), refusal(INVALID_REQUEST)],
    ["lists without end", "[".repeat(100_000), 400, refusal(PARSE_ERROR), refusal(INTERNAL_ERROR)],
    ["too deep a list", nested(1001), 400, refusal(PARSE_ERROR), refusal(INTERNAL_ERROR)],
    ["a deep list", nested(1000), 200, `[${refusal(INVALID_REQUEST)}]`, `[${refusal(INVALID_REQUEST)}]`],
    ["too many lists", `[${"[],".repeat(199_999)}[]]`, 200, refusal(TOO_MANY_PARTS), refusal(TOO_MANY_PARTS)],
    ["an empty object", "{}", 400, refusal(INVALID_REQUEST), refusal(INVALID_REQUEST)],
    ["an empty batch", "[]", 400, refusal(INVALID_REQUEST), "[]"],
    [
      "an id that is a list",
      '{"id":[],"method":"eth_chainId"}',
      400,
      refusal(INVALID_REQUEST),
      refusal(INVALID_REQUEST),
    ],
    [
      "named params",
      '{"id":1,"method":"eth_chainId","params":{}}',
      400,
      refusal(INVALID_REQUEST, 1),
      refusal(INVALID_REQUEST, 1),
    ],
    [
      "a batch with invalid elements",
      `[5,${CHAIN_ID},null,[]]`,
      200,
      `[${refusal(INVALID_REQUEST)},${CHAIN_ID_ANSWER},${refusal(INVALID_REQUEST)},${refusal(INVALID_REQUEST)}]`,
      `[${refusal(INVALID_REQUEST)},${CHAIN_ID_ANSWER},${refusal(INVALID_REQUEST)},${refusal(INVALID_REQUEST)}]`,
    ],
  ])("%s", async (_, body, status, answer, overWebSocket) => {
    expect(await post(body)).toEqual({ status, text: answer });
    expect(await sendMessage(body)).toBe(overWebSocket);
  });

  it("gets 413 over HTTP, or ends the connection over WebSocket, when it is too large", async () => {
    const largest = CHAIN_ID.padEnd(5_242_880);
    expect(await post(largest)).toEqual({ status: 200, text: CHAIN_ID_ANSWER });
    expect(await post(`${largest} `)).toEqual({ status: 413, text: "Request Entity Too Large" });
    const other = new WebSocket(node.wsUrl);
    await once(other, "open");
    other.send(" ".repeat(4 * 1_048_576 + 1));
    expect((await once(other, "close"))[0]).toBe(1009);
  });

  const batch = (count: number): string => `[${Array.from({ length: count }, () => CHAIN_ID).join(",")}]`;

  it("includes a batch of too many requests over HTTP", async () => {
    expect(JSON.parse((await post(batch(1024))).text)).toHaveLength(1024);
    expect(await post(batch(1025))).toEqual({ status: 200, text: refusal(BATCH_TOO_LARGE) });
  });

  it("includes no batch over WebSocket, which has no such limit", async () => {
    expect(JSON.parse(await sendMessage(batch(1025)))).toHaveLength(1025);
  });
});

const ADDRESS = toHex(account(0).address);
const OTHER_ACCOUNT = `0x${"11".repeat(20)}`;
const HASH = `0x${"5d".repeat(32)}`;
const HUGE = `0x${"f".repeat(65)}`;

describe("a request that cannot be answered", () => {
  it.each<[refused: Refusal, method: string, ...params: unknown[]]>([
    [NOT_FOUND, "eth_foo"],
    [NOT_FOUND, "ETH_CHAINID"],
    [NOT_FOUND, "constructor"],
    [NOT_FOUND, ""],
    [NOT_ENABLED, "clique_getSigners"],
    [INVALID_PARAMS, "eth_getBlockByNumber", "latest"],
    [INVALID_PARAMS, "eth_getBlockByNumber", "latest", "maybe"],
    [INVALID_PARAMS, "eth_getBlockByNumber", 1, false],
    [INVALID_PARAMS, "eth_getBlockByNumber", "soon", false],
    [INVALID_PARAMS, "eth_getBlockByNumber", HUGE, false],
    [INTERNAL_ERROR, "eth_getBlockByNumber", "-1", false],
    [INVALID_PARAMS, "eth_getBlockByHash", HASH.slice(0, -1), false],
    [INVALID_PARAMS, "eth_getBalance", ADDRESS],
    [INVALID_PARAMS, "eth_getBalance", 7, "latest"],
    [INVALID_PARAMS, "eth_getBalance", `${ADDRESS}00`, "latest"],
    [INVALID_PARAMS, "eth_getBalance", "0xzz", "latest"],
    [INVALID_PARAMS, "eth_getBalance", ADDRESS, "-1"],
    [INVALID_PARAMS, "eth_getBalance", ADDRESS, {}],
    [[-32000, "Block not found"], "eth_getBalance", ADDRESS, "0xfffffff"],
    [[-32000, "Block not found"], "eth_getBalance", ADDRESS, { blockHash: HASH }],
    [INVALID_PARAMS, "eth_getStorageAt", ADDRESS, "-1", "latest"],
    [INVALID_PARAMS, "eth_getStorageAt", ADDRESS, HUGE, "latest"],
    [INVALID_PARAMS, "eth_getTransactionByHash", HASH, HASH],
    [INVALID_PARAMS, "eth_getTransactionByBlockNumberAndIndex", "latest", "-1"],
    [INVALID_PARAMS, "eth_getTransactionByBlockNumberAndIndex", "latest", "0x80000000"],
    [INVALID_PARAMS, "eth_feeHistory", "0x0", "latest", []],
    [INVALID_PARAMS, "eth_feeHistory", "0x401", "latest", []],
    [INVALID_PARAMS, "eth_feeHistory", "0x400", "latest", Array(201).fill(50)],
    [INVALID_PARAMS, "eth_feeHistory", "0x1", "latest", Array(204_801).fill(50)],
    [INVALID_PARAMS, "eth_call", { to: ADDRESS, gas: "-0x1" }, "latest"],
    [INVALID_PARAMS, "eth_call", { to: ADDRESS, value: HUGE }, "latest"],
    [INVALID_PARAMS, "eth_call", { to: ADDRESS, data: "0x1" }, "latest"],
    [INVALID_PARAMS, "eth_call", { to: ADDRESS, gasPrice: "0x1", maxFeePerGas: "0x1" }, "latest"],
    [[-32003, "Intrinsic gas exceeds gas limit"], "eth_call", { to: ADDRESS, gas: "0x1" }, "latest"],
    [
      [-32004, "Upfront cost exceeds account balance"],
      "eth_call",
      { from: OTHER_ACCOUNT, to: ADDRESS, value: "0x1", strict: true },
      "latest",
    ],
    [INVALID_PARAMS, "eth_getProof", ADDRESS, "0x0", "latest"],
    [INTERNAL_ERROR, "eth_getProof", ADDRESS, [HUGE], "latest"],
    [INVALID_PARAMS, "eth_getProof", ADDRESS, Array(5000).fill("0x0"), "latest"],
    [INVALID_PARAMS, "eth_getLogs", { surprise: 1 }],
    [INVALID_PARAMS, "eth_getLogs", { blockHash: HASH, fromBlock: "0x0" }],
    [INVALID_PARAMS, "eth_getLogs", { address: "x" }],
    [
      [-32005, "Requested range exceeds maximum RPC range limit"],
      "eth_getLogs",
      { fromBlock: "0x0", toBlock: "0x1389" },
    ],
    [INVALID_PARAMS, "eth_newFilter", { fromBlock: "x" }],
    [[-32000, "Filter not found"], "eth_getFilterChanges", HUGE],
    [INVALID_PARAMS, "web3_sha3", "hello"],
    [INVALID_PARAMS, "txpool_besuPendingTransactions", 1, { gas: { between: "0x1" } }],
  ])("is refused with %j: %s %j", async (refused, method, ...params) => {
    const body = request(method, ...params);
    expect(await post(body)).toEqual({ status: 200, text: refusal(refused, 1) });
    expect(await sendMessage(body)).toBe(refusal(refused, 1));
  });
});

describe("an invalid transaction", () => {
  const signed = aTransaction({ type: 2 }).raw;
  const legacy = aTransaction().raw;
  const withSignature = (
    changes: Partial<{ r: bigint; s: bigint; yParity: 0 | 1 }>,
    type: 0 | 2 = 2,
  ): Uint8Array => aTransaction({ type, changeSignature: (signature) => ({ ...signature, ...changes }) }).raw;

  /** The transaction with one field of its RLP replaced, which the builder cannot do. */
  function withField(raw: Uint8Array, index: number, field: Uint8Array): Uint8Array {
    const listAt = (raw[0] ?? 0) < 0xc0 ? 1 : 0;
    const list = raw.subarray(listAt);
    const fields = readRlpList(list).map(({ start, until }) => list.subarray(start, until));
    return concatBytes(raw.subarray(0, listAt), encodeRlpList(fields.with(index, field)));
  }

  const scalar = (value: bigint): Uint8Array => encodeRlpString(bigintToBytes(value));
  const invalid = (changes: Partial<TransactionFields>): Uint8Array => aTransaction(changes).raw;

  it.each<[name: string, refused: Refusal, raw: Uint8Array]>([
    ["no bytes", INTERNAL_ERROR, new Uint8Array()],
    ["cut short", INVALID_PARAMS, signed.subarray(0, -1)],
    ["cut in half", INVALID_PARAMS, legacy.subarray(0, legacy.length >> 1)],
    ["one byte too long", INVALID_PARAMS, concatBytes(signed, Uint8Array.of(0))],
    ["an unknown type", INVALID_PARAMS, concatBytes(Uint8Array.of(5), signed.subarray(1))],
    ["a list for a nonce", INVALID_PARAMS, withField(signed, 1, Uint8Array.of(0xc0))],
    ["a gas limit of nine bytes", INVALID_PARAMS, withField(signed, 4, scalar(2n ** 64n))],
    ["a value of 33 bytes", INVALID_PARAMS, withField(signed, 6, scalar(2n ** 256n))],
    ["a recipient of 19 bytes", INVALID_PARAMS, withField(signed, 5, encodeRlpString(new Uint8Array(19)))],
    ["an access list nested without end", INVALID_PARAMS, withField(signed, 8, nestedLists(1_000_000))],
    ["r = 0", INVALID_PARAMS, withField(signed, 10, scalar(0n))],
    ["s = 0", INVALID_PARAMS, withField(signed, 11, scalar(0n))],
    ["r at the order of the curve", INVALID_PARAMS, withField(signed, 10, scalar(SECP256K1_ORDER))],
    ["a parity of 2", INVALID_PARAMS, withField(signed, 9, scalar(2n))],
    ["a legacy v of 29", INVALID_PARAMS, withField(legacy, 6, scalar(29n))],
    ["s in the upper half", [-32002, "Invalid signature"], withSignature({ s: SECP256K1_ORDER - 1n })],
    ["an r that is not on the curve", [-32002, "Invalid signature"], withSignature({ r: 5n })],
    [
      "a signature of another account",
      [-32004, "Upfront cost exceeds account balance"],
      withSignature({ s: 1n }),
    ],
    ["another chain", [-32000, "Wrong chainId"], invalid({ chainId: 1n })],
    ["another chain, in a legacy v", [-32000, "Wrong chainId"], invalid({ type: 2, chainId: 2n ** 64n })],
    ["the last nonce", [-32000, "Nonce overflow"], invalid({ nonce: 2n ** 64n - 1n })],
    ["too little gas", [-32003, "Intrinsic gas exceeds gas limit"], invalid({ gasLimit: 20_999n })],
    [
      "more gas than a block",
      [-32005, "Transaction gas limit exceeds block gas limit"],
      invalid({ gasLimit: 2n ** 63n, gasPrice: 0n }),
    ],
    [
      "more than the balance",
      [-32004, "Upfront cost exceeds account balance"],
      invalid({ value: 2n ** 255n }),
    ],
    [
      "a tip above the cap",
      [-32000, "Max priority fee per gas exceeds max fee per gas"],
      invalid({ type: 2, maxPriorityFeePerGas: 3n, maxFeePerGas: 2n }),
    ],
    [
      "a price above the cap of the node",
      [-32000, "Transaction fee cap exceeded"],
      invalid({ gasPrice: 10n ** 18n + 1n }),
    ],
    [
      "an init code that is too large",
      [-32000, "Initcode too large"],
      invalid({ to: undefined, data: new Uint8Array(49_153), gasLimit: 10_000_000n }),
    ],
  ])("%s", async (_, refused, raw) => {
    const body = request("eth_sendRawTransaction", toHex(raw));
    expect(await post(body)).toEqual({ status: 200, text: refusal(refused, 1) });
  });

  it.each([["0x0"], ["0xzz"], ["hello"], [5], [null], [[]], [toHex(signed), toHex(signed)]])(
    "cannot be given as %j",
    async (...params) => {
      const body = request("eth_sendRawTransaction", ...params);
      expect(await post(body)).toEqual({ status: 200, text: refusal(INVALID_PARAMS, 1) });
    },
  );
});
