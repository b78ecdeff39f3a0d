import { once } from "node:events";
import { decodeAbiParameters, encodeFunctionData, type Hex, pad, toEventSelector, toHex } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { DEV_MNEMONIC, DEV_VALIDATOR_ADDRESS } from "../../../src/config/devNetwork.ts";
import { toHex as bytesToHex } from "../../../src/primitives/hex.ts";
import { compileSampleContracts } from "../../contracts/sampleContracts.ts";
import { type NodeProcess, rpc, startNodeProcess } from "../harness/nodeProcess.ts";
import { HEIR, makeVariedChain, type VariedChain } from "../harness/variedChain.ts";

/** The requests of block explorers, on a chain with every kind of item that they show. */

type Json = Record<string, unknown>;

let node: NodeProcess;
let chain: VariedChain;
const proposer = bytesToHex(DEV_VALIDATOR_ADDRESS);

beforeAll(async () => {
  const compiled = compileSampleContracts();
  const groups = "ETH,NET,WEB3,TRACE,DEBUG,TXPOOL";
  node = await startNodeProcess({ options: [`--rpc-http-api=${groups}`, `--rpc-ws-api=${groups}`] });
  chain = await makeVariedChain(node, compiled);
});

afterAll(async () => {
  expect(await node?.stop()).toBe(0);
});

/** Sends one batch with calls of one method; returns the results in the order of the calls. */
async function batch<T>(method: string, calls: readonly (readonly unknown[])[]): Promise<readonly T[]> {
  const requests = calls.map((params, id) => ({ jsonrpc: "2.0", id, method, params }));
  const response = await fetch(node.httpUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(requests),
  });
  const answers = (await response.json()) as { id: number; result: T; error?: unknown }[];
  expect(answers.filter(({ error }) => error !== undefined)).toEqual([]);
  return answers.toSorted((one, other) => one.id - other.id).map(({ result }) => result);
}

const numbers = () => Array.from({ length: chain.lastBlock + 1 }, (_, number) => toHex(number));
const hashOf = (name: string): Hex => chain.hashes[name] as Hex;
const blockOf = async (name: string) =>
  (await node.rpc<{ blockNumber: Hex }>("eth_getTransactionReceipt", [hashOf(name)])).blockNumber;
const lower = (address: string) => address.toLowerCase();

