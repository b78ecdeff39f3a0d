import { forkAt } from "../../../chainspec/forks.ts";
import { parametersAt } from "../../../chainspec/ibftParameters.ts";
import { toHex } from "../../../primitives/hex.ts";
import { quantityOrNull, toQuantity } from "../../../primitives/quantity.ts";
import { defineMethod, type Json } from "../../method.ts";
import { type ConnectedPeer, type HistoryInfo, MOST_UNMINED, type NodeInfo } from "../../nodeInfo.ts";
import { OBJECT } from "../../schemas.ts";

/** Peers of one answer, validators first. */
const MOST_PEERS = 100;
/** Characters of the name that a peer gives its program. */
const NAME_LENGTH = 64;

/** Serves pages that anybody may see: nothing secret, no path, and no address where a peer is reached. */
export const explorerGetNodeStatus = defineMethod({
  name: "explorer_getNodeStatus",
  namespace: "EXPLORER",
  summary: "The node's version and chain, its peers' programs, and what it takes of its machine.",
  parameters: [],
  result: { name: "status", schema: OBJECT },
  ports: ["chain", "spec", "settings", "node"],
  mayOverlap: "many",
  async run(_, context) {
    const { chain, spec, settings, node } = context.backend;
    const info = await node.info(context);
    const { number, timestamp } = chain.head.header;
    return {
      version: settings.clientVersion,
      chainId: toQuantity(spec.chainId),
      networkId: toQuantity(settings.networkId),
      coinSymbol: settings.coinSymbol,
      genesisHash: toHex(chain.genesis.hash),
      fork: forkAt(spec.forks, number, timestamp),
      blockPeriodSeconds: toQuantity(parametersAt(spec.ibft, number + 1n).blockPeriodSeconds),
      requestTimeoutSeconds: toQuantity(spec.ibft.requestTimeoutSeconds),
      startedAt: toQuantity(Math.floor(info.startedAtMs / 1000)),
      isInSync: info.isInSync,
      pauses: info.pauses,
      ...showPeers(info),
      ...showMachine(info),
      ...showUnmined(info),
      walletRpc: showWalletRpc(info),
      blockHistory: showHistory(info.blockHistory),
      stateHistory: showHistory(info.stateHistory),
    };
  },
});

function showPeers({ peers, maxPeers }: NodeInfo): Readonly<Record<string, Json>> {
  if (peers === undefined) return { peerCount: null, maxPeers: toQuantity(maxPeers), peers: null };
  const validatorsFirst = peers.toSorted((a, b) => rankOf(a) - rankOf(b));
  return {
    peerCount: toQuantity(peers.length),
    maxPeers: toQuantity(maxPeers),
    peers: validatorsFirst.slice(0, MOST_PEERS).map(({ clientId, isInbound, validator }) => ({
      client: clientId.slice(0, NAME_LENGTH),
      isInbound,
      validator: validator === undefined ? null : toHex(validator),
    })),
  };
}

function rankOf({ validator }: ConnectedPeer): number {
  return validator === undefined ? 1 : 0;
}

function showWalletRpc({ walletRpc: rpc }: NodeInfo): Json {
  if (rpc === undefined) return null;
  return { port: toQuantity(rpc.port), isSecure: rpc.isSecure, isLocal: rpc.isLocal };
}

function showHistory({ start, kept, left }: HistoryInfo): Readonly<Record<string, Json>> {
  return {
    firstBlock: toQuantity(start),
    keptBlocks: quantityOrNull(kept),
    blocksToRemove: quantityOrNull(left),
  };
}

/** The longest waiting first. */
function showUnmined({ unmined, unminedCount }: NodeInfo): Readonly<Record<string, Json>> {
  const longestFirst = unmined.toSorted((a, b) => a.addedAtMs - b.addedAtMs);
  return {
    unminedCount: toQuantity(unminedCount),
    unmined: longestFirst
      .slice(0, MOST_UNMINED)
      .map(({ hash, sender, nonce, addedAtMs, reason, priceWei, askedWei }) => ({
        hash: toHex(hash),
        from: toHex(sender),
        nonce: toQuantity(nonce),
        since: toQuantity(Math.floor(addedAtMs / 1000)),
        reason,
        price: toQuantity(priceWei),
        askedPrice: quantityOrNull(askedWei),
      })),
  };
}

function showMachine({ disk, memory, openFiles }: NodeInfo): Readonly<Record<string, Json>> {
  return {
    disk: {
      freeBytes: quantityOrNull(disk.freeBytes),
      reserveBytes: toQuantity(disk.reserveBytes),
      resumeBytes: toQuantity(disk.resumeBytes),
      databaseBytes: toQuantity(disk.databaseBytes),
    },
    memory: {
      residentBytes: toQuantity(memory.residentBytes),
      ownBytes: quantityOrNull(memory.ownBytes),
      mappedBytes: quantityOrNull(memory.mappedBytes),
      limitBytes: toQuantity(memory.limitBytes),
    },
    openFiles: { open: quantityOrNull(openFiles.open), limit: quantityOrNull(openFiles.limit) },
  };
}
