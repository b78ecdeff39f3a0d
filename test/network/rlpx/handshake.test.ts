import { describe, expect, it } from "vitest";
import { ByteQueue } from "../../../src/network/rlpx/byteQueue.ts";
import { SEAL_BYTES, seal } from "../../../src/network/rlpx/ecies.ts";
import {
  answerAuth,
  createInitiator,
  type HandshakePacket,
  type OwnIdentity,
  seedMac,
  takeHandshakePacket,
} from "../../../src/network/rlpx/handshake.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { concatBytes, hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { encodeRlpList, encodeRlpString } from "../../../src/primitives/rlp.ts";
import { curve } from "../../../src/primitives/secp256k1.ts";
import { describeWithVectors, readVectorJson } from "../../vectors.ts";
import { identity } from "../identities.ts";

interface HandshakeVectors {
  readonly keys: Readonly<Record<string, string>>;
  readonly packets: readonly { readonly name: string; readonly packet: string }[];
  readonly derivedSecrets: Readonly<Record<string, string>>;
}

describe("a handshake between two of our own ends", () => {
  it("gives both the same secrets, and the responder the initiator's node id", () => {
    const [alice, bob] = [identity(1), identity(2)];
    const initiator = valueOrThrow(createInitiator(alice, bob.nodeId));
    const answer = valueOrThrow(answerAuth(bob, packetOf(initiator.auth, "auth")));
    const secrets = valueOrThrow(initiator.readAck(packetOf(answer.ack, "ack")));
    expect(toHex(answer.remoteId)).toBe(toHex(alice.nodeId));
    expect(secrets.aesSecret).toEqual(answer.secrets.aesSecret);
    expect(secrets.macSecret).toEqual(answer.secrets.macSecret);
    expect(secrets.egressMac.digest()).toEqual(answer.secrets.ingressMac.digest());
    expect(secrets.ingressMac.digest()).toEqual(answer.secrets.egressMac.digest());
  });

  it("makes packets of the sizes that EIP-8 requires", () => {
    const { auth } = valueOrThrow(createInitiator(identity(1), identity(2).nodeId));
    expect(auth.length).toBe((auth[0] ?? 0) * 256 + (auth[1] ?? 0) + 2);
    expect(auth.length).toBeGreaterThan(307);
    expect(auth.length).toBeLessThan(600);
  });

  it.each([0, 1, 2, 70, 150, 300])("is refused when byte %i of the auth packet was changed", (at) => {
    const { auth } = valueOrThrow(createInitiator(identity(1), identity(2).nodeId));
    const changed = auth.map((byte, index) => (index === at ? byte ^ 1 : byte));
    expect(answerAuth(identity(2), { bytes: changed, isOld: false })).toMatchObject({
      ok: false,
      error: { code: "badHandshake", fault: "peer" },
    });
  });

  it("reads the known members, and ignores further ones and padding", () => {
    const known = [new Uint8Array(65).fill(1), curve.publicKey(identity(1).privateKey), new Uint8Array(32)];
    const later = [Uint8Array.of(57), Uint8Array.of(0xc0), new Uint8Array(40)];
    expect(reasonOf([...known, ...later])).toBe("read");
    expect(reasonOf(known)).toBe("read");
  });

  it.each([
    ["signature", 0, 64],
    ["node id", 1, 65],
    ["nonce", 2, 31],
  ])("is refused when its %s has a wrong length", (_, index, length) => {
    const members = [new Uint8Array(65).fill(1), identity(1).nodeId, new Uint8Array(32)];
    members[index] = new Uint8Array(length).fill(1);
    expect(reasonOf(members)).toMatch(/member \d of the packet does not have \d+ bytes/);
  });

  it("is refused when it was meant for another node", () => {
    const { auth } = valueOrThrow(createInitiator(identity(1), identity(2).nodeId));
    expect(answerAuth(identity(3), packetOf(auth, "auth"))).toMatchObject({ ok: false });
  });
});

describe("the first bytes of a connection", () => {
  it.each([
    ["GET / HTTP/1.1", "0x474554202f20"],
    ["a size of nothing", "0x0000"],
    ["a size smaller than the keys", "0x0070"],
    ["TLS", "0x1603010200"],
  ])("are refused at once: %s", (_, hex) => {
    expect(takeHandshakePacket(queueOf(hexToBytes(hex)), "auth")).toMatchObject({ ok: false });
  });

  it("are kept until the packet is complete", () => {
    const { auth } = valueOrThrow(createInitiator(identity(1), identity(2).nodeId));
    const queue = new ByteQueue();
    for (const byte of auth.subarray(0, -1)) {
      queue.append(Uint8Array.of(byte));
      expect(takeHandshakePacket(queue, "auth")).toEqual({ ok: true, value: undefined });
    }
    queue.append(auth.subarray(-1));
    expect(takeHandshakePacket(queue, "auth")).toEqual({ ok: true, value: { bytes: auth, isOld: false } });
  });
});

