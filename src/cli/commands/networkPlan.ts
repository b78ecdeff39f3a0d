import { isIP } from "node:net";
import { showEnode } from "../../config/enode.ts";
import { bad } from "../../config/valueTypes.ts";
import type { Address } from "../../primitives/address.ts";
import { toHex } from "../../primitives/hex.ts";
import { ok, type Result } from "../../primitives/result.ts";

/** A node of a planned network: its host, and its ports there. */
export interface PlannedNode {
  /** `validator-1`, `follower-1`, and so on. */
  readonly name: string;
  /** Address at which the others reach it: an IP address, or a host name. */
  readonly host: string;
  readonly ports: {
    readonly peers: number;
    readonly http: number;
    readonly webSocket: number;
    readonly metrics: number;
  };
  /** Its validator; undefined for a follower, which creates its own key at its first start. */
  readonly validator: Address | undefined;
  /** Path of its private key, relative to the network's folder; undefined if only its public key is known. */
  readonly keyFile: string | undefined;
}

export interface NetworkPlan {
  readonly nodes: readonly PlannedNode[];
  /** The validators' enode URLs, the static nodes of every node. */
  readonly enodes: readonly string[];
  readonly genesisFile: string;
  /** Minimum gas price of all nodes, wei per gas; undefined for the default. */
  readonly minGasPriceWei: bigint | undefined;
  /** Whether each node has a name that only the containers of the compose file know. */
  readonly isInContainers: boolean;
}

interface PlannedKey {
  readonly address: Address;
  readonly publicKey: Uint8Array;
  readonly keyFile: string | undefined;
}

const FIRST_PORTS = { peers: 30303, http: 8545, webSocket: 8546, metrics: 9545 };

/**
 * Plans validators, in the order of their keys, and then followers. `hosts` has their hosts in this order, each with the
 * port for peers if that is not 30303; a single host is for all. Nodes on one host get different ports: each the next one
 * for peers and metrics, and the next but one for HTTP and WebSocket. Without hosts, each node has its name in the compose
 * file.
 */
export function planNetwork(
  keys: readonly PlannedKey[],
  {
    followers,
    hosts,
    ...files
  }: { readonly followers: number; readonly hosts: readonly string[] } & Pick<
    NetworkPlan,
    "genesisFile" | "minGasPriceWei"
  >,
): Result<NetworkPlan, "badValue"> {
  const count = keys.length + followers;
  if (hosts.length > 1 && hosts.length !== count)
    return bad(`${hosts.length} hosts were given for ${count} nodes; one, or one for each, is expected.`);
  const nodes: PlannedNode[] = [];
  for (let index = 0; index < count; index++) {
    const key = keys[index];
    const name = key === undefined ? `follower-${index - keys.length + 1}` : `validator-${index + 1}`;
    const place = readPlace(hosts[index] ?? hosts[0] ?? name);
    if (place === undefined) return bad(`'${hosts[index] ?? hosts[0]}' is not a host, or a host and a port.`);
    const nth = nodes.filter(({ host }) => host === place.host).length;
    const isOwnPort = hosts.length > 1 && place.port !== undefined;
    const ports = portsFor(nth, (place.port ?? FIRST_PORTS.peers) + (isOwnPort ? 0 : nth));
    const twin = nodes.find((node) => node.host === place.host && node.ports.peers === ports.peers);
    if (twin !== undefined)
      return bad(`${twin.name} and ${name} would have the same port ${ports.peers} on ${place.host}.`);
    nodes.push({ name, host: place.host, ports, validator: key?.address, keyFile: key?.keyFile });
  }
  const enodes = keys.map(({ publicKey }, index) => {
    const { host = "", ports } = nodes[index] ?? {};
    return showEnode({ nodeId: publicKey, host, tcpPort: ports?.peers, udpPort: ports?.peers });
  });
  return ok({ nodes, enodes, ...files, isInContainers: hosts.length === 0 });
}

function portsFor(nth: number, peers: number): PlannedNode["ports"] {
  const { http, webSocket, metrics } = FIRST_PORTS;
  return { peers, http: http + 2 * nth, webSocket: webSocket + 2 * nth, metrics: metrics + nth };
}

/** Reads `host`, `host:port`, `[IPv6]` and `[IPv6]:port`. */
function readPlace(text: string): { readonly host: string; readonly port: number | undefined } | undefined {
  const [, bracketed, plain = "", digits] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = digits === undefined ? undefined : Number(digits);
  const isHost = isIP(host) !== 0 || (bracketed === undefined && HOST_NAME.test(host));
  const isPort = port === undefined || (port > 0 && port < MOST_PORTS);
  return isHost && isPort ? { host, port } : undefined;
}

const HOST_NAME = /^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*$/;
const MOST_PORTS = 65_536;

export function isNamedHost({ host }: PlannedNode): boolean {
  return isIP(host) === 0;
}

/** Name of a node in comments: its name and, for a validator, its address. */
export function titleOf({ name, validator }: PlannedNode): string {
  return validator === undefined ? name : `${name}, ${toHex(validator)}`;
}
