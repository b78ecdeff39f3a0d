import { encodeFunctionData } from "viem";
import type { Contender } from "./contenders.ts";
import { createRpcClient } from "./httpClient.ts";
import { atQuantile } from "./report.ts";
import { compileToken } from "./token.ts";
import { senderAddresses, tokenWorkload } from "./workload.ts";

export interface ReadResult {
  readonly method: string;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const CONNECTIONS = 32;

/** Requests per second of the three commonest reads, each request alone, over 32 connections. */
export async function measureReads(
  contender: Contender,
  secondsEach: number,
): Promise<readonly ReadResult[]> {
  const [holder = "0x"] = senderAddresses();
  const contract = await deployToken(contender);
  const data = encodeFunctionData({ abi: compileToken().abi, functionName: "balanceOf", args: [holder] });
  const requests: readonly (readonly [string, readonly unknown[]])[] = [
    ["eth_blockNumber", []],
    ["eth_getBalance", [holder, "latest"]],
    ["eth_call", [{ to: contract, data }, "latest"]],
  ];
  const results: ReadResult[] = [];
  for (const [method, params] of requests)
    results.push(await measure(contender.port, method, params, secondsEach));
  return results;
}

async function measure(
  port: number,
  method: string,
  params: readonly unknown[],
  seconds: number,
): Promise<ReadResult> {
  const client = createRpcClient(port, CONNECTIONS);
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
  const startedAtMs = performance.now();
  const stopAtMs = startedAtMs + seconds * 1000;
  const latenciesMs: number[] = [];

  async function ask(): Promise<void> {
    while (performance.now() < stopAtMs) {
      const askedAtMs = performance.now();
      const answer = await client.post(body);
      if (answer.includes('"error"')) throw new Error(`${method}: ${answer}`);
      latenciesMs.push(performance.now() - askedAtMs);
    }
  }

  await Promise.all(Array.from({ length: CONNECTIONS }, ask));
  client.close();
  return {
    method,
    perSecond: latenciesMs.length / ((performance.now() - startedAtMs) / 1000),
    p50Ms: atQuantile(latenciesMs, 0.5),
    p99Ms: atQuantile(latenciesMs, 0.99),
  };
}

async function deployToken(contender: Contender): Promise<string> {
  const client = createRpcClient(contender.port, 1);
  const nonces = await client.batch<string>(
    senderAddresses().map((address) => ["eth_getTransactionCount", [address, "latest"]] as const),
  );
  const hash = await client.call<string>("eth_sendRawTransaction", [
    tokenWorkload(0, nonces.map(Number)).setUp[0],
  ]);
  for (;;) {
    const receipt = await client.call<{ contractAddress: string } | null>("eth_getTransactionReceipt", [
      hash,
    ]);
    if (receipt !== null) {
      client.close();
      return receipt.contractAddress;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
