import { encodeFunctionData, type Hex } from "viem";
import type { Contender } from "./contenders.ts";
import { createRpcClient, type RpcClient } from "./httpClient.ts";
import { compileToken } from "./token.ts";
import { senderAddresses, tokenWorkload } from "./workload.ts";

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** Test data for reads: a token, and a block with some of its transfers. */
export interface Scenery {
  readonly contract: string;
  readonly holder: Hex;
  readonly transactionHash: string;
  readonly blockNumber: string;
}

/** A peer needs 40 ms to write a block of a hundred, which would make this a benchmark of waiting. */
const TRANSFERS = 20;

export async function prepareScenery({ port }: Pick<Contender, "port">): Promise<Scenery> {
  const client = createRpcClient(port, 1);
  const [holder = "0x"] = senderAddresses();
  const nonces = await client.batch<string>(
    senderAddresses().map((address) => ["eth_getTransactionCount", [address, "latest"]] as const),
  );
  const { setUp, bodies } = tokenWorkload(TRANSFERS, nonces.map(Number));
  const { contractAddress } = await mined(
    client,
    await client.call<string>("eth_sendRawTransaction", [setUp[0]]),
  );
  const sent = JSON.parse(await client.post(bodies[0] ?? "")) as readonly { readonly result: string }[];
  const transactionHash = sent.at(-1)?.result ?? "";
  const { blockNumber } = await mined(client, transactionHash);
  client.close();
  return { contract: contractAddress, holder, transactionHash, blockNumber };
}

/** The ten most frequent methods. */
export function commonCalls({ contract, holder, transactionHash, blockNumber }: Scenery): readonly RpcCall[] {
  const { abi } = compileToken();
  const balance = encodeFunctionData({ abi, functionName: "balanceOf", args: [holder] });
  const transfer = encodeFunctionData({ abi, functionName: "transfer", args: [contract, 1n] });
  return [
    { method: "eth_blockNumber", params: [] },
    { method: "eth_chainId", params: [] },
    { method: "eth_gasPrice", params: [] },
    { method: "eth_getBalance", params: [holder, "latest"] },
    { method: "eth_getTransactionCount", params: [holder, "latest"] },
    { method: "eth_getTransactionReceipt", params: [transactionHash] },
    { method: "eth_getBlockByNumber", params: [blockNumber, true] },
    { method: "eth_getLogs", params: [{ address: contract, fromBlock: blockNumber, toBlock: blockNumber }] },
    { method: "eth_call", params: [{ to: contract, data: balance }, "latest"] },
    { method: "eth_estimateGas", params: [{ from: holder, to: contract, data: transfer }] },
  ];
}

/** The text of a request, or of a batch of `count` equal requests. */
export function requestText(call: RpcCall, count = 1): string {
  if (count === 1) return JSON.stringify({ jsonrpc: "2.0", id: 1, ...call });
  return JSON.stringify(Array.from({ length: count }, (_, id) => ({ jsonrpc: "2.0", id, ...call })));
}

interface Receipt {
  readonly contractAddress: string;
  readonly blockNumber: string;
}

/** The receipt of a transaction, once it is in a block. */
export async function mined(client: RpcClient, hash: string): Promise<Receipt> {
  for (;;) {
    const receipt = await client.call<Receipt | null>("eth_getTransactionReceipt", [hash]);
    if (receipt !== null) return receipt;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
