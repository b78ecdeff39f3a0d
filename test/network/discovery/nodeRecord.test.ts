import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ipBytes, ipText, isRelayable, plainIp, subnetOf } from "../../../src/network/discovery/endpoint.ts";
import {
  decodeNodeRecord,
  MAX_RECORD_BYTES,
  parseNodeRecord,
  signNodeRecord,
} from "../../../src/network/discovery/nodeRecord.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { curve } from "../../../src/primitives/secp256k1.ts";
import { describeWithVectors, readVectorJson } from "../../vectors.ts";

const KEY = new Uint8Array(32).fill(7);
const OWN = {
  sequence: 5n,
  endpoint: { ip: "10.1.2.3", udpPort: 30303, tcpPort: 30304 },
  forkId: { checksum: 0xa82cce69, next: 0n },
};

interface RecordCase {
  readonly name: string;
  readonly text: string;
  readonly rlp: string;
  readonly decoded: {
    readonly seq: number;
    readonly nodeId: string;
    readonly pairs: Record<string, unknown>;
  };
}

describeWithVectors("node records of other clients", () => {
  const { cases } = readVectorJson<{ readonly cases: readonly RecordCase[] }>("devp2p/enr.json");

  it.each(cases.map((one) => [one.name, one] as const))("%s is read", (_, { text, rlp, decoded }) => {
    const record = parseNodeRecord(text);
    if (!record.ok) throw new Error(record.error.message);
    const { nodeId, sequence, endpoint, forkId, encoded } = record.value;
    expect(toHex(encoded)).toBe(rlp);
    expect(toHex(keccak256(nodeId))).toBe(decoded.nodeId);
    expect(Number(sequence)).toBe(decoded.seq);
    const { ip, udp, tcp, eth } = decoded.pairs;
    expect(endpoint).toEqual({
      ip: ipText(hexToBytes(String(ip))),
      udpPort: Number(udp),
      tcpPort: tcp === undefined ? 0 : Number(tcp),
    });
    expect(forkId).toEqual(eth === undefined ? undefined : { checksum: 0x9b192ad0, next: 0n });
  });
});

describe("this node's record", () => {
  it("is read as it was signed", () => {
    const record = signNodeRecord(OWN, KEY);
    expect(record.nodeId).toEqual(curve.publicKey(KEY));
    expect(decodeNodeRecord(record.encoded)).toEqual({ ok: true, value: record });
  });

  it("names an IPv6 address under the keys of IPv6, and no TCP port when there is none", () => {
    const endpoint = { ip: "2001:db9::1", udpPort: 1, tcpPort: 0 };
    const decoded = decodeNodeRecord(signNodeRecord({ ...OWN, endpoint }, KEY).encoded);
    expect(decoded.ok && decoded.value.endpoint).toEqual(endpoint);
  });

  it("with any byte changed is refused", () => {
    const { encoded } = signNodeRecord(OWN, KEY);
    for (let at = 0; at < encoded.length; at++) {
      const changed = Uint8Array.from(encoded);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(decodeNodeRecord(changed).ok).toBe(false);
    }
  });

  it("of any bytes is refused without an exception", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: MAX_RECORD_BYTES + 1 }), (bytes) => {
        expect(decodeNodeRecord(bytes).ok).toBe(false);
      }),
    );
  });
});

describe("IP addresses", () => {
  it.each([
    ["10.0.0.1", "0x0a000001"],
    ["::", `0x${"00".repeat(16)}`],
    ["::1", `0x${"00".repeat(15)}01`],
    ["1::", `0x0001${"00".repeat(14)}`],
    ["2001:db8:0:1:1:1:1:1", "0x20010db8000000010001000100010001"],
    ["2001:db8::1:0:0:1", "0x20010db8000000000001000000000001"],
  ])("%s has its shortest text", (text, bytes) => {
    expect(toHex(ipBytes(text))).toBe(bytes);
    expect(ipText(hexToBytes(bytes))).toBe(text);
  });

  it("of IPv4 that are mapped to IPv6 are those of IPv4", () => {
    expect([plainIp("::ffff:10.0.0.1"), plainIp("10.0.0.1"), plainIp("fe80::1%eth0")]).toEqual([
      "10.0.0.1",
      "10.0.0.1",
      "fe80::1",
    ]);
  });

  it("survive text and back", () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        expect(ipBytes(ipText(ipBytes(text)))).toEqual(ipBytes(plainIp(text)));
      }),
    );
  });

  it.each([
    ["8.8.8.8", "9.9.9.9", true],
    ["10.0.0.1", "9.9.9.9", false],
    ["10.0.0.1", "192.168.0.1", true],
    ["127.0.0.1", "10.0.0.1", false],
    ["127.0.0.1", "127.0.0.2", true],
    ["0.0.0.0", "127.0.0.1", false],
    ["224.0.0.1", "9.9.9.9", false],
    ["::1", "9.9.9.9", false],
    ["fd00::1", "fd00::2", true],
  ])("%s named by %s is reachable: %s", (ip, by, expected) => {
    expect(isRelayable(ip, by)).toBe(expected);
  });

  it("share a subnet by /24, or /64", () => {
    expect(subnetOf("10.1.2.3")).toBe(subnetOf("10.1.2.200"));
    expect(subnetOf("10.1.2.3")).not.toBe(subnetOf("10.1.3.3"));
    expect(subnetOf("2001:db9::1")).toBe(subnetOf("2001:db9::ffff:1"));
  });
});