describeWithVectors("the handshakes of EIP-8", () => {
  const { keys, packets, derivedSecrets } = readVectorJson<HandshakeVectors>(
    "devp2p",
    "rlpx-handshake-eip8.json",
  );
  const key = (name: string): Uint8Array => hexToBytes(expectDefined(keys[name], name));
  const packet = (name: string): Uint8Array =>
    hexToBytes(expectDefined(packets.find((one) => one.name === name)?.packet, name));
  const a = known(key("staticA"), key("ephemeralA"), key("nonceA"));
  const b = known(key("staticB"), key("ephemeralB"), key("nonceB"));

  it.each(["auth1", "auth2", "auth3"])("%s is read, and answered in the same format", (name) => {
    const auth = packetOf(packet(name), "auth");
    const answer = valueOrThrow(answerAuth(b, auth));
    expect(toHex(answer.remoteId)).toBe(toHex(a.nodeId));
    expect(packetOf(answer.ack, "ack").isOld).toBe(auth.isOld);
    expect(answer.secrets.aesSecret).toEqual(hexToBytes(derivedSecrets["aesSecret"] ?? ""));
    expect(answer.secrets.macSecret).toEqual(hexToBytes(derivedSecrets["macSecret"] ?? ""));
  });

  it.each(["ack1", "ack2", "ack3"])("%s is read", (name) => {
    const initiator = valueOrThrow(createInitiator(a, b.nodeId));
    const secrets = valueOrThrow(initiator.readAck(packetOf(packet(name), "ack")));
    expect(toHex(secrets.macSecret)).toBe(derivedSecrets["macSecret"]);
  });

  it("seeds the MAC as published", () => {
    const { secrets } = valueOrThrow(answerAuth(b, packetOf(packet("auth2"), "auth")));
    secrets.ingressMac.update(Buffer.from("foo"));
    expect(toHex(secrets.ingressMac.digest())).toBe(derivedSecrets["ingressMacAfterFoo"]);
  });
});

describeWithVectors("Besu's handshake in the old format", () => {
  const vector = readVectorJson<
    Record<"authPacket" | "ackPacket", string> & Record<"keys" | "expected", Record<string, string>>
  >("devp2p", "rlpx-handshake-v4.json");
  const key = (name: string): Uint8Array => hexToBytes(expectDefined(vector.keys[name], name));
  const auth = hexToBytes(vector.authPacket);
  const ack = hexToBytes(vector.ackPacket);

  it("gives the published secrets and MACs", () => {
    const own = known(key("responderStatic"), key("responderEphemeral"), key("responderNonce"));
    const { secrets, remoteId } = valueOrThrow(answerAuth(own, packetOf(auth, "auth")));
    expect(remoteId).toEqual(curve.publicKey(key("initiatorStatic")));
    expect(toHex(secrets.aesSecret)).toBe(vector.expected["aesSecret"]);
    expect(toHex(secrets.macSecret)).toBe(vector.expected["macSecret"]);
    const egress = seedMac(secrets.macSecret, key("responderNonce"), auth);
    const ingress = seedMac(secrets.macSecret, key("initiatorNonce"), ack);
    expect(toHex(egress.digest())).toBe(vector.expected["initiatorEgressMac"]);
    expect(toHex(ingress.digest())).toBe(vector.expected["initiatorIngressMac"]);
  });
});

/** Why an auth packet of these members, signed by an arbitrary key, is refused; "read" if it is not. */
function reasonOf(members: readonly Uint8Array[]): string {
  const plain = concatBytes(encodeRlpList(members.map(encodeRlpString)), new Uint8Array(120).fill(0xff));
  const size = Uint8Array.of((plain.length + SEAL_BYTES) >> 8, (plain.length + SEAL_BYTES) & 0xff);
  const bytes = concatBytes(size, seal(plain, identity(2).nodeId, size));
  const answer = answerAuth(identity(2), { bytes, isOld: false });
  return answer.ok ? "read" : answer.error.message;
}

function known(privateKey: Uint8Array, ephemeralKey: Uint8Array, nonce: Uint8Array): OwnIdentity {
  return { privateKey, nodeId: curve.publicKey(privateKey), drawn: { ephemeralKey, nonce } };
}

function packetOf(bytes: Uint8Array, kind: "auth" | "ack"): HandshakePacket {
  return expectDefined(valueOrThrow(takeHandshakePacket(queueOf(bytes), kind)), "packet");
}

function queueOf(bytes: Uint8Array) {
  const queue = new ByteQueue();
  queue.append(bytes);
  return queue;
}

function valueOrThrow<T>(outcome: { ok: true; value: T } | { ok: false; error: { message: string } }): T {
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.value;
}
