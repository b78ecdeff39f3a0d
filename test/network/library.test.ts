import { createServer, type Socket } from "node:net";
import { Common, Mainnet } from "@ethereumjs/common";
import { DISCONNECT_REASON, Peer } from "@ethereumjs/devp2p";
import { afterEach, describe, expect, it } from "vitest";
import { HANG_MS } from "../hang.ts";
import { type Identity, identity } from "./identities.ts";
import { callNode, closeAfterEach, HOST, startToy, until } from "./toyNetwork.ts";

closeAfterEach();

const opened: { close(): unknown }[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

/** Interoperability with the wire library's peers, which share no code with this node. */
describe("a node and a peer of the wire library", () => {
  it("exchange messages when the library dials", async () => {
    const node = await startToy(1);
    const socket = callNode(node.address);
    await until(() => !socket.connecting);
    const theirs = libraryPeer(socket, identity(2), node.identity.nodeId);
    await until(() => node.network.peerCount === 1 && theirs.send !== undefined);
    await exchange(theirs, node);
  });

  it("exchange messages when the node dials", async () => {
    const node = await startToy(1);
    const accepted = new Promise<ReturnType<typeof libraryPeer>>((resolve) => {
      const server = createServer((socket) => resolve(libraryPeer(socket, identity(2), null)));
      opened.push(server);
      server.listen({ host: HOST, port: 0 }, () => {
        const address = server.address();
        const tcpPort = typeof address === "object" ? (address?.port ?? 0) : 0;
        node.network.addPeer({ nodeId: identity(2).nodeId, host: HOST, tcpPort });
      });
    });
    const theirs = await accepted;
    await until(() => node.network.peerCount === 1 && theirs.send !== undefined);
    await exchange(theirs, node);
  });
});

interface LibraryPeer {
  readonly peer: Peer;
  readonly received: { readonly code: number; readonly length: number }[];
  readonly disconnects: (number | undefined)[];
  send: ((code: number, bytes: Uint8Array) => void) | undefined;
}

async function exchange(theirs: LibraryPeer, node: Awaited<ReturnType<typeof startToy>>): Promise<void> {
  expect(node.network.peers).toMatchObject([{ hello: { clientId: "library", listenPort: 7 } }]);
  const session = node.toy.sessionWith(identity(2));
  session?.send(3, new Uint8Array(100_000));
  await until(() => theirs.received.length === 1);
  expect(theirs.received).toEqual([{ code: 3, length: 100_000 }]);
  // Raw snappy of three bytes: the library leaves compression to its protocols.
  theirs.send?.(2, Uint8Array.of(3, 8, 9, 9, 9));
  await until(() => node.toy.received.length === 1);
  expect(node.toy.received).toMatchObject([{ code: 2, payload: Uint8Array.of(9, 9, 9) }]);
  session?.disconnect("tooManyPeers");
  await until(() => theirs.disconnects.length === 1);
  expect(theirs.disconnects).toEqual([DISCONNECT_REASON.TOO_MANY_PEERS]);
}

function libraryPeer(socket: Socket, own: Identity, remoteId: Uint8Array | null): LibraryPeer {
  const received: LibraryPeer["received"] = [];
  const disconnects: LibraryPeer["disconnects"] = [];
  /** The class that the library instantiates for a shared capability, with the members that it needs. */
  class Toy {
    constructor(_version: number, _peer: Peer, send: (code: number, bytes: Uint8Array) => void) {
      theirs.send = send;
    }
    _handleMessage(code: number, { length }: Uint8Array): void {
      received.push({ code, length });
    }
  }
  const peer = new Peer({
    clientId: Buffer.from("library"),
    // The library's type asks for its base class, none of which it uses.
    capabilities: [{ name: "toy", version: 1, length: 4, constructor: Toy }] as never,
    common: new Common({ chain: Mainnet }),
    port: 7,
    id: own.nodeId,
    // The library's types ignore that an inbound connection has no known id.
    remoteId: remoteId as Uint8Array,
    privateKey: own.privateKey,
    socket,
    timeout: HANG_MS,
  });
  const theirs: LibraryPeer = { peer, received, disconnects, send: undefined };
  peer.events.on("close", (reason: number | undefined) => void disconnects.push(reason));
  peer.events.on("error", () => undefined);
  return theirs;
}
