import { connect, type Socket } from "node:net";
import type { NodeAddress } from "../../../src/network/dialer.ts";
import { decodeMessage, encodeMessage } from "../../../src/network/eth/messageCodec.ts";
import { CODES, type EthMessage, type Status } from "../../../src/network/eth/messages.ts";
import type { DisconnectReason } from "../../../src/network/rlpx/disconnectReason.ts";
import { type Hello, ownHello } from "../../../src/network/rlpx/hello.ts";
import { Wire } from "../../../src/network/rlpx/wire.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { concatBytes } from "../../../src/primitives/hex.ts";
import type { Header } from "../../../src/types/header.ts";
import type { Identity } from "../../network/identities.ts";

/**
 * First message ids of the protocols on a connection on which both sides support IBF/1 and eth/68
 * (p2p.md#hello-and-capabilities).
 */
export const IBF = 0x10;
export const ETH = 0x14;

/** A peer that follows RLPx, and the protocols on it until a test deviates from them. */
export interface HostilePeer {
  readonly socket: Socket;
  /** False when the node ended it first. */
  readonly isOpen: Promise<boolean>;
  /** Like isOpen, after the exchange of Status. */
  readonly isIntroduced: Promise<boolean>;
  /** Like isIntroduced, once the node has returned the header of its head. */
  readonly isGreeted: Promise<boolean>;
  /** Sends a message; `id` counts from 0 over all protocols. */
  send(id: number, payload: Uint8Array): void;
  say(message: EthMessage): void;
  /** The bytes that `send` would write, without writing them; nothing else can be sent afterwards. */
  encode(id: number, payload: Uint8Array): Uint8Array;
  /** The header of the node's head when the connection was opened. */
  readonly shown: () => Header;
  /** The node's disconnect reason, or that it closed the connection without one. */
  readonly dismissal: Promise<DisconnectReason | "hung up">;
  readonly isGone: () => boolean;
}

export interface Disguise {
  readonly hello?: Partial<Hello>;
  /** Changes the Status; undefined sends none. By default it equals the node's own Status. */
  readonly status?: (theirs: Status) => Status | undefined;
  /** Called for each message of eth, Status and the header of the node's head included. */
  readonly onEth?: (code: number, payload: Uint8Array) => void;
}

export function callAsHostile(address: NodeAddress, own: Identity, disguise: Disguise = {}): HostilePeer {
  const socket = connect({ host: address.host, port: address.tcpPort });
  let shown: Header | undefined;
  const open = deferred<boolean>();
  const introduced = deferred<boolean>();
  const greeted = deferred<boolean>();
  const dismissed = deferred<DisconnectReason | "hung up">();
  let isGone = false;
  let withheld: Uint8Array[] | undefined;
  const end = (reason: DisconnectReason | "hung up"): void => {
    isGone = true;
    dismissed.resolve(reason);
    open.resolve(false);
    introduced.resolve(false);
    greeted.resolve(false);
    socket.destroy();
  };
  const hello = ownHello({
    clientId: "hostile",
    capabilities: [
      { name: "IBF", version: 1 },
      { name: "eth", version: 68 },
    ],
    listenPort: 0,
    nodeId: own.nodeId,
  });
  function write(bytes: Uint8Array): void {
    if (withheld === undefined) socket.write(bytes);
    else withheld.push(bytes);
  }

  const wire: Wire = new Wire(
    { own, hello: { ...hello, ...disguise.hello }, remoteId: address.nodeId },
    {
      write,
      queued() {
        for (let bytes = wire.next(); bytes !== undefined; bytes = wire.next()) write(bytes);
      },
      opened: () => open.resolve(true),
      message(id, payload) {
        if (id < ETH) return;
        const code = id - ETH;
        disguise.onEth?.(code, payload);
        if (code === CODES.status) introduce(payload);
        else if (code === CODES.blockHeaders && shown === undefined) {
          const answer = decodeMessage("blockHeaders", payload);
          if (!answer.ok) throw new Error("unreadable headers");
          shown = answer.value.headers[0];
          greeted.resolve(true);
        }
      },
      ponged: () => undefined,
      disconnected: end,
      broken: () => end("hung up"),
    },
  );

  function introduce(payload: Uint8Array): void {
    const message = decodeMessage("status", payload);
    if (!message.ok) throw new Error("the node's Status is unreadable");
    const theirs = message.value.status;
    const status = disguise.status === undefined ? theirs : disguise.status(theirs);
    if (status !== undefined) {
      peer.say({ kind: "status", status });
      const query = { start: { hash: theirs.headHash }, max: 1, skip: 0, isReverse: false };
      peer.say({ kind: "getBlockHeaders", requestId: 1n, query });
    }
    introduced.resolve(true);
  }

  socket.on("connect", () => wire.start());
  socket.on("data", (chunk) => wire.receive(chunk));
  socket.on("error", () => undefined);
  socket.on("close", () => end("hung up"));

  const peer: HostilePeer = {
    socket,
    isOpen: open.promise,
    isIntroduced: introduced.promise,
    isGreeted: greeted.promise,
    send: (id, payload) => void wire.send(id, payload),
    say: (message) => void wire.send(ETH + CODES[message.kind], encodeMessage(message)),
    encode(id, payload) {
      withheld = [];
      wire.send(id, payload);
      return concatBytes(...withheld);
    },
    shown: () => expectDefined(shown, "the head of the node"),
    dismissal: dismissed.promise,
    isGone: () => isGone,
  };
  return peer;
}

function deferred<T>(): { readonly promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve: (value) => resolve(value) };
}
