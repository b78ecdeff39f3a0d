import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { type DatagramPort, openDatagramPort } from "../../../src/network/discovery/datagramPort.ts";
import { Discovery } from "../../../src/network/discovery/discovery.ts";
import { decodePacket, encodePacket, type Packet } from "../../../src/network/discovery/packets.ts";
import { systemClock } from "../../../src/primitives/clock.ts";
import { loggedLines } from "../../builders/loggedLines.ts";

const HOST = "127.0.0.1";

describe("a UDP port", () => {
  it("sends nothing to port 0 or after it was closed, and goes on", async () => {
    const other = createSocket("udp4").bind(0, HOST);
    await once(other, "listening");
    const port = await open(HOST);
    const to = { address: HOST, port: other.address().port };
    port.send(new Uint8Array(1), { address: HOST, port: 0 });
    port.send(new Uint8Array(2), to);
    const [bytes] = (await once(other, "message")) as [Uint8Array];
    expect(bytes).toHaveLength(2);
    port.close();
    port.send(new Uint8Array(3), to);
    other.close();
  });

  it("is refused when another program has it", async () => {
    const other = createSocket("udp4").bind(0, HOST);
    await once(other, "listening");
    const opened = await openDatagramPort({ address: HOST, port: other.address().port });
    expect(opened).toMatchObject({ ok: false, error: { code: "addressInUse" } });
    other.close();
  });
});

describe("a node that asks before it has proved its address", () => {
  it("is pinged over UDP, and answered when its pong comes", async () => {
    const [ownKey, theirKey] = [1, 2].map((byte) => new Uint8Array(32).fill(byte)) as [
      Uint8Array,
      Uint8Array,
    ];
    const port = await open(HOST);
    const socket = createSocket("udp4").bind(0, HOST);
    await once(socket, "listening");
    port.send(new Uint8Array(1), { address: HOST, port: socket.address().port });
    const [, { port: udpPort }] = (await once(socket, "message")) as [Uint8Array, RemoteInfo];
    const { logger } = loggedLines();
    const here = { ip: HOST, udpPort, tcpPort: 1 };
    const discovery = new Discovery(
      { privateKey: ownKey, bootnodes: [] },
      {
        clock: systemClock,
        epochMs: Date.now,
        chance: Math.random,
        send: (bytes, to) => port.send(bytes, to),
        endpoint: () => here,
        forkId: () => ({ checksum: 1, next: 0n }),
        isCompatible: () => true,
        isPermitted: () => true,
        wantsPeers: () => false,
        onNode: () => undefined,
        logger: logger.child("network"),
      },
    );
    port.begin((bytes, from) => discovery.receive(bytes, from));
    const expiration = BigInt(Math.floor(Date.now() / 1000)) + 60n;
    const say = (packet: Packet): void => socket.send(encodePacket(packet, theirKey).bytes, udpPort, HOST);
    const heard = async () => {
      const [bytes] = (await once(socket, "message")) as [Uint8Array];
      const decoded = decodePacket(bytes);
      if (!decoded.ok) throw new Error(decoded.error.code);
      return decoded.value;
    };
    const asked = heard();
    say({ kind: "findNode", target: new Uint8Array(64), expiration });
    const { packet, hash } = await asked;
    expect(packet.kind).toBe("ping");
    const answered = heard();
    say({ kind: "pong", to: here, pingHash: hash, expiration, recordSequence: 1n });
    expect((await answered).packet.kind).toBe("neighbors");
    socket.close();
    discovery.close();
    port.close();
  });
});

async function open(address: string): Promise<DatagramPort> {
  const opened = await openDatagramPort({ address, port: 0 });
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
}
