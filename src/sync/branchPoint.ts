import { hashOfHeader } from "../types/blockHash.ts";
import type { SyncChain, SyncPeer } from "./ports.ts";

/**
 * Number of the newest block that the local chain shares with a peer on another branch, found by bisection with a header per
 * request; undefined when the peer does not return them. Both begin with the same genesis block.
 */
export async function findBranchPoint(
  chain: Pick<SyncChain, "head" | "headerByHash">,
  peer: SyncPeer,
): Promise<bigint | undefined> {
  let shared = 0n;
  let other = chain.head.header.number + 1n;
  while (other - shared > 1n) {
    const number = (shared + other) / 2n;
    const isShared = await isOfLocalChain(chain, peer, number);
    if (isShared === undefined) return undefined;
    if (isShared) shared = number;
    else other = number;
  }
  return shared;
}

/** Whether the peer's block is the local chain's; undefined when the peer does not return it. */
async function isOfLocalChain(
  chain: Pick<SyncChain, "headerByHash">,
  peer: SyncPeer,
  number: bigint,
): Promise<boolean | undefined> {
  const response = await peer.requestHeaders({ start: { number }, max: 1, skip: 0, isReverse: false });
  const header = response.ok ? response.value[0] : undefined;
  if (header?.number !== number) return undefined;
  const hash = hashOfHeader(header);
  return hash.ok ? chain.headerByHash(hash.value) !== undefined : undefined;
}
