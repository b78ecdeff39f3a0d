import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Endpoint } from "../../../src/network/discovery/endpoint.ts";
import {
  decodePacket,
  encodePacket,
  MAX_NEIGHBORS,
  MAX_PACKET_BYTES,
  type Packet,
} from "../../../src/network/discovery/packets.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { concatBytes, hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { curve } from "../../../src/primitives/secp256k1.ts";
import { describeWithVectors, readVectorJson } from "../../vectors.ts";

interface PlainEndpoint {
  readonly ip: string;
  readonly udp: number;
  readonly tcp: number;
}

interface ValidCase {
  readonly name: string;
  readonly packet: string;
  readonly hash: string;
  readonly signer: string;
  readonly roundTrip?: true;
  readonly decoded: {
    readonly packet: string;
    readonly from?: PlainEndpoint;
    readonly to?: PlainEndpoint;
    readonly target?: string;
    readonly pingHash?: string;
    readonly requestHash?: string;
    readonly nodes?: readonly (PlainEndpoint & { readonly id: string })[];
    readonly expiration?: number;
    readonly extra: readonly unknown[];
    readonly enr?: { readonly seq: number; readonly pairs: { readonly ip: string } };
  };
}

interface Vectors {
  readonly nodeKey: string;
  readonly valid: readonly ValidCase[];
  readonly invalid: readonly { readonly name: string; readonly packet: string }[];
}

const KEY = new Uint8Array(32).fill(7);
const NODE_ID = curve.publicKey(KEY);

describeWithVectors("discovery packets of other clients", () => {
  const { valid, invalid } = readVectorJson<Vectors>("devp2p/discv4-packets.json");

  it.each(valid.map((one) => [one.name, one] as const))("%s is read", (_, expected) => {
    const received = decodePacket(hexToBytes(expected.packet));
    if (!received.ok) throw new Error(received.error.message);
    const { packet, hash, nodeId } = received.value;
    expect([toHex(hash), toHex(nodeId)]).toEqual([expected.hash, expected.signer]);
    expect(plain(packet)).toEqual(withoutExtra(expected));
  });

  it.each(valid.filter(({ roundTrip }) => roundTrip).map((one) => [one.name, one] as const))(
    "%s is written with the same data",
    (_, { packet: text }) => {
      const bytes = hexToBytes(text);
      const received = decodePacket(bytes);
      if (!received.ok) throw new Error(received.error.message);
      const written = encodePacket(received.value.packet, KEY).bytes;
      expect(toHex(written.subarray(97))).toBe(toHex(bytes.subarray(97)));
    },
  );

  it.each(invalid.map((one) => [one.name, one] as const))("%s is refused", (_, { packet }) => {
    expect(decodePacket(hexToBytes(packet)).ok).toBe(false);
  });
});

describe("a discovery packet", () => {
  it("is read as it was written, with its hash and signer", () => {
    fc.assert(
      fc.property(packets(), (packet) => {
        const { bytes, hash } = encodePacket(packet, KEY);
        expect(bytes.length).toBeLessThanOrEqual(MAX_PACKET_BYTES);
        expect(decodePacket(bytes)).toEqual({ ok: true, value: { packet, hash, nodeId: NODE_ID } });
      }),
    );
  });

  it("is refused when a byte of it is changed", () => {
    const { bytes } = encodePacket({ kind: "findNode", target: NODE_ID, expiration: 1n }, KEY);
    for (let at = 0; at < bytes.length; at++) {
      const changed = Uint8Array.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(decodePacket(changed).ok).toBe(false);
    }
  });

  it("of any bytes is refused without an exception", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (data) => {
        expect(decodePacket(data).ok).toBe(false);
        for (let type = 0; type < 8; type++) expect(() => decodePacket(signed(type, data))).not.toThrow();
      }),
    );
  });

  it("leaves out neighbors that cannot be read, and keeps the others", () => {
    const { bytes } = encodePacket(
      {
        kind: "neighbors",
        nodes: [contact(1), { ...contact(2), nodeId: new Uint8Array(63) }, contact(3)],
        expiration: 9n,
      },
      KEY,
    );
    const received = decodePacket(bytes);
    expect(received.ok && received.value.packet).toEqual({
      kind: "neighbors",
      nodes: [contact(1), contact(3)],
      expiration: 9n,
    });
  });
});

