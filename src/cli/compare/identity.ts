import { fail, ok, type Result } from "../../primitives/result.ts";
import { memberOf } from "./differingPlaces.ts";
import type { Endpoint, RpcAnswer } from "./endpoint.ts";
import type { Roles } from "./findings.ts";
import { showValue } from "./parseAnswer.ts";

/** A node's client and chain. */
export interface NodeIdentity {
  /** Client name as web3_clientVersion gives it, or `unknown client`. */
  readonly client: string;
  readonly chainId: bigint;
  readonly genesisHash: string;
  readonly head: bigint;
}

/** Identifies a node. The error says which answer is missing: the group ETH must be enabled. */
export async function identify(node: Endpoint): Promise<Result<NodeIdentity, "notComparable">> {
  const [client, chainId, genesis, head] = await node.ask([
    { method: "web3_clientVersion", params: [] },
    { method: "eth_chainId", params: [] },
    { method: "eth_getBlockByNumber", params: ["0x0", false] },
    { method: "eth_blockNumber", params: [] },
  ]);
  const chain = quantityOf(chainId);
  const newest = quantityOf(head);
  const hash = memberOf(resultOf(genesis), "hash");
  if (chain === undefined || newest === undefined || typeof hash !== "string") {
    const wrong = chain === undefined ? chainId : newest === undefined ? head : genesis;
    const message = `${node.name} does not answer with its chain (eth_chainId, eth_blockNumber, eth_getBlockByNumber): ${shown(wrong)}`;
    return fail("caller", "notComparable", message);
  }
  const version = resultOf(client);
  const name =
    typeof version === "string" ? version.slice(0, 100).replaceAll(/[^\x20-\x7e]/g, "?") : "unknown client";
  return ok({ client: name, chainId: chain, genesisHash: hash, head: newest });
}

/** The newest block of a node; undefined while it does not answer. */
export async function headOf(node: Endpoint): Promise<bigint | undefined> {
  const [answer] = await node.ask([{ method: "eth_blockNumber", params: [] }]);
  return quantityOf(answer);
}

/** Differences are only explained between a Besu and an Ibex node. */
export function rolesOf(ours: NodeIdentity, theirs: NodeIdentity): Roles {
  const isBesu = (node: NodeIdentity): boolean => /^besu\//i.test(node.client);
  const isIbex = (node: NodeIdentity): boolean => /^ibex\//i.test(node.client);
  if (isIbex(ours) && isBesu(theirs)) return "oursIsIbex";
  return isBesu(ours) && isIbex(theirs) ? "oursIsBesu" : undefined;
}

function resultOf(answer: RpcAnswer | undefined): unknown {
  return answer?.kind === "answer" ? answer.result : undefined;
}

function quantityOf(answer: RpcAnswer | undefined): bigint | undefined {
  const result = resultOf(answer);
  return typeof result === "string" && /^0x[\da-f]{1,16}$/i.test(result) ? BigInt(result) : undefined;
}

function shown(answer: RpcAnswer | undefined): string {
  if (answer === undefined) return "no answer";
  if (answer.kind === "unread") return answer.reason;
  return showValue(answer.error ?? answer.result).slice(0, 300);
}
