import { toHex } from "../../../primitives/hex.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import type { EnodeErrorCode, PeerInfo } from "../../core/coreParts.ts";
import { ERRORS, type RpcError } from "../../errors/errors.ts";
import { defineMethod, type Json, type RpcMethod, required } from "../../method.ts";
import { decodeString } from "../../parameters/parameters.ts";
import { BOOLEAN, listOf, OBJECT, TEXT } from "../../schemas.ts";
import { showEndpoint } from "./nodeInfo.ts";

/** Connected peers and maintained peers (p2p.md#peers-in-json-rpc). */

const ENODE_ERRORS: Readonly<Record<EnodeErrorCode, RpcError>> = {
  invalidNodeId: ERRORS.invalidNodeId,
  namedHost: ERRORS.enodeDnsDisabled,
  unknownHost: ERRORS.enodeHostUnknown,
  malformed: ERRORS.parseError,
};

export const adminAddPeer = changerOf(
  "add",
  "Adds a maintained peer, to which the node stays connected; false when it is one already, as static nodes and bootnodes are.",
);
export const adminRemovePeer = changerOf(
  "remove",
  "Disconnects from a maintained peer and stops maintaining it; false when it is not one.",
);

export const adminPeers = defineMethod({
  name: "admin_peers",
  namespace: "ADMIN",
  summary: "The connected peers, with what they announced about themselves and their chains.",
  parameters: [],
  result: { name: "peers", schema: listOf(OBJECT) },
  ports: ["network"],
  mayOverlap: "many",
  async run(_, context) {
    const peers = await context.backend.network.peers(context);
    return peers === "disabled" ? ERRORS.peerToPeerDisabled : peers.map(show);
  },
});

function changerOf(change: "add" | "remove", summary: string): RpcMethod {
  return defineMethod({
    name: `admin_${change}Peer`,
    namespace: "ADMIN",
    summary,
    parameters: [required("enode", decodeString, TEXT)],
    exactParams: 1,
    result: { name: "isChanged", schema: BOOLEAN },
    ports: ["network"],
    mayOverlap: "many",
    async run([enode], context) {
      const changed = await context.backend.network[`${change}Peer`](enode, context);
      if (changed === "disabled") return ERRORS.peerToPeerDisabled;
      return changed.ok ? changed.value : ENODE_ERRORS[changed.error.code];
    },
  });
}

/** The id has no 0x prefix, as the interface demands. */
function show({ nodeId, clientId, eth, ...peer }: PeerInfo): Json {
  return {
    version: toQuantity(peer.p2pVersion),
    name: clientId,
    caps: peer.capabilities,
    network: {
      ...(peer.local && { localAddress: showEndpoint(peer.local) }),
      remoteAddress: showEndpoint(peer.remote),
    },
    port: toQuantity(peer.listenPort),
    id: toHex(nodeId).slice(2),
    protocols:
      eth === undefined
        ? {}
        : {
            eth: {
              difficulty: toQuantity(eth.totalDifficulty),
              head: toHex(eth.headHash),
              version: eth.version,
            },
          },
    enode: peer.enode,
  };
}
