import type { ChainSpec } from "../../../chainspec/chainSpec.ts";
import { forkAt } from "../../../chainspec/forks.ts";
import { FORK_KEYS } from "../../../chainspec/genesisForks.ts";
import { parametersAt } from "../../../chainspec/ibftParameters.ts";
import type { Endpoint } from "../../../primitives/endpoint.ts";
import { toHex } from "../../../primitives/hex.ts";
import { ERRORS } from "../../errors/errors.ts";
import { defineMethod, type Json } from "../../method.ts";
import { OBJECT } from "../../schemas.ts";

export const adminNodeInfo = defineMethod({
  name: "admin_nodeInfo",
  namespace: "ADMIN",
  summary: "The node's address, identity and chain.",
  parameters: [],
  result: { name: "node", schema: OBJECT },
  ports: ["network", "chain", "spec", "settings"],
  mayOverlap: "many",
  async run(_, context) {
    const { network, chain, spec, settings } = context.backend;
    const { peerToPeer } = await network.info(context);
    if (peerToPeer === undefined) return ERRORS.peerToPeerDisabled;
    if (peerToPeer.enode === undefined) return ERRORS.peerToPeerNotRunning;
    const { host, port, discoveryPort } = peerToPeer.advertised;
    const { header, hash, totalDifficulty } = chain.head;
    const fork = forkAt(spec.forks, header.number, header.timestamp);
    return {
      enode: peerToPeer.enode,
      ...(port !== undefined && { listenAddr: showEndpoint({ host, port }) }),
      activeFork: `${fork.charAt(0).toUpperCase()}${fork.slice(1)}`,
      ip: host,
      name: settings.clientVersion,
      id: toHex(peerToPeer.nodeId).slice(2),
      ports: {
        ...(discoveryPort !== undefined && { discovery: discoveryPort }),
        ...(port !== undefined && { listener: port }),
      },
      protocols: {
        eth: {
          config: showConfig(spec),
          difficulty: Number(totalDifficulty),
          genesis: toHex(chain.genesis.hash),
          head: toHex(hash),
          network: Number(settings.networkId),
        },
      },
    };
  },
});

/** An IPv6 address stands in brackets. */
export function showEndpoint({ host, port }: Endpoint): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Settings of the genesis file, under the same keys (json-rpc.md#admin). */
function showConfig({ chainId, forks, ibft, isZeroBaseFee }: ChainSpec): Json {
  const activations = forks.activations.flatMap(({ fork, at }) => {
    const key = FORK_KEYS.get(fork);
    return key === undefined ? [] : [[key, Number("block" in at ? at.block : at.time)] as const];
  });
  return {
    chainId: Number(chainId),
    ...Object.fromEntries(activations),
    ibft2: {
      epochLength: Number(ibft.epochLength),
      blockPeriodSeconds: parametersAt(ibft, 0n).blockPeriodSeconds,
      requestTimeoutSeconds: ibft.requestTimeoutSeconds,
    },
    ...(isZeroBaseFee && { zeroBaseFee: true }),
  };
}
