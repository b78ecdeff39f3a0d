import {
  type DatagramSource,
  Discovery,
  type DiscoveryParts,
} from "../../../src/network/discovery/discovery.ts";
import { decodePacket, type NodeContact, type Packet } from "../../../src/network/discovery/packets.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { curve } from "../../../src/primitives/secp256k1.ts";
import { createHandClock, type HandClock } from "../../builders/handClock.ts";
import { loggedLines } from "../../builders/loggedLines.ts";
import { createRandom } from "../../simulation/random.ts";

export interface Identity {
  readonly key: Uint8Array;
  readonly contact: NodeContact;
}

export interface TestNode extends Identity {
  readonly discovery: Discovery;
  /** Ids of the nodes that it was told to dial, in hex. */
  readonly dialled: Set<string>;
  /** The TCP port that it was last told to dial, by id. */
  readonly dialledAt: Map<string, number>;
  /** Reasons why it dropped datagrams. */
  readonly dropped: string[];
  /** How many nodes it did not take, by reason. */
  readonly refused: Map<string, number>;
  /** Kinds of the packets that it sent. */
  readonly sent: Packet["kind"][];
  stop(): void;
}

/** Someone on the network who sends what a test wants. */
export interface Outsider extends Identity {
  /** Packets that it got; a test takes them out. */
  readonly received: ReceivedDatagram[];
  /** All of them. */
  readonly all: ReceivedDatagram[];
}

export interface ReceivedDatagram {
  readonly bytes: Uint8Array;
  readonly packet: Packet;
  readonly hash: Uint8Array;
}

/** A network of datagrams that takes 20 ms for each, on a clock that the test turns. */
export interface DatagramNetwork {
  readonly clock: HandClock;
  addNode(options?: {
    readonly bootnodes?: readonly NodeContact[];
    readonly ip?: string;
    /** That of a node which was stopped. */
    readonly identity?: Identity;
    readonly parts?: Partial<DiscoveryParts>;
  }): TestNode;
  addOutsider(ip?: string): Outsider;
  /** Sends from `from`, whose address may be forged by another. */
  send(bytes: Uint8Array, from: DatagramSource, to: NodeContact): void;
  /** Lets time pass in steps, and what waits for it run. */
  run(durationMs: number): Promise<void>;
  /** Datagrams and bytes that a node sent to an address so far. */
  sentTo(ip: string): { readonly datagrams: number; readonly bytes: number };
}

export const FORK_ID = { checksum: 0xa82cce69, next: 0n };
const LATENCY_MS = 20;
const STEP_MS = 20;

/** Steps up to the one in which an alarm is due: nothing happens before it when the last step changed nothing. */
function idleSteps(nowMs: number, alarmMs: number): number {
  return Math.max(1, Math.ceil((alarmMs - nowMs) / STEP_MS));
}

export function createDatagramNetwork(seed: number): DatagramNetwork {
  const clock = createHandClock(1_700_000_000_000);
  const random = createRandom(seed);
  const receivers = new Map<string, (bytes: Uint8Array, from: DatagramSource) => void>();
  const sent = new Map<string, { datagrams: number; bytes: number }>();
  const { logger } = loggedLines();
  let count = 0;

  const place = ({ address, port }: DatagramSource): string => `${address} ${port}`;
  function send(bytes: Uint8Array, from: DatagramSource, to: NodeContact): void {
    deliver(bytes, from, { address: to.ip, port: to.udpPort });
  }
  function deliver(bytes: Uint8Array, from: DatagramSource, to: DatagramSource): void {
    const tally = sent.get(to.address) ?? { datagrams: 0, bytes: 0 };
    sent.set(to.address, { datagrams: tally.datagrams + 1, bytes: tally.bytes + bytes.length });
    clock.at(clock.nowMs() + LATENCY_MS, () => receivers.get(place(to))?.(bytes, from));
  }
  function nextIdentity(ip: string | undefined): Identity {
    count += 1;
    const key = new Uint8Array(32).fill(1);
    new DataView(key.buffer).setUint32(0, (seed << 16) + count);
    const address = ip ?? `10.0.${count >> 8}.${count & 255}`;
    return { key, contact: { nodeId: curve.publicKey(key), ip: address, udpPort: 30303, tcpPort: 30304 } };
  }

  return {
    clock,
    addNode({ bootnodes = [], ip, identity = nextIdentity(ip), parts = {} } = {}) {
      const { key, contact } = identity;
      const at = { address: contact.ip, port: contact.udpPort };
      const dialled = new Set<string>();
      const dialledAt = new Map<string, number>();
      const dropped: string[] = [];
      const refused = new Map<string, number>();
      const kinds: Packet["kind"][] = [];
      const discovery = new Discovery(
        { privateKey: key, bootnodes },
        {
          clock,
          epochMs: () => clock.nowMs(),
          chance: () => random.next(),
          send: (bytes, to) => deliver(bytes, at, to),
          endpoint: () => contact,
          forkId: () => FORK_ID,
          isCompatible: ({ checksum }) => checksum === FORK_ID.checksum,
          isPermitted: () => true,
          wantsPeers: () => true,
          onNode({ nodeId, tcpPort }) {
            dialled.add(toHex(nodeId));
            dialledAt.set(toHex(nodeId), tcpPort);
          },
          onPacket: (direction, kind) => {
            if (direction === "outbound") kinds.push(kind);
          },
          onDropped: (reason) => void dropped.push(reason),
          onRefused: (reason, count) => refused.set(reason, (refused.get(reason) ?? 0) + count),
          logger: logger.child("network"),
          ...parts,
        },
      );
      receivers.set(place(at), (bytes, from) => discovery.receive(bytes, from));
      discovery.start();
      return {
        key,
        contact,
        discovery,
        dialled,
        dialledAt,
        dropped,
        refused,
        sent: kinds,
        stop() {
          discovery.close();
          receivers.delete(place(at));
        },
      };
    },
    addOutsider(ip) {
      const { key, contact } = nextIdentity(ip);
      const received: ReceivedDatagram[] = [];
      const all: ReceivedDatagram[] = [];
      receivers.set(place({ address: contact.ip, port: contact.udpPort }), (bytes) => {
        const decoded = decodePacket(bytes);
        if (!decoded.ok) return;
        const { packet, hash } = decoded.value;
        received.push({ bytes, packet, hash });
        all.push({ bytes, packet, hash });
      });
      return { contact, key, received, all };
    },
    send,
    async run(durationMs) {
      const untilMs = clock.nowMs() + durationMs;
      let before: number | undefined = clock.nowMs();
      while (clock.nowMs() < untilMs) {
        const next = clock.nextAlarmMs;
        const isIdle = next === before;
        before = next;
        clock.advanceBy(
          STEP_MS * (isIdle ? idleSteps(clock.nowMs(), Math.min(next ?? untilMs, untilMs)) : 1),
        );
        // What waits for a response goes on after a few turns of the microtask queue.
        for (let turn = 0; turn < 8; turn++) await Promise.resolve();
      }
    },
    sentTo: (ip) => sent.get(ip) ?? { datagrams: 0, bytes: 0 },
  };
}
