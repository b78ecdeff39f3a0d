import { RLP } from "@ethereumjs/rlp";
import { expect, it } from "vitest";
import { encodePayload, messageHash, signPayload } from "../../../src/ibft/codec/encoding.ts";
import type { Payload, PreparedCertificate, Signed } from "../../../src/ibft/message.ts";
import { asHash } from "../../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes, bytesToBigint } from "../../../src/primitives/quantity.ts";
import {
  addressOfPrivateKey,
  decodeSignature,
  encodeSignature,
  recoverAddress,
  type Signature,
  sign,
} from "../../../src/primitives/secp256k1.ts";
import type { Digest } from "../../../src/types/blockHash.ts";
import { describeWithVectors, readVectorJson } from "../../vectors.ts";

interface DerivedMessage {
  readonly name: string;
  readonly code: number;
  readonly author: string;
  readonly privateKey: string;
  readonly payloadRlp: string;
  readonly signHash: string;
  readonly message: string;
}

interface CapturedMessage {
  readonly id: string;
  readonly kind: string;
  readonly code: number;
  readonly data: string;
  readonly author: string;
  readonly signHash: string;
}

describeWithVectors("payloads of consensus messages", () => {
  const derived = readVectorJson<{ messages: DerivedMessage[] }>("ibft2", "messages-derived.json").messages;

  it.each(derived)("are encoded, hashed and signed as expected: $name", (expected) => {
    const { payload, signature } = readSigned(expected.code, expected.message);
    expect(toHex(encodePayload(payload))).toBe(expected.payloadRlp);
    expect(toHex(messageHash(payload))).toBe(expected.signHash);
    const key = bigintToFixedBytes(BigInt(expected.privateKey), 32);
    const signer = { self: addressOfPrivateKey(key), sign: (digest: Uint8Array) => sign(digest, key) };
    expect(toHex(encodeSignature(signPayload(signer, payload).signature))).toBe(
      toHex(encodeSignature(signature)),
    );
    expect(toHex(signer.self)).toBe(expected.author);
  });

  it.each(["net1", "net2"])("have the hashes and authors that Besu's have on the wire: %s", (network) => {
    const captured = readVectorJson<CapturedMessage[]>("besu-ibft", network, "wire", "ibft-messages.json");
    expect(captured.length).toBeGreaterThan(50);
    for (const { code, data, signHash, author, id } of captured) {
      const { payload, signature } = readSigned(code, data);
      expect(toHex(messageHash(payload)), id).toBe(signHash);
      expect(toHex(recoverAddress(messageHash(payload), signature) ?? new Uint8Array()), id).toBe(author);
    }
  });
});

/** The signed payload of a message, decoded independently of the code under test; authors are not recovered. */
function readSigned(code: number, message: string): Signed<Payload> {
  const items = RLP.decode(hexToBytes(message)) as unknown[];
  return code === 1 || code === 2 ? signedFrom(code, items) : signedFrom(code, items[0] as unknown[]);
}

function signedFrom(code: number, [fields, signature]: unknown[]): Signed<Payload> {
  const [height, round, third, fourth] = fields as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  const place = { height: bytesToBigint(height), round: Number(bytesToBigint(round)) };
  const about = { ...place, digest: third as unknown as Digest };
  const payloads: (() => Payload)[] = [
    () => ({ kind: "proposal", ...about, digest: asHash(third) as Digest }),
    () => ({ kind: "prepare", ...about }),
    () => ({ kind: "commit", ...about, seal: signatureFrom(fourth) }),
    () => ({
      kind: "roundChange",
      ...place,
      ...(Array.isArray(third) && { prepared: certificateFrom(third) }),
    }),
  ];
  const payload = payloads[code]?.();
  if (payload === undefined) throw new Error(`no message has code ${code}`);
  return {
    payload,
    signature: signatureFrom(signature),
    author: addressOfPrivateKey(hexToBytes("01".repeat(32))),
  };
}

function certificateFrom([proposal, prepares]: unknown[]): PreparedCertificate {
  return {
    proposal: signedFrom(0, proposal as unknown[]) as PreparedCertificate["proposal"],
    prepares: (prepares as unknown[][]).map((item) =>
      signedFrom(1, item),
    ) as PreparedCertificate["prepares"][number][],
  };
}

function signatureFrom(bytes: unknown): Signature {
  const signature = decodeSignature(bytes as Uint8Array);
  if (signature === undefined) throw new Error("not a signature");
  return signature;
}
