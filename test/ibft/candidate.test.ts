import { expect, it } from "vitest";
import { candidateOfBlock, sealedHeader, withRound } from "../../src/ibft/candidate.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { decodeBlock, encodeBlock } from "../../src/types/block.ts";
import { decodeExtraData } from "../../src/types/extraData.ts";
import { encodeHeader } from "../../src/types/header.ts";
import { describeWithVectors, readVectorJson } from "../vectors.ts";

interface Derived {
  readonly block: { readonly blockRlp: string; readonly digest: string; readonly hash: string };
  readonly blockAtRound1: { readonly headerRlp: string; readonly digest: string; readonly hash: string };
  readonly sealedBlock: { readonly blockRlp: string; readonly hash: string };
}

describeWithVectors("a candidate", () => {
  const derived = readVectorJson<Derived>("ibft2", "messages-derived.json");

  it("has the digest and the chain hash of its block", () => {
    const candidate = readCandidate(derived.block.blockRlp);
    expect(toHex(candidate.digest)).toBe(derived.block.digest);
    expect(toHex(candidate.hash)).toBe(derived.block.hash);
  });

  it("changes its digest but not its hash with the round", () => {
    const later = withRound(readCandidate(derived.block.blockRlp), 1);
    expect(toHex(encodeHeader(later.header))).toBe(derived.blockAtRound1.headerRlp);
    expect(toHex(later.digest)).toBe(derived.blockAtRound1.digest);
    expect(toHex(later.hash)).toBe(derived.blockAtRound1.hash);
    expect(withRound(later, 0)).toEqual(readCandidate(derived.block.blockRlp));
  });

  it("becomes the block of the chain with its seals", () => {
    const sealed = decodeBlock(hexToBytes(derived.sealedBlock.blockRlp));
    if (!sealed.ok) throw new Error(sealed.error.message);
    const extra = decodeExtraData(sealed.value.header.extraData);
    if (!extra.ok) throw new Error(extra.error.message);
    const candidate = readCandidate(derived.block.blockRlp);
    const block = { ...sealed.value, header: sealedHeader(candidate, extra.value.seals) };
    expect(extra.value.seals.length).toBe(3);
    expect(toHex(encodeBlock(block))).toBe(derived.sealedBlock.blockRlp);
    expect(candidateOfBlock(sealed.value)).toEqual({ ok: true, value: candidate });
  });
});

function readCandidate(blockRlp: string) {
  const block = decodeBlock(hexToBytes(blockRlp));
  if (!block.ok) throw new Error(block.error.message);
  const candidate = candidateOfBlock(block.value);
  if (!candidate.ok) throw new Error(candidate.error.message);
  return candidate.value;
}
