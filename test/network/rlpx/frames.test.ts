import { describe, expect, it } from "vitest";
import { ByteQueue } from "../../../src/network/rlpx/byteQueue.ts";
import { FrameReader, type FrameSecrets, FrameWriter } from "../../../src/network/rlpx/frames.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { createRunningKeccak, keccak256, type RunningKeccak } from "../../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { describeWithVectors, readVectorJson } from "../../vectors.ts";

const LARGEST = 0xff_ff_ff;

describe("frames", () => {
  it.each([0, 1, 15, 16, 17, 1000, 70_000, LARGEST])("carry %i bytes", (length) => {
    const body = new Uint8Array(length).fill(7);
    const queue = new ByteQueue();
    queue.append(new FrameWriter(secrets()).write(body));
    const read = new FrameReader(secrets()).read(queue, LARGEST);
    expect(read.ok && read.value !== undefined && Buffer.compare(read.value, body)).toBe(0);
    expect(queue.length).toBe(0);
  });

  it("are refused for their length before their body is there", () => {
    const queue = new ByteQueue();
    queue.append(new FrameWriter(secrets()).write(new Uint8Array(101)).subarray(0, 32));
    expect(new FrameReader(secrets()).read(queue, 100)).toMatchObject({
      ok: false,
      error: { message: "a frame of 101 bytes is longer than 100" },
    });
  });

  it.each([0, 3, 16, 31, 32, 50, 64, 79])("are refused when byte %i was changed", (at) => {
    const frame = new FrameWriter(secrets()).write(new Uint8Array(30));
    const queue = new ByteQueue();
    queue.append(frame.map((byte, index) => (index === at ? byte ^ 0x80 : byte)));
    expect(new FrameReader(secrets()).read(queue, LARGEST)).toMatchObject({ ok: false });
  });

  it("are hashed while they arrive, so that the end of a long one takes no longer than the rest", () => {
    const frame = new FrameWriter(secrets()).write(new Uint8Array(LARGEST).fill(9));
    const queue = new ByteQueue();
    const ingressMac = createRunningKeccak();
    let hashed = 0;
    const counting: RunningKeccak = {
      ...ingressMac,
      update(bytes) {
        hashed += bytes.length;
        ingressMac.update(bytes);
      },
    };
    const reader = new FrameReader({ ...secrets(), ingressMac: counting });
    for (let at = 0; at < frame.length; at += 65_536) {
      queue.append(frame.subarray(at, at + 65_536));
      const before = hashed;
      expect(reader.read(queue, LARGEST).ok).toBe(true);
      // What arrived, and the seed of the header's or the body's MAC.
      expect(hashed - before).toBeLessThanOrEqual(65_536 + 16);
    }
    expect(hashed).toBeGreaterThan(LARGEST);
  });

  it("are read in linear time and memory when bytes come one at a time", () => {
    const body = new Uint8Array(200_000).fill(9);
    const queue = new ByteQueue();
    const reader = new FrameReader(secrets());
    let read: Uint8Array | undefined;
    for (const byte of new FrameWriter(secrets()).write(body)) {
      queue.append(Uint8Array.of(byte));
      const step = reader.read(queue, LARGEST);
      if (step.ok && step.value !== undefined) read = step.value;
    }
    expect(read?.length).toBe(body.length);
  });
});

interface PeerFrames {
  readonly aes_secret: string;
  readonly mac_secret: string;
  readonly egress_gen: readonly string[];
  readonly ingress_gen: readonly string[];
  readonly messages: readonly { readonly data: string; readonly frame_size: number }[];
}

describeWithVectors("frames recorded from Besu", () => {
  describe.each(["rlpx-frames-peer1.json", "rlpx-frames-peer2.json"])("%s", (file) => {
    const vector = readVectorJson<PeerFrames>("devp2p", file);
    const macOf = (seeds: readonly string[]): RunningKeccak => {
      const mac = createRunningKeccak();
      for (const seed of seeds) mac.update(hexToBytes(seed));
      return mac;
    };
    const asReader = (): FrameSecrets => ({
      aesSecret: hexToBytes(vector.aes_secret),
      macSecret: hexToBytes(vector.mac_secret),
      egressMac: macOf(vector.egress_gen),
      ingressMac: macOf(vector.ingress_gen),
    });
    const asWriter = (): FrameSecrets => {
      const { egressMac, ingressMac, ...keys } = asReader();
      return { ...keys, egressMac: ingressMac, ingressMac: egressMac };
    };

    it("decode, and encode to the same bytes", () => {
      const reader = new FrameReader(asReader());
      const writer = new FrameWriter(asWriter());
      for (const { data, frame_size } of vector.messages) {
        const queue = new ByteQueue();
        queue.append(hexToBytes(data));
        const read = reader.read(queue, LARGEST);
        const body = expectDefined(read.ok ? read.value : undefined, "body");
        expect(body.length).toBe(frame_size);
        expect(toHex(writer.write(body)).slice(2)).toBe(data);
      }
    });

    it("are read when the bytes come one at a time", () => {
      const reader = new FrameReader(asReader());
      const queue = new ByteQueue();
      const sizes: number[] = [];
      for (const { data } of vector.messages) {
        for (const byte of hexToBytes(data)) {
          queue.append(Uint8Array.of(byte));
          const read = reader.read(queue, LARGEST);
          if (read.ok && read.value !== undefined) sizes.push(read.value.length);
        }
      }
      expect(sizes).toEqual(vector.messages.map(({ frame_size }) => frame_size));
    });
  });

  it("have the layout of the vector with a constant MAC", () => {
    const vector = readVectorJson<Record<string, string>>("devp2p", "rlpx-frame-fakehash.json");
    const mac: RunningKeccak = { update: () => undefined, digest: () => new Uint8Array(32).fill(1) };
    const writer = new FrameWriter({
      aesSecret: hexToBytes(vector["aesSecret"] ?? ""),
      macSecret: hexToBytes(vector["macSecret"] ?? ""),
      egressMac: mac,
      ingressMac: mac,
    });
    expect(toHex(writer.write(hexToBytes(vector["frameContent"] ?? "")))).toBe(vector["frame"]);
  });
});

/** Equal secrets for both ends of a direction. */
function secrets(): FrameSecrets {
  const [aesSecret, macSecret] = [keccak256(Uint8Array.of(1)), keccak256(Uint8Array.of(2))];
  return { aesSecret, macSecret, egressMac: createRunningKeccak(), ingressMac: createRunningKeccak() };
}