describe("Blockscout with its Besu client", () => {
  it("imports every block with its transactions, and a receipt for each", async () => {
    const blocks = await batch<{ hash: Hex; parentHash: Hex; miner: Hex; transactions: Json[] }>(
      "eth_getBlockByNumber",
      numbers().map((number) => [number, true]),
    );
    for (const [index, block] of blocks.entries()) {
      expect(Object.keys(block)).toEqual(expect.arrayContaining(BLOCK_MEMBERS));
      if (index > 0) expect(block).toMatchObject({ parentHash: blocks[index - 1]?.hash, miner: proposer });
    }
    const transactions = blocks.flatMap((block) => block.transactions);
    expect(transactions.map(({ hash }) => hash)).toEqual(chain.sent.map(({ hash }) => hash));
    for (const transaction of transactions)
      expect(Object.keys(transaction)).toEqual(expect.arrayContaining(TRANSACTION_MEMBERS));
    const receipts = await batch<Json>(
      "eth_getTransactionReceipt",
      transactions.map(({ hash }) => [hash]),
    );
    for (const receipt of receipts)
      expect(Object.keys(receipt)).toEqual(expect.arrayContaining(RECEIPT_MEMBERS));
    const ofBlocks = await batch<Json[]>(
      "eth_getBlockReceipts",
      numbers().map((number) => [number]),
    );
    expect(ofBlocks.flat()).toEqual(receipts);
    const failed = receipts
      .filter(({ status }) => status === "0x0")
      .map(({ transactionHash }) => transactionHash);
    expect(failed).toEqual(FAILURES.map(hashOf));
  });

  it("finds the receiver of each block's reward", async () => {
    const traces = await batch<{ type: string; action: Json }[]>(
      "trace_block",
      numbers()
        .slice(1)
        .map((number) => [number]),
    );
    for (const trace of traces) {
      const rewards = trace.filter(({ type }) => type === "reward");
      expect(rewards).toMatchObject([{ action: { author: proposer, rewardType: "block", value: "0x0" } }]);
    }
  });

  it("replays each block to get the internal calls of its transactions", async () => {
    const replays = await batch<{ transactionHash: Hex; output: Hex; trace: Trace[] }[]>(
      "trace_replayBlockTransactions",
      numbers().map((number) => [number, ["trace"]]),
    );
    const traces = new Map(replays.flat().map(({ transactionHash, trace }) => [transactionHash, trace]));
    expect([...traces.keys()]).toEqual(chain.sent.map(({ hash }) => hash));
    for (const trace of [...traces.values()].flat())
      expect(trace.error === undefined ? trace : { result: trace.error }).toHaveProperty("result");
    const kindsIn = (name: string) =>
      traces.get(hashOf(name))?.map(({ type, action }) => action.callType ?? type);
    expect(kindsIn("deploy token")).toEqual(["create"]);
    expect(kindsIn("breed")).toEqual(["call", "create"]);
    expect(kindsIn("breedAndBury")).toEqual(["call", "create", "call", "suicide"]);
    expect(kindsIn("lend")).toEqual(["call", "delegatecall", "staticcall", "call"]);
    expect(kindsIn("recurse")).toEqual(Array(5).fill("call"));
    const { zoo, child, doomed } = chain.contracts;
    expect(traces.get(hashOf("breed"))?.[1]).toMatchObject({
      action: { from: lower(zoo), value: "0xa" },
      result: { address: lower(child) },
      traceAddress: [0],
    });
    expect(traces.get(hashOf("breedAndBury"))?.[3]).toMatchObject({
      action: { address: lower(doomed), balance: "0x3", refundAddress: HEIR },
      traceAddress: [1, 0],
    });
    expect(traces.get(hashOf("endure"))?.map(({ error }) => error)).toEqual([undefined, "Reverted"]);
    expect(traces.get(hashOf("out of gas"))?.[0]).toMatchObject({ error: "Out of gas" });
  });

  it("replays single transactions to get the first trace of each, as their blocks have it", async () => {
    const single = await batch<{ trace: Trace[]; transactionHash?: Hex }>(
      "trace_replayTransaction",
      chain.sent.map(({ hash }) => [hash, ["trace"]]),
    );
    const ofBlocks = await batch<{ transactionHash: Hex; trace: Trace[] }[]>(
      "trace_replayBlockTransactions",
      numbers().map((number) => [number, ["trace"]]),
    );
    expect(single.map(({ trace }) => trace[0])).toEqual(ofBlocks.flat().map(({ trace }) => trace[0]));
  });

  it("traces a transaction by the call tracer and by trace_transaction", async () => {
    const calls = await batch<{ type: string; calls?: { type: string }[]; error?: string }>(
      "debug_traceTransaction",
      chain.sent.map(({ hash }) => [hash, { tracer: "callTracer", timeout: "5s" }]),
    );
    const named = new Map(chain.sent.map(({ name }, index) => [name, calls[index]]));
    expect(named.get("lend")?.calls?.map(({ type }) => type)).toEqual(["DELEGATECALL", "STATICCALL", "CALL"]);
    expect(named.get("breedAt")?.calls?.[0]).toMatchObject({
      type: "CREATE2",
      to: lower(chain.contracts.salted),
    });
    expect(named.get("provoke")).toMatchObject({
      error: "execution reverted",
      revertReason: "the child refuses",
    });
    const own = await node.rpc<Trace[]>("trace_transaction", [hashOf("lend")]);
    expect(own.map(({ action }) => action.callType)).toEqual(["call", "delegatecall", "staticcall", "call"]);
    expect(own[0]).toMatchObject({
      transactionHash: hashOf("lend"),
      blockNumber: Number(await blockOf("lend")),
    });
  });

  it("reads balances, code and tokens in batches, at the block that it is importing", async () => {
    const { token, zoo, child } = chain.contracts;
    const [early, late] = [await blockOf("approve"), await blockOf("kill")];
    const balances = await batch("eth_getBalance", [
      [HEIR, early],
      [HEIR, late],
      [child, early],
      [zoo, early],
    ]);
    expect(balances).toEqual([toHex(77n), toHex(77n + 3n + 11n), "0x0", toHex(100n)]);
    const codes = await batch<Hex>("eth_getCode", [
      [token, early],
      [zoo, "latest"],
      [chain.contracts.doomed, "latest"],
      [HEIR, "latest"],
    ]);
    expect(codes.map((code) => code === "0x")).toEqual([false, false, true, true]);
    const read = (functionName: string, args: readonly unknown[] = []) => [
      { to: token, data: encodeFunctionData({ abi: chain.abis.Token, functionName, args }) },
      late,
    ];
    const [name, decimals, supply, balance] = await batch<Hex>("eth_call", [
      read("name"),
      read("decimals"),
      read("totalSupply"),
      read("balanceOf", [HEIR]),
    ]);
    expect(decodeAbiParameters([{ type: "string" }], name as Hex)).toEqual(["Menagerie"]);
    expect([decimals, supply, balance].map(Number)).toEqual([18, 1_000_000, 250]);
  });

  it("collects the transfers of tokens by their topic", async () => {
    const transfer = toEventSelector("Transfer(address,address,uint256)");
    const logs = await node.rpc<Json[]>("eth_getLogs", [
      { fromBlock: "0x0", toBlock: toHex(chain.lastBlock), topics: [transfer] },
    ]);
    expect(logs.map(({ transactionHash }) => transactionHash)).toEqual(
      ["deploy token", "token transfer", "transferFrom"].map(hashOf),
    );
    expect(logs[1]).toMatchObject({
      topics: [transfer, lower(pad(chain.maker)), lower(pad(HEIR))],
      removed: false,
    });
  });

  it("shows pooled transactions, and is notified of each block", async () => {
    const account = mnemonicToAccount(DEV_MNEMONIC, { addressIndex: 6 });
    const raw = await account.signTransaction({
      type: "legacy",
      chainId: 1337,
      nonce: 1,
      gas: 21_000n,
      gasPrice: 1n,
      to: HEIR,
      value: 1n,
    });
    const hash = await node.rpc<Hex>("eth_sendRawTransaction", [raw]);
    expect(await node.rpc("txpool_besuTransactions")).toMatchObject([
      { hash, isReceivedFromLocalSource: true },
    ]);
    expect(await node.rpc("txpool_besuPendingTransactions")).toMatchObject([
      { hash, nonce: "0x1", to: HEIR },
    ]);
    expect(await node.rpc("txpool_content")).toMatchObject({
      pending: {},
      queued: { [lower(account.address)]: { 1: { hash } } },
    });
    expect(await node.rpc("eth_getTransactionByHash", [hash])).toMatchObject({ hash, blockHash: null });
    const socket = new WebSocket(node.wsUrl);
    await once(socket, "open");
    socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params: ["newHeads"] }));
    await once(socket, "message");
    const [message] = (await once(socket, "message")) as [Buffer];
    socket.terminate();
    const { method, params } = JSON.parse(message.toString()) as { method: string; params: { result: Json } };
    expect(method).toBe("eth_subscription");
    expect(Object.keys(params.result)).toEqual(expect.arrayContaining(BLOCK_MEMBERS));
  });
});

