import { FUTURE_BYTES_LIMIT } from "../../src/consensus/buffers/otherHeights.ts";
import type { MessageCodec } from "../../src/consensus/router/messageCodec.ts";
import type { MessageRouter } from "../../src/consensus/router/messageRouter.ts";
import type { SignedMessage } from "../../src/ibft/message.ts";
import type { Rules } from "../../src/ibft/state.ts";
import type { Head } from "../../src/ibft/validatorSet.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import type { Address } from "../../src/primitives/address.ts";
import { equalBytes, includesBytes } from "../../src/primitives/hex.ts";
import { aMessageRouter } from "../builders/aMessageRouter.ts";
import type { Checkers } from "./checkers.ts";
import type { Mesh } from "./mesh.ts";
import type { SimulatedNode } from "./simulatedNode.ts";

/**
 * The message router between a node's engine and its links, as in the real node: messages are relayed in a partial
 * mesh, each is delivered once, and those of future heights are buffered. All of it is lost with the process.
 */
export interface Relays {
  boot(node: SimulatedNode, head: Head): void;
  /** Reconnects all linked running nodes, so that each gets the last messages of the other. */
  reconnect(): void;
  headAdvanced(node: SimulatedNode, head: Head): void;
  /** Sends our own message. */
  multicast(node: SimulatedNode, message: SignedMessage, validators: readonly Address[]): void;
  /** Sends a notice of a shared key to all linked nodes. */
  sendNotice(node: SimulatedNode, message: SignedMessage): void;
  /** Sends a Byzantine validator's message to one node, over the link to it. */
  tell(from: SimulatedNode, to: SimulatedNode, message: SignedMessage): void;
}

export type RouterLimits = Pick<
  Rules["schedule"],
  "duplicateMessageLimit" | "gossipedHistoryLimit" | "futureMessagesLimit" | "futureMessagesMaxDistance"
>;

export interface RelaysParts {
  readonly nodes: readonly SimulatedNode[];
  readonly mesh: Mesh;
  readonly codec: MessageCodec;
  /** The required limits, and those that the nodes have: different under sabotage. */
  readonly limits: RouterLimits;
  readonly ownLimits: RouterLimits;
  readonly checkers: Checkers;
  /** Sends over a link, with its losses. */
  carry(from: SimulatedNode, to: SimulatedNode, deliver: () => void): void;
  deliver(to: SimulatedNode, message: SignedMessage): void;
  /** Whether this node relays this time. */
  passesOn(node: SimulatedNode): boolean;
  /** Whether it sends its last messages to nodes that connect. */
  repeats(node: SimulatedNode): boolean;
  onKept(): void;
  readonly requestTimeoutSeconds: number;
}

export function createRelays(parts: RelaysParts): Relays {
  const { nodes, mesh, codec, checkers } = parts;
  const routers = new Map<SimulatedNode, MessageRouter>();
  /** The node that sends a message of its own at the moment; what others send meanwhile is relayed. */
  let author: SimulatedNode | undefined;

  function send(from: SimulatedNode, to: SimulatedNode, code: number, payload: Uint8Array): void {
    parts.carry(from, to, () => {
      const router = routers.get(to);
      if (to.state === undefined || router === undefined) return;
      router.receive({ sender: from.rules.self, code, payload });
      checkers.onRouter(router, parts.limits, FUTURE_BYTES_LIMIT);
    });
  }

  function routerOf(node: SimulatedNode): MessageRouter {
    return aMessageRouter({
      self: node.rules.self,
      schedule: { ...parts.ownLimits, requestTimeoutSeconds: parts.requestTimeoutSeconds },
      codec,
      judgeNotice: (notice) => node.judgeNotice(notice),
      carrier: {
        get connected() {
          const linked = nodes.filter(({ state, index }) => state && mesh.areLinked(node.index, index));
          return linked.map(({ rules }) => rules.self);
        },
        send(code, payload, { to, except }) {
          for (const other of nodes) {
            const { self } = other.rules;
            if (other.state === undefined || !mesh.areLinked(node.index, other.index)) continue;
            if (!includesBytes(to, self) || includesBytes(except, self)) continue;
            if (node === author || parts.passesOn(node)) send(node, other, code, payload);
          }
        },
      },
      messagesBy(author) {
        const messages = node.state?.height?.messages ?? [];
        return messages.filter(({ signed }) => equalBytes(signed.author, author));
      },
      deliver: (message) => parts.deliver(node, message),
      clock: { nowMs: () => node.nowMs },
      logger: silentLogger,
      later: (passOn, waitMs) => node.plan(waitMs, passOn),
      metrics: {
        relayed: () => undefined,
        received(result) {
          if (result === "buffered") parts.onKept();
        },
      },
    });
  }

  function meet(one: SimulatedNode, other: SimulatedNode): void {
    if (!mesh.areLinked(one.index, other.index) || one.state === undefined || other.state === undefined)
      return;
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const)
      if (parts.repeats(from))
        routers.get(from)?.peerConnected(to.rules.self, (code, payload) => send(from, to, code, payload));
  }

  return {
    boot(node, head) {
      const router = routerOf(node);
      routers.set(node, router);
      router.headAdvanced(head);
      for (const other of nodes) if (other !== node) meet(node, other);
    },
    reconnect() {
      for (const one of nodes) for (const other of nodes) if (one.index < other.index) meet(one, other);
    },
    headAdvanced(node, head) {
      if (node.state !== undefined) routers.get(node)?.headAdvanced(head);
    },
    multicast(node, message, validators) {
      const outer = author;
      author = node;
      routers.get(node)?.multicast(message, validators);
      author = outer;
    },
    sendNotice: (node, message) => routers.get(node)?.sendNotice(message),
    tell(from, to, message) {
      if (!mesh.areLinked(from.index, to.index)) return;
      const { code, payload } = codec.encode(message);
      send(from, to, code, payload);
    },
  };
}
