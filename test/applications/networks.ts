import mainnet from "../../genesis/mainnet.json" with { type: "json" };
import { type NodeProcess, startNodeProcess } from "../cluster/harness/nodeProcess.ts";
import { CHAIN_ID, prepareNetwork } from "../cluster/harness/validatorNetwork.ts";
import { type ChainClient, createChainClient } from "./chainClient.ts";
import { createUsage } from "./usage.ts";

/** The chain of the applications, and the one at the other end of the bridge. */
export interface Networks {
  readonly home: ChainClient;
  readonly base: ChainClient;
  /** Throws where a node did not end well. */
  stop(): Promise<void>;
}

const DEV_CHAIN_ID = 1337;
/** 0.000001 gwei, the price of networks 7171 and 7771. */
const MIN_GAS_PRICE_WEI = 1_000;

/** A development network of one node, at both ends of the bridge. */
export async function startOneNode(): Promise<Networks> {
  return networksOn(await startNodeProcess());
}

/** That node alone, at both ends of the bridge. */
export function networksOn(node: NodeProcess): Networks {
  const home = createChainClient({ http: node.httpUrl, ws: node.wsUrl }, DEV_CHAIN_ID, createUsage());
  return {
    home,
    base: home,
    async stop() {
      await closeSocket(home);
      ended(await node.stop());
    },
  };
}

/**
 * Four validators under the rules and the gas price of the main network, and a development network at the other end of the
 * bridge. Applications write through one validator and subscribe at another.
 */
export async function startFourValidators(): Promise<Networks> {
  const network = await prepareNetwork({
    validators: 4,
    likeGenesis: mainnet,
    minGasPrice: MIN_GAS_PRICE_WEI,
    options: ["--rpc-ws-enabled"],
  });
  const [validators, other] = await Promise.all([network.startAll(), startNodeProcess()]);
  const [first, , third] = validators;
  if (first === undefined || third === undefined) throw new Error("validators are missing");
  const home = createChainClient({ http: first.httpUrl, ws: third.wsUrl }, Number(CHAIN_ID), createUsage());
  const base = createChainClient({ http: other.httpUrl, ws: other.wsUrl }, DEV_CHAIN_ID, createUsage());
  return {
    home,
    base,
    async stop() {
      await Promise.all([closeSocket(home), closeSocket(base)]);
      const codes = await Promise.all([...validators, other].map((node) => node.stop()));
      for (const code of codes) ended(code);
    },
  };
}

async function closeSocket({ watcher }: ChainClient): Promise<void> {
  const { getRpcClient } = watcher.transport as unknown as {
    getRpcClient(): Promise<{ close(): void }>;
  };
  (await getRpcClient()).close();
}

function ended(code: number | null): void {
  if (code !== 0) throw new Error(`a node ended with ${code}`);
}
