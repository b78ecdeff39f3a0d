import { expect, it } from "vitest";
import type { AdmissionErrorCause, InputRefusal, Traffic } from "../../src/network/traffic.ts";
import { identity } from "./identities.ts";
import { closeAfterEach, createToy, startToy, until } from "./toyNetwork.ts";
import { connectUntrusted, type UntrustedPeer } from "./untrustedPeer.ts";

closeAfterEach();

it("messages are counted by direction, protocol, name and code, and refused connections by cause", async () => {
  const counted = new Map<string, number>();
  const refused: AdmissionErrorCause[] = [];
  const inputs: InputRefusal[] = [];
  const traffic: Traffic = {
    passed({ direction, protocol, name, code }) {
      const key = `${direction} ${protocol} ${name} ${code}`;
      counted.set(key, (counted.get(key) ?? 0) + 1);
    },
    inboundRefused: (cause) => void refused.push(cause),
    inputRefused: (reason) => void inputs.push(reason),
    nodeRefused: () => undefined,
    discovered: () => undefined,
    datagramDropped: () => undefined,
  };
  const toy = { ...createToy(), messageNames: ["Nought", "One"] };
  const node = await startToy(1, { traffic, toy, bannedIds: [identity(101).nodeId] });
  const peer = await startToy(2, { maintained: [node.address] });
  await until(() => node.toy.sessions.size === 1 && peer.toy.sessions.size === 1);
  peer.toy.sessionWith(node.identity)?.send(1, Uint8Array.of(1));
  node.toy.sessionWith(peer.identity)?.send(0, Uint8Array.of(1));
  node.toy.sessionWith(peer.identity)?.send(3, Uint8Array.of(1));
  await until(() => node.toy.received.length === 1);
  const banned = connectUntrusted(node, identity(101));
  await banned.open();
  const malformed = connectUntrusted(node, identity(102));
  malformed.write(Buffer.from("GET / HTTP/1.1\r\n\r\n"));
  await malformed.disconnected;
  await until(() => refused.length === 2);
  expect(refused.sort()).toEqual(["denied", "handshake"]);
  expect(inputs).toEqual([]);
  expect(Object.fromEntries(counted)).toEqual({
    "inbound Wire Hello 0": 2,
    "outbound Wire Hello 0": 2,
    "outbound Wire Disconnect 1": 1,
    "inbound toy/1 One 1": 1,
    "outbound toy/1 Nought 0": 1,
    "outbound toy/1 Invalid 3": 1,
  });
});

it.each([
  ["a frame that is forged", (peer: UntrustedPeer) => peer.write(new Uint8Array(64).fill(7))],
  [
    "a message that unpacks to far more than it has",
    (peer: UntrustedPeer) => peer.write(peer.frame(Uint8Array.of(0x10, 0xfe, 0xff, 0xff, 0x07, 0x00, 0xaa))),
  ],
])("%s is counted once", async (_, act) => {
  const inputs: InputRefusal[] = [];
  const traffic: Traffic = {
    passed: () => undefined,
    inboundRefused: () => undefined,
    inputRefused: (reason) => void inputs.push(reason),
    nodeRefused: () => undefined,
    discovered: () => undefined,
    datagramDropped: () => undefined,
  };
  const node = await startToy(1, { traffic });
  const peer = connectUntrusted(node, identity(103));
  await peer.open();
  act(peer);
  expect(await peer.disconnected).toBe("breachOfProtocol");
  expect(inputs).toEqual(["badFrame"]);
});
