import { ECIES } from "@ethereumjs/devp2p";
import { describe, expect, it } from "vitest";
import { ByteQueue } from "../../../src/network/rlpx/byteQueue.ts";
import { FrameReader, FrameWriter } from "../../../src/network/rlpx/frames.ts";
import {
  answerAuth,
  createInitiator,
  type OwnIdentity,
  seedMac,
} from "../../../src/network/rlpx/handshake.ts";
import { decodeHello } from "../../../src/network/rlpx/hello.ts";
import { compressSnappy, uncompressSnappy } from "../../../src/network/rlpx/snappy.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { describeWithVectors, readVectorJson } from "../../vectors.ts";

interface RecordedEnd {
  readonly nodeId: string;
  readonly staticPrivateKey: string;
  readonly ephemeralPrivateKey: string;
  readonly nonce: string;
}

interface RecordedFrame {
  readonly dir: "initiator" | "responder";
  readonly header: string;
  readonly body: string;
  readonly frameSize: number;
  readonly id: number;
  readonly name: string;
  readonly payload: string;
}

interface RecordedSession {
  readonly initiator: RecordedEnd;
  readonly responder: RecordedEnd;
  readonly auth: string;
  readonly authPlaintext: string;
  readonly ack: string;
  readonly ackPlaintext: string;
  readonly aesSecret: string;
  readonly macSecret: string;
  readonly frames: readonly RecordedFrame[];
}

/** Connections of real validators, with their keys: what this node would have read and written in their place. */
describeWithVectors("sessions between Besu validators", () => {
  const sessions = ["net1", "net2"].flatMap((net) =>
    readVectorJson<readonly RecordedSession[]>("besu-ibft", net, "wire", "rlpx-sessions.json").map(
      (session, index) => ({ name: `${net}, session ${index + 1}`, session }),
    ),
  );

  describe.each(sessions)("$name", ({ session }) => {
    const auth = hexToBytes(session.auth);
    const ack = hexToBytes(session.ack);
    const initiator = ownIdentity(session.initiator);
    const responder = ownIdentity(session.responder);

    it("starts with packets that give either end the recorded secrets", () => {
      const answer = answerAuth(responder, { bytes: auth, isOld: false });
      expect(answer.ok && toHex(answer.value.remoteId)).toBe(session.initiator.nodeId);
      expect(answer.ok && toHex(answer.value.secrets.aesSecret)).toBe(session.aesSecret);
      expect(answer.ok && toHex(answer.value.secrets.macSecret)).toBe(session.macSecret);
      const started = createInitiator(initiator, responder.nodeId);
      const secrets = started.ok ? started.value.readAck({ bytes: ack, isOld: false }) : started;
      expect(secrets.ok && toHex(secrets.value.aesSecret)).toBe(session.aesSecret);
      expect(secrets.ok && toHex(secrets.value.macSecret)).toBe(session.macSecret);
    });

    it("would have started with the same plaintext from us; padding and the outer key are random", () => {
      const ours = createInitiator(initiator, responder.nodeId);
      const answered = answerAuth(responder, { bytes: auth, isOld: false });
      if (!ours.ok || !answered.ok) throw new Error("the handshake failed");
      expect(leadingList(decrypt(responder, ours.value.auth))).toBe(
        leadingList(hexToBytes(session.authPlaintext)),
      );
      expect(leadingList(decrypt(initiator, answered.value.ack))).toBe(
        leadingList(hexToBytes(session.ackPlaintext)),
      );
    });

    it.each(["initiator", "responder"] as const)(
      "decodes, and encodes to the same bytes, for the %s's frames",
      (sender) => {
        const isInitiator = sender === "initiator";
        const readersNonce = expectDefined((isInitiator ? responder : initiator).drawn, "nonce").nonce;
        const secrets = () => ({
          aesSecret: hexToBytes(session.aesSecret),
          macSecret: hexToBytes(session.macSecret),
          egressMac: seedMac(hexToBytes(session.macSecret), readersNonce, isInitiator ? auth : ack),
          ingressMac: seedMac(hexToBytes(session.macSecret), readersNonce, isInitiator ? auth : ack),
        });
        const reader = new FrameReader(secrets());
        const writer = new FrameWriter(secrets());
        const sentFrames = session.frames.filter(({ dir }) => dir === sender);
        expect(sentFrames.length).toBeGreaterThan(0);
        for (const frame of sentFrames) {
          const queue = new ByteQueue();
          queue.append(hexToBytes(frame.header));
          queue.append(hexToBytes(frame.body));
          const read = reader.read(queue, 0xff_ff_ff);
          if (!read.ok || read.value === undefined) throw new Error(`${frame.name} is not readable`);
          const body = Buffer.from(read.value);
          expect(body.length).toBe(frame.frameSize);
          expect(body[0]).toBe(frame.id === 0 ? 0x80 : frame.id);
          expect(toHex(payloadOf(frame, body))).toBe(frame.payload);
          expect(toHex(writer.write(body))).toBe(frame.header + frame.body.slice(2));
        }
      },
    );
  });
});

function payloadOf({ name }: RecordedFrame, body: Uint8Array): Uint8Array {
  const sent = body.subarray(1);
  if (name === "Hello") {
    expect(decodeHello(sent).ok).toBe(true);
    return sent;
  }
  const payload = uncompressSnappy(sent, 0xff_ff_fe);
  if (!payload.ok) throw new Error(payload.error.message);
  const again = uncompressSnappy(compressSnappy(payload.value), 0xff_ff_fe);
  expect(again.ok && Buffer.compare(again.value, payload.value)).toBe(0);
  return payload.value;
}

function ownIdentity(end: RecordedEnd): OwnIdentity {
  return {
    privateKey: hexToBytes(end.staticPrivateKey),
    nodeId: hexToBytes(end.nodeId),
    drawn: { ephemeralKey: hexToBytes(end.ephemeralPrivateKey), nonce: hexToBytes(end.nonce) },
  };
}

function decrypt({ privateKey, nodeId }: OwnIdentity, packet: Uint8Array): Uint8Array {
  return new ECIES(privateKey, nodeId, nodeId)._decryptMessage(packet.subarray(2), packet.subarray(0, 2));
}

/** The leading list, without the padding. */
function leadingList(plaintext: Uint8Array): string {
  return toHex(plaintext.subarray(0, 2 + (plaintext[1] ?? 0)));
}
