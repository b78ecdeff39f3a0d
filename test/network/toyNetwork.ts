import { connect, type Socket } from "node:net";
import { afterEach } from "vitest";
import type { NodeAddress } from "../../src/network/dialer.ts";
import {
  createNetwork,
  type Network,
  type NetworkParts,
  type NetworkSettings,
} from "../../src/network/network.ts";
import type { DisconnectReason } from "../../src/network/rlpx/disconnectReason.ts";
import type { Session, SubProtocol } from "../../src/network/subProtocol.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { systemClock } from "../../src/primitives/clock.ts";
import { toDigits } from "../../src/primitives/hex.ts";
import { type Identity, identity } from "./identities.ts";

export const HOST = "127.0.0.1";

/** A protocol that records what it receives. */
export interface Toy extends SubProtocol {
  readonly sessions: Set<Session>;
  readonly received: { readonly from: string; readonly code: number; readonly payload: Uint8Array }[];
  readonly closed: { readonly nodeId: string; readonly reason: DisconnectReason }[];
  sessionWith(peer: Identity): Session | undefined;
}

export function createToy(name = "toy", messageCodes = 4): Toy {
  const sessions = new Set<Session>();
  const received: Toy["received"] = [];
  const closed: Toy["closed"] = [];
  return {
    name,
    version: 1,
    messageCodes,
    sessions,
    received,
    closed,
    sessionWith: ({ nodeId }) => [...sessions].find((one) => toDigits(one.nodeId) === toDigits(nodeId)),
    onOpen: (session) => void sessions.add(session),
    onMessage: ({ nodeId }, code, payload) => void received.push({ from: toDigits(nodeId), code, payload }),
    onClose(session, reason) {
      sessions.delete(session);
      closed.push({ nodeId: toDigits(session.nodeId), reason });
    },
  };
}

export interface ToyNode {
  readonly identity: Identity;
  readonly network: Network;
  readonly toy: Toy;
  readonly address: NodeAddress;
}

const open: Network[] = [];
const sockets: Socket[] = [];

/** Closes all networks and sockets after each test. */
export function closeAfterEach(): void {
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await Promise.all(open.splice(0).map((network) => network.close()));
  });
}

/** A node on a free port of loopback; its key is that of `number`. */
export async function startToy(
  number: number,
  changes: Partial<NetworkSettings> & Partial<NetworkParts> & { readonly toy?: Toy } = {},
): Promise<ToyNode> {
  const own = identity(number);
  const toy = changes.toy ?? createToy();
  const {
    protocols = [toy],
    clock = systemClock,
    chance = () => 0.5,
    logger = silentLogger,
    isPermitted,
    onSharedKey,
    traffic,
    ...settings
  } = changes;
  const started = await createNetwork(
    {
      key: own,
      clientId: `toy/${number}`,
      host: HOST,
      port: 0,
      limits: { maxPeers: 25, maxInbound: 15 },
      maintained: [],
      bannedIds: [],
      ...settings,
    },
    {
      ...{ protocols, clock, chance, logger, traffic },
      ...(isPermitted && { isPermitted }),
      ...(onSharedKey && { onSharedKey }),
    },
  );
  if (!started.ok) throw new Error(started.error.message);
  open.push(started.value);
  const tcpPort = started.value.endpoint?.port ?? 0;
  return {
    identity: own,
    network: started.value,
    toy,
    address: { nodeId: own.nodeId, host: HOST, tcpPort },
  };
}

/** A plain socket to the node, for tests that break the protocol. */
export function callNode({ tcpPort, host }: NodeAddress): Socket {
  const socket = connect({ host, port: tcpPort });
  socket.on("error", () => undefined);
  sockets.push(socket);
  return socket;
}

/** Waits until the condition holds; the test's own time limit reports a failure. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
