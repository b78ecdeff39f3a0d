import { describe, expect, it } from "vitest";
import { createIbfTransport } from "../../../src/network/ibf/protocol.ts";
import type { ReceivedMessage } from "../../../src/network/ibf/senderQueues.ts";
import type { Session } from "../../../src/network/subProtocol.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { addressOfPublicKey } from "../../../src/primitives/secp256k1.ts";
import { type Identity, identity } from "../identities.ts";
import { closeAfterEach, startToy, until } from "../toyNetwork.ts";

closeAfterEach();

const addressOf = ({ nodeId }: Identity) => addressOfPublicKey(nodeId);
const [ALICE, BOB, CAROL] = [identity(1), identity(2), identity(3)];

function aSession(peer: Identity, sent: string[], name: string): Session {
  return {
    nodeId: peer.nodeId,
    address: addressOf(peer),
    hello: { p2pVersion: 5, clientId: "", capabilities: [], listenPort: 0, nodeId: peer.nodeId },
    version: 1,
    isInbound: false,
    remote: { host: "", port: 0 },
    isLasting: true,
    isReady: true,
    receivedBytes: 0,
    isMaintained: false,
    share: { isTrusted: false, take: (work) => work(), spend: () => undefined },
    send: (code, payload) => sent.push(`${name} ${code} ${payload.length}`) > 0,
    disconnect: () => undefined,
    greeted: () => undefined,
    reward: () => undefined,
    penalise: () => undefined,
  };
}

describe("the consensus transport", () => {
  it("sends to addresses over all their connections, except excluded ones", () => {
    const sent: string[] = [];
    const { protocol, send, ...transport } = createIbfTransport({ receive: () => undefined });
    const second = aSession(ALICE, sent, "alice again");
    protocol.onOpen(aSession(ALICE, sent, "alice"));
    protocol.onOpen(second);
    protocol.onOpen(aSession(BOB, sent, "bob"));
    const to = [ALICE, BOB, CAROL].map(addressOf);
    send(1, new Uint8Array(5), { to, except: [addressOf(BOB)] });
    protocol.onClose(second, "alreadyConnected");
    send(3, new Uint8Array(2), { to });
    expect(sent).toEqual(["alice 1 5", "alice again 1 5", "alice 3 2", "bob 3 2"]);
    expect(transport.droppedCount).toBe(0);
  });

  it("counts on those alone who have completed their handshakes: others may refuse a second node with this key", () => {
    const transport = createIbfTransport({ receive: () => undefined });
    const { protocol } = transport;
    protocol.onOpen({ ...aSession(ALICE, [], "alice"), isReady: false });
    protocol.onOpen(aSession(BOB, [], "bob"));
    expect(transport.connected).toEqual([ALICE, BOB].map(addressOf));
    expect(transport.kept).toEqual([BOB].map(addressOf));
    protocol.onOpen(aSession(ALICE, [], "alice again"));
    expect(transport.kept).toEqual([ALICE, BOB].map(addressOf));
  });

  it("reports each opened session, and sends a reply over that session only", () => {
    const sent: string[] = [];
    const opened: string[] = [];
    const { protocol } = createIbfTransport({
      receive: () => undefined,
      onOpened(address, send) {
        opened.push(toHex(address));
        send(3, new Uint8Array(4));
      },
    });
    protocol.onOpen(aSession(ALICE, sent, "alice"));
    protocol.onOpen(aSession(ALICE, sent, "alice again"));
    expect(opened).toEqual([ALICE, ALICE].map((peer) => toHex(addressOf(peer))));
    expect(sent).toEqual(["alice 3 4", "alice again 3 4"]);
  });

  it("delivers round robin, so that a flooding sender does not delay others", async () => {
    const received: ReceivedMessage[] = [];
    const transport = createIbfTransport({ receive: (message) => void received.push(message) });
    const [alice, bob] = [aSession(ALICE, [], ""), aSession(BOB, [], "")];
    for (let count = 0; count < 1_100; count++) transport.protocol.onMessage(alice, 1, Uint8Array.of(count));
    transport.protocol.onMessage(bob, 2, Uint8Array.of(7));
    expect(received).toEqual([]);
    await until(() => received.length === 1_025);
    expect(received[1]).toEqual({ sender: addressOf(BOB), code: 2, payload: Uint8Array.of(7) });
    expect(received.slice(2, 4).map(({ payload }) => payload[0])).toEqual([1, 2]);
    expect(transport.droppedCount).toBe(76);
  });

  it("keeps no more bytes of one sender than its bound, and always accepts one message", async () => {
    const received: ReceivedMessage[] = [];
    const transport = createIbfTransport({ receive: (message) => void received.push(message) });
    const alice = aSession(ALICE, [], "");
    const large = new Uint8Array(0xff_ff_fe);
    for (let count = 0; count < 5; count++) transport.protocol.onMessage(alice, 0, large);
    await until(() => received.length > 0);
    expect([received.length, transport.droppedCount]).toEqual([1, 4]);
  });

  it("carries the four codes between nodes, at the ids that Besu expects", async () => {
    const received: ReceivedMessage[] = [];
    const alice = createIbfTransport({ receive: () => undefined });
    const bob = createIbfTransport({ receive: (message) => void received.push(message) });
    const host = await startToy(2, { protocols: [bob.protocol] });
    const caller = await startToy(1, { protocols: [alice.protocol] });
    caller.network.addPeer(host.address);
    await until(() => alice.connected.length === 1 && bob.connected.length === 1);
    for (const code of [0, 1, 2, 3]) alice.send(code, Uint8Array.of(0xc1, code), { to: [addressOf(BOB)] });
    await until(() => received.length === 4);
    expect(received.map(({ code, payload }) => [code, payload[1]])).toEqual(
      [0, 1, 2, 3].map((code) => [code, code]),
    );
    expect(received[0]?.sender).toEqual(addressOf(ALICE));
  });
});
