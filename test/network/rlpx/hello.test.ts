import { describe, expect, it } from "vitest";
import { agreeCapabilities } from "../../../src/network/rlpx/capabilities.ts";
import { decodeDisconnect, encodeDisconnect } from "../../../src/network/rlpx/disconnectReason.ts";
import { decodeHello, encodeHello } from "../../../src/network/rlpx/hello.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { encodeRlpIndex, encodeRlpList, encodeRlpString } from "../../../src/primitives/rlp.ts";
import { describeWithVectors, readVectorJson } from "../../vectors.ts";
import { identity } from "../identities.ts";

const HELLO = {
  p2pVersion: 5,
  clientId: "ibex/v0.1.0",
  capabilities: [{ name: "eth", version: 68 }],
  listenPort: 30303,
  nodeId: identity(1).nodeId,
};

describe("Hello", () => {
  it.each([
    ["no list", "0x05"],
    ["nothing", "0x"],
    ["an empty list", "0xc0"],
    ["bytes after it", `${toHex(encodeHello(HELLO))}00`],
    ["a short node id", toHex(encodeHello({ ...HELLO, nodeId: new Uint8Array(63) }))],
    ["a version of two bytes", toHex(encodeHello({ ...HELLO, p2pVersion: 256 }))],
    [
      "a capability's version of two bytes",
      toHex(encodeHello({ ...HELLO, capabilities: [{ name: "eth", version: 256 }] })),
    ],
    ["a port of three bytes", toHex(encodeHello({ ...HELLO, listenPort: 65_536 }))],
    [
      "too many capabilities",
      toHex(
        encodeHello({
          ...HELLO,
          capabilities: Array.from({ length: 65 }, () => ({ name: "a", version: 1 })),
        }),
      ),
    ],
    [
      "a list for a name",
      toHex(
        encodeRlpList([
          encodeRlpIndex(5),
          Uint8Array.of(0xc0),
          Uint8Array.of(0xc0),
          encodeRlpIndex(1),
          encodeRlpString(HELLO.nodeId),
        ]),
      ),
    ],
  ])("is refused: %s", (_, hex) => {
    expect(decodeHello(hexToBytes(hex))).toMatchObject({ ok: false, error: { fault: "peer" } });
  });

  it("sanitizes and truncates a client name", () => {
    const decoded = decodeHello(encodeHello({ ...HELLO, clientId: `\u001b[2J\n${"x".repeat(1000)}` }));
    expect(decoded.ok && decoded.value.clientId.startsWith("?[2J?xxx")).toBe(true);
    expect(decoded.ok && decoded.value.clientId.length).toBe(256);
  });
});

describe("capabilities", () => {
  const ours = [
    { name: "eth", version: 67, messageCodes: 17 },
    { name: "eth", version: 68, messageCodes: 17 },
    { name: "IBF", version: 1, messageCodes: 4 },
  ];
  const agreed = (...theirs: readonly [string, number][]) =>
    agreeCapabilities(
      ours,
      theirs.map(([name, version]) => ({ name, version })),
    ).map(({ protocol, offset }) => [protocol.name, protocol.version, offset]);

  it("are those of both, each in the highest version, IBF before eth", () => {
    expect(agreed(["eth", 66], ["eth", 67], ["eth", 68], ["IBF", 1], ["snap", 1])).toEqual([
      ["IBF", 1, 0x10],
      ["eth", 68, 0x14],
    ]);
    expect(agreed(["eth", 67], ["snap", 1])).toEqual([["eth", 67, 0x10]]);
    expect(agreed(["ibf", 1], ["IBF", 2], ["ETH", 68])).toEqual([]);
  });
});

describe("Disconnect", () => {
  it.each([
    ["requested", "0xc100"],
    ["uselessPeer", "0xc103"],
    ["clientQuitting", "0xc108"],
    ["subprotocolTriggered", "0xc110"],
    ["unknown", "0xc180"],
  ] as const)("%s is %s", (reason, hex) => {
    expect(toHex(encodeDisconnect(reason))).toBe(hex);
    expect(decodeDisconnect(hexToBytes(hex))).toBe(reason);
  });

  it.each([
    ["0x04", "tooManyPeers"],
    ["0x00", "requested"],
    ["0x", "unknown"],
    ["0xc0", "unknown"],
    ["0xc17f", "unknown"],
    ["0xff", "unknown"],
  ] as const)("%s means %s", (hex, reason) => {
    expect(decodeDisconnect(hexToBytes(hex))).toBe(reason);
  });
});

interface HelloCase {
  readonly name: string;
  readonly rlp: string;
  readonly roundTrip: boolean;
  readonly decoded: {
    readonly p2pVersion: number;
    readonly clientId: string;
    readonly capabilities: readonly (readonly [string, number])[];
    readonly listenPort: number;
    readonly nodeId: string;
  };
}

describeWithVectors("recorded Hello and Disconnect messages", () => {
  const { cases } = readVectorJson<{ cases: readonly HelloCase[] }>("devp2p", "hello.json");

  it.each(cases)("$name", ({ rlp, roundTrip, decoded }) => {
    const hello = decodeHello(hexToBytes(rlp));
    if (!hello.ok) throw new Error(hello.error.message);
    expect(hello.value).toEqual({
      p2pVersion: decoded.p2pVersion,
      clientId: decoded.clientId,
      capabilities: decoded.capabilities.map(([name, version]) => ({ name, version })),
      listenPort: decoded.listenPort,
      nodeId: hexToBytes(decoded.nodeId),
    });
    if (roundTrip) expect(toHex(encodeHello(hello.value))).toBe(rlp);
  });

  it.each(["net1", "net2"])(
    "messages of the validators of %s decode, and encode to the same bytes",
    (net) => {
      const recorded = readVectorJson<{
        hello: readonly { data: string; listenPort: number }[];
        disconnect: readonly { data: string; reason: string }[];
      }>("besu-ibft", net, "wire", "hello-disconnect.json");
      for (const { data, listenPort } of recorded.hello) {
        const hello = decodeHello(hexToBytes(data));
        expect(hello.ok && hello.value.listenPort).toBe(listenPort);
        expect(hello.ok && toHex(encodeHello(hello.value))).toBe(data);
      }
      for (const { data } of recorded.disconnect)
        expect(toHex(encodeDisconnect(decodeDisconnect(hexToBytes(data))))).toBe(data);
    },
  );
});
