import { describe, expect, it } from "vitest";
import { createCandidate } from "../../src/ibft/candidate.ts";
import { signPayload } from "../../src/ibft/codec/encoding.ts";
import { decodeLastSigned, encodeLastSigned, type LastSignedState } from "../../src/ibft/lastSigned.ts";
import { forgottenAt, nothingAbove } from "../../src/ibft/lostVotes.ts";
import type { PreparedBlock } from "../../src/ibft/message.ts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { toHex } from "../../src/primitives/hex.ts";
import type { Digest } from "../../src/types/blockHash.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { aCandidate, aGenesisHead, tokenSignature, toyAddress, toyAddresses } from "../builders/toyChain.ts";

const digest = keccak256(Uint8Array.of(1)) as Uint8Array as Digest;

describe("a record of the vote log", () => {
  it.each<{ title: string; record: LastSignedState }>([
    {
      title: "a round that was only asked for",
      record: { height: 1n, round: 1, digest: undefined, prepared: undefined },
    },
    { title: "a vote in round 0", record: { height: 2n ** 60n, round: 0, digest, prepared: undefined } },
    {
      title: "a prepared block with transactions",
      record: { height: 1n, round: 70_000, digest, prepared: aPreparedBlock(3) },
    },
    { title: "a lone validator's", record: { height: 1n, round: 3, digest, prepared: aPreparedBlock(0) } },
    {
      title: "a doubt",
      record: {
        ...nothingAbove(7n),
        doubt: { reason: "ownKey", upTo: 2n ** 60n, untilTimestamp: 1_700_000_000n },
      },
    },
    {
      title: "a doubt about a later height than that of a prepared block",
      record: {
        ...{ height: 1n, round: 3, digest, prepared: aPreparedBlock(1) },
        doubt: { reason: "missing", upTo: 9n, untilTimestamp: 5n },
      },
    },
    { title: "a forgotten height", record: forgottenAt(1n) },
  ])("is read back as it was written: $title", ({ record }) => {
    expect(decodeLastSigned(encodeLastSigned(record))).toEqual({ ok: true, value: record });
  });

  it("is refused when another version wrote it", () => {
    const bytes = encodeLastSigned({ height: 1n, round: 1, digest: undefined, prepared: undefined });
    bytes[1] = 3;
    expect(decodeLastSigned(bytes)).toMatchObject({
      error: { code: "unknownVoteLogVersion", fault: "local" },
    });
  });

  it("is written as earlier releases read it unless there is a doubt or a forgotten height", () => {
    expect(toHex(encodeLastSigned(nothingAbove(7n)))).toBe("0xc50107808080");
    expect(toHex(encodeLastSigned(forgottenAt(8n))).slice(0, 8)).toBe("0xc70207");
  });

  it("is refused, not misread, wherever it is cut short", () => {
    const bytes = encodeLastSigned({ height: 1n, round: 1, digest, prepared: aPreparedBlock(1) });
    for (let length = 0; length < bytes.length; length++) {
      expect(decodeLastSigned(bytes.subarray(0, length))).toMatchObject({
        error: { code: "damagedVoteLog" },
      });
    }
  });

  it("is refused when its block has another height", () => {
    const bytes = encodeLastSigned({ height: 2n, round: 1, digest, prepared: aPreparedBlock(0) });
    expect(decodeLastSigned(bytes)).toMatchObject({ error: { code: "damagedVoteLog" } });
  });
});

function aPreparedBlock(prepares: number): PreparedBlock {
  const { header, extra } = aCandidate(aGenesisHead(toyAddresses(4)), { round: 2 });
  const transactions = [aTransaction({ type: 0 }), aTransaction({ type: 2 })].map(
    ({ sender: _sender, ...transaction }) => transaction,
  );
  const candidate = createCandidate(header, extra, transactions);
  const place = { height: 1n, round: 2, digest: candidate.digest };
  const signer = (index: number) => ({
    self: toyAddress(index),
    sign: (hash: Uint8Array) => tokenSignature(toyAddress(index), hash),
  });
  return {
    candidate,
    certificate: {
      proposal: signPayload(signer(0), { kind: "proposal", ...place }),
      prepares: Array.from({ length: prepares }, (_, index) =>
        signPayload(signer(index + 1), { kind: "prepare", ...place }),
      ),
    },
  };
}
