import { describe, expect, it } from "vitest";
import { checkSealers, recoverSealers } from "../../src/ibft/sealRules.ts";
import { type Address, addressFromHex } from "../../src/primitives/address.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { chainHash, sealDigest } from "../../src/types/blockHash.ts";
import { decodeExtraData } from "../../src/types/extraData.ts";
import { decodeHeader } from "../../src/types/header.ts";
import { toyAddresses } from "../builders/toyChain.ts";
import { describeWithVectors, readVectorJson } from "../vectors.ts";

interface RealBlock {
  readonly name: string;
  readonly headerRlp: string;
  readonly hash: string;
  readonly committedSealHash: string;
  readonly validators: readonly string[];
  readonly committers: readonly string[];
}

describeWithVectors("real blocks", () => {
  const { blocks } = readVectorJson<{ blocks: RealBlock[] }>("ibft2", "real-blocks.json");

  it.each(blocks)("are sealed by a quorum of their validators: $name", (block) => {
    const header = decodeHeader(hexToBytes(block.headerRlp));
    if (!header.ok) throw new Error(header.error.message);
    const extra = decodeExtraData(header.value.extraData);
    if (!extra.ok) throw new Error(extra.error.message);
    const digest = sealDigest(header.value, extra.value);
    expect(toHex(chainHash(header.value, extra.value))).toBe(block.hash);
    expect(toHex(digest)).toBe(block.committedSealHash);
    const sealers = recoverSealers(digest, extra.value.seals);
    expect(sealers.map((sealer) => toHex(sealer ?? new Uint8Array()))).toEqual(block.committers);
    expect(checkSealers(sealers, block.validators.map(addressFromHex)).ok).toBe(true);
  });
});

describe("sealers of a block", () => {
  const [a, b, c, d, outsider] = toyAddresses(5) as [Address, Address, Address, Address, Address];
  const four = [a, b, c, d];

  it.each([
    { title: "a quorum", sealers: [c, a, b], expected: "ok" },
    { title: "everybody", sealers: [d, c, b, a], expected: "ok" },
    { title: "one too few", sealers: [a, b], expected: "tooFewSeals" },
    { title: "no sealers", sealers: [], expected: "tooFewSeals" },
    { title: "one of them twice", sealers: [a, b, b], expected: "duplicateSeal" },
    { title: "a quorum and one of it twice", sealers: [a, b, c, c], expected: "duplicateSeal" },
    { title: "a quorum and a non-validator", sealers: [a, b, c, outsider], expected: "sealerNotValidator" },
    { title: "a quorum and a seal of no key", sealers: [a, b, c, undefined], expected: "unreadableSeal" },
  ])("are checked: $title", ({ sealers, expected }) => {
    const outcome = checkSealers(sealers, four);
    expect(outcome.ok ? "ok" : outcome.error.code).toBe(expected);
  });
});