describe("Otterscan's standard calls", () => {
  it("show a block, a transaction, an account and a contract", async () => {
    const ask = <T>(method: string, ...params: unknown[]) => rpc<T>(node.httpUrl, method, params);
    expect(await ask("eth_chainId")).toBe("0x539");
    for (const tag of ["latest", "safe", "finalized"])
      expect(
        Number((await ask<{ number: Hex }>("eth_getBlockByNumber", tag, false)).number),
      ).toBeGreaterThanOrEqual(chain.lastBlock);
    const block = await ask<{ hash: Hex }>("eth_getBlockByNumber", await blockOf("lend"), true);
    expect(await ask("eth_getBlockByHash", block.hash, true)).toEqual(block);
    expect(await ask("eth_getTransactionByHash", hashOf("lend"))).toMatchObject({
      blockHash: block.hash,
      from: lower(chain.maker),
      to: lower(chain.contracts.zoo),
    });
    expect(await ask("eth_getTransactionCount", chain.maker, "latest")).toBe(toHex(chain.sent.length));
    expect(await ask("eth_getStorageAt", chain.contracts.zoo, IMPLEMENTATION_SLOT, "latest")).toBe(
      pad("0x0"),
    );
    expect(await ask("eth_feeHistory", "0x2", "latest", [50])).toMatchObject({
      baseFeePerGas: ["0x0", "0x0", "0x0"],
    });
    expect(await ask("debug_traceTransaction", hashOf("plain transfer"))).toMatchObject({
      failed: false,
      gas: 21_000,
    });
    await expect(ask("ots_getApiLevel")).rejects.toMatchObject({ code: -32604 });
    await expect(ask("erigon_getHeaderByNumber", 0)).rejects.toMatchObject({ code: -32604 });
  });
});

interface Trace {
  readonly type: string;
  readonly action: Json;
  readonly error?: string;
}

/** The transactions of the chain that fail, in order. */
const FAILURES = [
  "provoke",
  "overdraft",
  "failed creation",
  "out of gas",
  "closed",
  "silent",
  "broken",
  "code too early",
];

/** The storage slot of a proxy's implementation (EIP-1967). */
const IMPLEMENTATION_SLOT = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc";

const BLOCK_MEMBERS = (
  "difficulty extraData gasLimit gasUsed hash logsBloom miner mixHash nonce number parentHash receiptsRoot " +
  "sha3Uncles size stateRoot timestamp totalDifficulty transactions transactionsRoot uncles baseFeePerGas"
).split(" ");

const TRANSACTION_MEMBERS =
  "blockHash blockNumber from gas gasPrice hash input nonce r s v to transactionIndex type value".split(" ");

const RECEIPT_MEMBERS = (
  "blockHash blockNumber contractAddress cumulativeGasUsed effectiveGasPrice from gasUsed logs logsBloom status to " +
  "transactionHash transactionIndex type"
).split(" ");
