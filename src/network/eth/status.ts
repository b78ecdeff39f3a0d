import { encodeForkId, type ForkIds, forkIdFromItems } from "../../chainspec/forkId.ts";
import { equalBytes, toHex } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { encodeRlpIndex, encodeRlpList, encodeRlpString, readRlp } from "../../primitives/rlp.ts";
import type { NamedHeader } from "../../types/block.ts";
import type { Status } from "./messages.ts";
import type { EthChain, EthIdentity } from "./ports.ts";
import { hashOf, scalarOf, tupleOf } from "./wireReader.ts";
import { encodeScalar } from "./wireWriter.ts";

/**
 * Why a peer's Status is refused; all have the same reason on the wire, subprotocolTriggered
 * (p2p.md#status-and-fork-id).
 */
type StatusErrorCode = "otherNetwork" | "otherForks" | "otherGenesis";

/**
 * This node's Status at this head, on a connection of this version; the peer requests the head's header at once, so it
 * must be available.
 */
export function ownStatus(
  { networkId, forkIds }: EthIdentity,
  { genesis, head }: EthChain,
  protocolVersion: number,
): Status {
  return {
    protocolVersion,
    networkId,
    totalDifficulty: head.totalDifficulty,
    headHash: head.hash,
    genesisHash: genesis.hash,
    forkId: forkIds.at(progressOf(head)),
  };
}

/**
 * Checks a peer's Status. All errors have the same reason on the wire, so the order is free: network, then genesis, then
 * forks, because the fork id covers the genesis hash and another genesis looks like unknown forks. The version is not
 * compared.
 */
export function checkStatus(
  theirs: Status,
  { networkId, forkIds }: EthIdentity,
  { genesis, head }: EthChain,
): Result<void, StatusErrorCode> {
  if (theirs.networkId !== networkId) {
    return fail("peer", "otherNetwork", `it is on network ${theirs.networkId}, this node on ${networkId}`);
  }
  if (!equalBytes(theirs.genesisHash, genesis.hash)) {
    return fail(
      "peer",
      "otherGenesis",
      `another genesis: theirs ${toHex(theirs.genesisHash)}, ours ${toHex(genesis.hash)}`,
    );
  }
  const forks: ReturnType<ForkIds["check"]> = forkIds.check(progressOf(head), theirs.forkId);
  if (!forks.ok) return fail("peer", "otherForks", forks.error.message);
  return ok(undefined);
}

export function encodeStatus(status: Status): Uint8Array {
  return encodeRlpList([
    encodeRlpIndex(status.protocolVersion),
    encodeScalar(status.networkId),
    encodeScalar(status.totalDifficulty),
    encodeRlpString(status.headHash),
    encodeRlpString(status.genesisHash),
    encodeForkId(status.forkId),
  ]);
}

/** Reads a Status; throws RangeError. */
export function readStatus(payload: Uint8Array): Status {
  const [version, networkId, totalDifficulty, headHash, genesisHash, fork] = tupleOf(payload, 6);
  const forkId = forkIdFromItems(fork === undefined ? undefined : readRlp(fork, 1));
  if (!forkId.ok) throw new RangeError(forkId.error.message);
  return {
    protocolVersion: Number(scalarOf(version, 4)),
    networkId: scalarOf(networkId, 32),
    totalDifficulty: scalarOf(totalDifficulty, 32),
    headHash: hashOf(headHash),
    genesisHash: hashOf(genesisHash),
    forkId: forkId.value,
  };
}

function progressOf({ header: { number, timestamp } }: NamedHeader): { number: bigint; timestamp: bigint } {
  return { number, timestamp };
}
