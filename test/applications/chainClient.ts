import {
  type Abi,
  type Account,
  BaseError,
  type Chain,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  defineChain,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  http,
  type PublicClient,
  parseEventLogs,
  type TransactionReceipt,
  webSocket,
} from "viem";
import { until } from "../cluster/harness/nodeProcess.ts";
import type { CompiledContract } from "../contracts/compile.ts";
import { HANG_MS } from "../hang.ts";
import type { Usage } from "./usage.ts";

/** A chain as an application sees it: viem over HTTP and WebSocket. */
export interface ChainClient {
  readonly chain: Chain;
  readonly reader: PublicClient;
  /** Subscribes, over WebSocket. */
  readonly watcher: PublicClient;
  readonly usage: Usage;
}

export interface Contract {
  readonly name: string;
  readonly address: Hex;
  readonly abi: Abi;
}

/** A function of a contract with its arguments. */
export interface Call {
  readonly contract: Contract;
  readonly functionName: string;
  readonly args?: readonly unknown[];
  readonly value?: bigint;
  /** The gas limit; without it the node is asked for an estimate, or AMPLE_GAS is taken. */
  readonly gas?: bigint;
}

/** Error name and arguments, as viem decodes them. */
export type Refusal = readonly [name: string | undefined, args: readonly unknown[]];

/** An account of a chain, which counts its nonces itself, so that several of its transactions fit in one block. */
export interface Actor {
  readonly address: Hex;
  /** Waits for the receipt; throws unless it succeeded. The gas limit is the node's estimate with a margin. */
  send(call: Call): Promise<TransactionReceipt>;
  /** As `send`, and expects the transaction to fail in its block. */
  sendRefused(call: Call): Promise<TransactionReceipt>;
  /** All of them without waiting between; the later ones may need the earlier ones. */
  sendAll(calls: readonly Call[]): Promise<readonly TransactionReceipt[]>;
  /** Why the call would fail, by eth_call at the head or at that block; throws if it would not. */
  refusal(call: Call, blockNumber?: bigint): Promise<Refusal>;
  /** Sends the creation, and returns at once what will be there; `deployed` waits for all of them. */
  deploy(name: string, contract: CompiledContract, args?: readonly unknown[]): Contract;
  deployed(): Promise<void>;
  transfer(to: Hex, value: bigint): Promise<TransactionReceipt>;
}

/** Enough for any of the calls here: without an estimate, for calls whose requirements are not mined yet. */
const AMPLE_GAS = 800_000n;
const POLLING_MS = 50;

export function createChainClient(
  urls: { readonly http: string; readonly ws: string },
  chainId: number,
  usage: Usage,
): ChainClient {
  const chain = defineChain({
    id: chainId,
    name: `chain ${chainId}`,
    nativeCurrency: { name: "Native", symbol: "NAT", decimals: 18 },
    rpcUrls: { default: { http: [urls.http], webSocket: [urls.ws] } },
  });
  return {
    chain,
    reader: createPublicClient({
      chain,
      transport: http(undefined, { batch: true, timeout: HANG_MS }),
      pollingInterval: POLLING_MS,
      cacheTime: 0,
    }),
    watcher: createPublicClient({ chain, transport: webSocket(undefined, { timeout: HANG_MS }) }),
    usage,
  };
}

