import { decodeFunctionResult, encodeFunctionData, type Hex, numberToHex, toEventSelector } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compileSampleContracts } from "../../contracts/sampleContracts.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import { type NodeProcess, RpcFailure, startNodeProcess, until } from "../harness/nodeProcess.ts";
import { HEIR, makeVariedChain, type VariedChain } from "../harness/variedChain.ts";

/**
 * The requests of The Graph's graph-node to its provider, in the order and the form in which its Ethereum adapter (on alloy)
 * sends them: a subgraph from block 0 with event, call and block handlers that call contracts, on the node as it is shipped.
 */

interface Block {
  readonly number: Hex;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly timestamp: Hex;
  readonly transactions: readonly { readonly hash: Hex; readonly blockHash: Hex; readonly to: Hex | null }[];
}

interface Trace {
  readonly type: string;
  readonly blockHash: Hex;
  readonly blockNumber: number;
  readonly transactionHash?: Hex;
  readonly transactionPosition?: number;
  readonly traceAddress: readonly number[];
  readonly subtraces: number;
  readonly action: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: string;
}

describe.runIf(IS_THOROUGH)("graph-node", () => {
  let node: NodeProcess;
  let chain: VariedChain;
  let head: Block;
  const ask = <T>(method: string, ...params: unknown[]): Promise<T> => node.rpc<T>(method, params);

  beforeAll(async () => {
    node = await startNodeProcess();
    chain = await makeVariedChain(node, compileSampleContracts());
    head = await ask<Block>("eth_getBlockByNumber", "latest", false);
  });

  afterAll(async () => {
    expect(await node?.stop()).toBe(0);
  });

  it("identifies the network, and follows the head by hash and parent", async () => {
    expect(await ask("net_version")).toBe("1337");
    expect(await ask("eth_chainId")).toBe("0x539");
    const genesis = await ask<Block>("eth_getBlockByNumber", "0x0", false);
    expect(genesis).toMatchObject({ number: "0x0", hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
    let block = await ask<Block>("eth_getBlockByHash", head.hash, true);
    expect(block.hash).toBe(head.hash);
    for (let steps = Number(head.number); steps > 0; steps--) {
      const parent = await ask<Block>("eth_getBlockByHash", block.parentHash, true);
      expect(Number(parent.number)).toBe(Number(block.number) - 1);
      for (const { blockHash } of parent.transactions) expect(blockHash).toBe(parent.hash);
      block = parent;
    }
    expect(block.hash).toBe(genesis.hash);
    expect(await ask("eth_getBlockByHash", `0x${"11".repeat(32)}`, true)).toBeNull();
  });

  it("gets the receipts of a block by its hash as an object, and in a batch", async () => {
    const { blockHash } = await ask<{ blockHash: Hex }>("eth_getTransactionReceipt", chain.sent[0]?.hash);
    const block = await ask<Block>("eth_getBlockByHash", blockHash, true);
    const receipts = await ask<{ transactionHash: Hex }[]>("eth_getBlockReceipts", { blockHash });
    expect(receipts.map(({ transactionHash }) => transactionHash)).toEqual(
      block.transactions.map(({ hash }) => hash),
    );
    const answers = await batch<{ transactionHash: Hex }>(
      "eth_getTransactionReceipt",
      block.transactions.map(({ hash }) => [hash]),
    );
    expect(answers).toEqual(receipts);
  });

  it("scans the logs from block 0, by contract and by event alone", async () => {
    const transfer = toEventSelector("Transfer(address,address,uint256)");
    const approval = toEventSelector("Approval(address,address,uint256)");
    const range = { fromBlock: "0x0", toBlock: head.number };
    const ofContract = await ask<{ transactionHash: Hex; topics: Hex[]; logIndex: Hex; blockHash: Hex }[]>(
      "eth_getLogs",
      { ...range, address: [chain.contracts.token], topics: [[transfer, approval]] },
    );
    expect(ofContract.filter(({ topics }) => topics[0] === transfer)).toHaveLength(3);
    const ofEvent = await ask("eth_getLogs", { ...range, address: [], topics: [[transfer]] });
    expect(ofEvent).toEqual(ofContract.filter(({ topics }) => topics[0] === transfer));
    expect(
      await ask("eth_getLogs", { ...range, address: chain.contracts.token, topics: [transfer] }),
    ).toEqual(ofEvent);
    for (const { transactionHash, blockHash } of ofContract)
      expect(await ask("eth_getTransactionReceipt", transactionHash)).toMatchObject({ blockHash });
  });

  it("finds calls by trace_filter with all members that its client writes, and in a single block", async () => {
    const filter = (from: Hex, to: Hex, toAddress: readonly Hex[]) => ({
      ...{ fromBlock: from, toBlock: to, fromAddress: [], toAddress },
      ...{ mode: "union", after: null, count: null },
    });
    const { zoo } = chain.contracts;
    const calls = await ask<Trace[]>("trace_filter", filter("0x0", head.number, [zoo]));
    expect(calls.length).toBeGreaterThan(5);
    for (const { action } of calls) expect(action["to"]).toBe(zoo.toLowerCase());
    expect(calls.map(({ transactionHash }) => transactionHash)).toContain(chain.hashes["lend"]);
    const { blockNumber, blockHash } = await ask<{ blockNumber: Hex; blockHash: Hex }>(
      "eth_getTransactionReceipt",
      chain.hashes["lend"],
    );
    const ofBlock = await ask<Trace[]>("trace_filter", filter(blockNumber, blockNumber, []));
    // A block without any trace stops a subgraph: the reward of the block has to be there.
    for (const trace of ofBlock) {
      expect(trace).toMatchObject({
        blockHash,
        blockNumber: Number(blockNumber),
        subtraces: expect.any(Number),
      });
      expect("result" in trace || trace.error !== undefined).toBe(true);
    }
    expect(ofBlock.filter(({ type }) => type === "reward")).toHaveLength(1);
    const { number } = await until(async () => {
      const latest = await ask<Block>("eth_getBlockByNumber", "latest", false);
      return latest.transactions.length === 0 ? latest : undefined;
    }, "a block without transactions");
    const empty = await ask<Trace[]>("trace_filter", filter(number, number, []));
    expect(empty.map(({ type }) => type)).toEqual(["reward"]);
  });

  it("calls contracts at a block hash, and can tell a revert from a failure of the node", async () => {
    const { blockHash } = await ask<{ blockHash: Hex }>("eth_getTransactionReceipt", chain.hashes["approve"]);
    const at = { blockHash };
    const data = (functionName: "name" | "totalSupply") =>
      encodeFunctionData({ abi: chain.abis.Token, functionName });
    const call = (input: Hex, gas?: Hex) => ({
      ...{ to: chain.contracts.token, input, data: input },
      ...(gas !== undefined && { gas }),
    });
    const name = await ask<Hex>("eth_call", call(data("name")), at);
    expect(decodeFunctionResult({ abi: chain.abis.Token, functionName: "name", data: name })).toBe(
      "Menagerie",
    );
    const supply = await ask<Hex>("eth_call", call(data("totalSupply"), numberToHex(50_000_000)), at);
    expect(Number(supply)).toBe(1_000_000);
    const failure = await ask("eth_call", call("0xdeadbeef"), at).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RpcFailure);
    expect((failure as RpcFailure).message.toLowerCase()).toContain("revert");
    expect(await ask("eth_getBalance", HEIR, at)).toMatch(/^0x[1-9a-f]/);
    expect(await ask("eth_getCode", chain.contracts.token, at)).toMatch(/^0x60/);
  });

  async function batch<T>(method: string, calls: readonly (readonly unknown[])[]): Promise<readonly T[]> {
    const response = await fetch(node.httpUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(calls.map((params, id) => ({ jsonrpc: "2.0", id, method, params }))),
    });
    return ((await response.json()) as { result: T }[]).map(({ result }) => result);
  }
});
