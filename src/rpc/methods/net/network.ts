import { toQuantity } from "../../../primitives/quantity.ts";
import type { PeerToPeer } from "../../core/coreParts.ts";
import { ERRORS } from "../../errors/errors.ts";
import { defineMethod } from "../../method.ts";
import { BOOLEAN, OBJECT, QUANTITY, TEXT } from "../../schemas.ts";

/** The node's identity and services in its network (json-rpc.md#net-and-web3). */

export const netVersion = defineMethod({
  name: "net_version",
  namespace: "NET",
  summary: "The network id, in decimal.",
  parameters: [],
  result: { name: "networkId", schema: TEXT },
  ports: ["settings"],
  run: (_, { backend }) => backend.settings.networkId.toString(),
});

export const netListening = defineMethod({
  name: "net_listening",
  namespace: "NET",
  summary: "Whether peers can connect to the node.",
  parameters: [],
  result: { name: "isListening", schema: BOOLEAN },
  ports: ["network"],
  mayOverlap: "many",
  async run(_, context) {
    const { peerToPeer } = await context.backend.network.info(context);
    return peerToPeer?.isListening ?? false;
  },
});

export const netPeerCount = defineMethod({
  name: "net_peerCount",
  namespace: "NET",
  summary: "How many peers are connected.",
  parameters: [],
  result: { name: "count", schema: QUANTITY },
  ports: ["network"],
  mayOverlap: "many",
  async run(_, context) {
    const { peerToPeer } = await context.backend.network.info(context);
    return peerToPeer === undefined ? ERRORS.peerToPeerDisabled : toQuantity(peerToPeer.peerCount);
  },
});

export const netEnode = defineMethod({
  name: "net_enode",
  namespace: "NET",
  summary: "The enode URL of the node.",
  parameters: [],
  result: { name: "enode", schema: TEXT },
  ports: ["network"],
  mayOverlap: "many",
  async run(_, context) {
    const { peerToPeer } = await context.backend.network.info(context);
    if (peerToPeer === undefined) return ERRORS.peerToPeerDisabled;
    return peerToPeer.enode ?? ERRORS.peerToPeerNotRunning;
  },
});

export const netServices = defineMethod({
  name: "net_services",
  namespace: "NET",
  summary: "The node's services with their hosts and ports.",
  parameters: [],
  result: { name: "services", schema: OBJECT },
  ports: ["network"],
  mayOverlap: "many",
  async run(_, context) {
    const { peerToPeer, services } = await context.backend.network.info(context);
    const { jsonrpc, ws, metrics } = services;
    return {
      ...member("jsonrpc", jsonrpc),
      ...member("ws", ws),
      ...member("p2p", peerToPeer?.advertised),
      ...member("metrics", metrics),
    };
  },
});

/** The port is text, as in Besu. An endpoint without a port does not listen and is left out. */
function member(name: string, endpoint: PeerToPeer["advertised"] | undefined): object {
  return endpoint?.port === undefined ? {} : { [name]: { host: endpoint.host, port: String(endpoint.port) } };
}