/** A packet of any type and data with the right hash and signature. */
function signed(type: number, data: Uint8Array): Uint8Array {
  const typed = concatBytes(Uint8Array.of(type), data);
  const { rs, recovery } = curve.sign(keccak256(typed), KEY);
  const hashed = concatBytes(rs, Uint8Array.of(recovery), typed);
  return concatBytes(keccak256(hashed), hashed);
}

function contact(last: number): Endpoint & { readonly nodeId: Uint8Array } {
  return { ip: `10.0.0.${last}`, udpPort: 30303, tcpPort: 30304, nodeId: new Uint8Array(64).fill(last) };
}

function packets(): fc.Arbitrary<Packet> {
  const endpoint = fc.record({
    ip: fc.oneof(fc.ipV4(), fc.constantFrom("::1", "2001:db8:3c4d:15::abcd:ef12", "fe80::1")),
    udpPort: fc.integer({ min: 0, max: 65_535 }),
    tcpPort: fc.integer({ min: 0, max: 65_535 }),
  });
  const expiration = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  const recordSequence = fc.option(expiration, { nil: undefined });
  const nodeId = fc.uint8Array({ minLength: 64, maxLength: 64 });
  const node = fc.tuple(endpoint, nodeId).map(([at, id]) => ({ ...at, nodeId: id }));
  const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
  return fc.oneof(
    fc.record({
      kind: fc.constant("ping" as const),
      from: fc.option(endpoint, { nil: undefined }),
      to: endpoint,
      expiration,
      recordSequence,
    }),
    fc.record({
      kind: fc.constant("pong" as const),
      to: endpoint,
      pingHash: hash,
      expiration,
      recordSequence,
    }),
    fc.record({ kind: fc.constant("findNode" as const), target: nodeId, expiration }),
    fc.record({
      kind: fc.constant("neighbors" as const),
      nodes: fc.array(node, { maxLength: MAX_NEIGHBORS }),
      expiration,
    }),
    fc.record({ kind: fc.constant("recordRequest" as const), expiration }),
  );
}

/** A packet in the words of the vectors. */
function plain(packet: Packet): unknown {
  const at = ({ ip, udpPort, tcpPort }: Endpoint): PlainEndpoint => ({ ip, udp: udpPort, tcp: tcpPort });
  switch (packet.kind) {
    case "ping":
      return {
        packet: "ping",
        from: packet.from && at(packet.from),
        to: at(packet.to),
        expiration: Number(packet.expiration),
      };
    case "pong":
      return {
        packet: "pong",
        to: at(packet.to),
        pingHash: toHex(packet.pingHash),
        expiration: Number(packet.expiration),
      };
    case "findNode":
      return { packet: "findnode", target: toHex(packet.target), expiration: Number(packet.expiration) };
    case "neighbors":
      return {
        packet: "neighbours",
        nodes: packet.nodes.map((node) => ({ ...at(node), id: toHex(node.nodeId) })),
        expiration: Number(packet.expiration),
      };
    case "recordRequest":
      return { packet: "enrRequest", expiration: Number(packet.expiration) };
    case "recordResponse":
      return {
        packet: "enrResponse",
        requestHash: toHex(packet.requestHash),
        sequence: Number(packet.record.sequence),
      };
  }
}

function withoutExtra({ decoded }: ValidCase): unknown {
  const { extra: _extra, enr, ...rest } = decoded;
  const { version: _version, ...known } = rest as typeof rest & { readonly version?: number };
  return enr === undefined ? known : { ...known, sequence: enr.seq };
}