export async function createActor(client: ChainClient, account: Account): Promise<Actor> {
  const { reader, chain, usage } = client;
  const wallet = createWalletClient({
    chain,
    account,
    transport: http(undefined, { batch: true, timeout: HANG_MS }),
  });
  const { address } = account;
  const creations: Promise<void>[] = [];
  let nextNonce = await reader.getTransactionCount({ address });

  async function submit(call: Call): Promise<TransactionReceipt> {
    const nonce = nextNonce++;
    const request = { to: call.contract.address, data: dataOf(call), ...sentWith(call), nonce };
    const gas = call.gas ?? withMargin(await reader.estimateGas({ ...request, account }));
    return reader.waitForTransactionReceipt({ hash: await wallet.sendTransaction({ ...request, gas }) });
  }

  async function send(call: Call): Promise<TransactionReceipt> {
    const receipt = await submit(call);
    if (receipt.status !== "success") throw new Error(`${labelOf(call)} failed: ${await reasonOf(call)}`);
    usage.add(labelOf(call), receipt);
    return receipt;
  }

  async function create(name: string, sent: Promise<Hex>): Promise<void> {
    const receipt = await reader.waitForTransactionReceipt({ hash: await sent });
    if (receipt.status !== "success") throw new Error(`the deployment of ${name} failed`);
    usage.add(`${name} (deployment)`, receipt);
  }

  async function reasonOf(call: Call): Promise<string> {
    return refusal(call).then(String, () => "not at the head");
  }

  async function refusal(
    { contract, functionName, args = [], ...call }: Call,
    blockNumber?: bigint,
  ): Promise<Refusal> {
    const at = blockNumber === undefined ? {} : { blockNumber };
    const outcome = await reader
      .simulateContract({ ...contract, functionName, args, account, ...sentWith(call), ...at })
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    if (outcome === undefined) throw new Error(`${contract.name}.${functionName} is not refused`);
    return refusalIn(outcome);
  }

  return {
    address,
    send,
    async sendRefused(call) {
      const receipt = await submit({ gas: AMPLE_GAS, ...call });
      if (receipt.status !== "reverted") throw new Error(`${labelOf(call)} was not refused`);
      return receipt;
    },
    sendAll: (calls) => Promise.all(calls.map((call) => send({ gas: AMPLE_GAS, ...call }))),
    refusal,
    deploy(name, { abi, bytecode }, args = []) {
      const nonce = nextNonce++;
      creations.push(create(name, wallet.deployContract({ abi, bytecode, args, nonce, chain, account })));
      return { name, abi, address: getContractAddress({ from: address, nonce: BigInt(nonce) }) };
    },
    async deployed() {
      await Promise.all(creations.splice(0));
    },
    async transfer(to, value) {
      const nonce = nextNonce++;
      return reader.waitForTransactionReceipt({ hash: await wallet.sendTransaction({ to, value, nonce }) });
    },
  };
}

/** The decoded revert in an error of viem; throws the error if it is another one. */
function refusalIn(error: unknown): Refusal {
  const revert =
    error instanceof BaseError
      ? error.walk((cause) => cause instanceof ContractFunctionRevertedError)
      : undefined;
  if (!(revert instanceof ContractFunctionRevertedError)) throw error;
  return [revert.data?.errorName, revert.data?.args ?? []];
}

/** Waits for another block. */
export async function nextBlock({ reader }: ChainClient): Promise<void> {
  const number = await reader.getBlockNumber();
  await until(async () => (await reader.getBlockNumber()) > number || undefined, "another block");
}

export function call(contract: Contract, functionName: string, ...args: readonly unknown[]): Call {
  return { contract, functionName, args };
}

export async function read<T>(
  { reader }: ChainClient,
  { contract, functionName, args = [] }: Call,
): Promise<T> {
  return (await reader.readContract({ ...contract, functionName, args })) as T;
}

export function dataOf({ contract, functionName, args = [] }: Call): Hex {
  return encodeFunctionData({ abi: contract.abi, functionName, args });
}

/** Arguments of the only event of that name in a receipt. */
export function eventIn(
  receipt: TransactionReceipt,
  contract: Contract,
  eventName: string,
): Readonly<Record<string, unknown>> {
  const found = parseEventLogs({ abi: contract.abi, logs: receipt.logs, eventName }).filter(
    ({ address }) => address.toLowerCase() === contract.address.toLowerCase(),
  );
  const [event] = found as readonly { readonly args?: unknown }[];
  if (found.length !== 1 || event === undefined)
    throw new Error(`${found.length} events ${eventName} of ${contract.name} in ${receipt.transactionHash}`);
  return event.args as Readonly<Record<string, unknown>>;
}

/** As wallets do: an estimate at the head knows nothing of the rewards that the next block brings. */
function withMargin(estimate: bigint): bigint {
  return (estimate * 3n) / 2n;
}

function labelOf({ contract, functionName }: Call): string {
  return `${contract.name}.${functionName}`;
}

function sentWith({ value }: { readonly value?: bigint }) {
  return value === undefined ? {} : { value };
}
