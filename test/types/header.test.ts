import { RLP } from "@ethereumjs/rlp";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asAddress } from "../../src/primitives/address.ts";
import { asHash } from "../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { toQuantity } from "../../src/primitives/quantity.ts";
import { recoverAddress } from "../../src/primitives/secp256k1.ts";
import { hashOfHeader, sealDigest } from "../../src/types/blockHash.ts";
import { decodeExtraData, type ExtraData } from "../../src/types/extraData.ts";
import { decodeHeader, encodeHeader, type Header } from "../../src/types/header.ts";
import { casesOf } from "../thorough.ts";
import { describeWithVectors, readVectorJson } from "../vectors.ts";

interface RealBlocks {
  readonly blocks: readonly {
    readonly name: string;
    readonly header: Readonly<Record<string, string>>;
    readonly headerRlp: string;
    readonly hash: string;
    readonly committedSealHash: string;
    readonly round: number;
    readonly validators: readonly string[];
    readonly committers: readonly string[];
  }[];
}

function decoded(bytes: Uint8Array): Header {
  const outcome = decodeHeader(bytes);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.value;
}

function extraOf(header: Header): ExtraData {
  const outcome = decodeExtraData(header.extraData);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.value;
}

/** The fifteen fields of a Berlin header, as in JSON-RPC. */
function printed(header: Header): Record<string, string> {
  return {
    parentHash: toHex(header.parentHash),
    sha3Uncles: toHex(header.ommersHash),
    miner: toHex(header.coinbase),
    stateRoot: toHex(header.stateRoot),
    transactionsRoot: toHex(header.transactionsRoot),
    receiptsRoot: toHex(header.receiptsRoot),
    logsBloom: toHex(header.logsBloom),
    difficulty: toQuantity(header.difficulty),
    number: toQuantity(header.number),
    gasLimit: toQuantity(header.gasLimit),
    gasUsed: toQuantity(header.gasUsed),
    timestamp: toQuantity(header.timestamp),
    extraData: toHex(header.extraData),
    mixHash: toHex(header.mixHash),
    nonce: toHex(header.nonce),
  };
}

describeWithVectors("headers of public IBFT 2.0 networks", () => {
  const { blocks } = readVectorJson<RealBlocks>("ibft2", "real-blocks.json");

  it.each(blocks)("are decoded, hashed and have the recorded sealers: $name", (block) => {
    const header = decoded(hexToBytes(block.headerRlp));
    expect(printed(header)).toEqual(block.header);
    expect(toHex(encodeHeader(header))).toBe(block.headerRlp);

    const extra = extraOf(header);
    expect(extra.round).toBe(block.round);
    expect(extra.validators.map(toHex)).toEqual(block.validators);

    const name = hashOfHeader(header);
    expect(name.ok && toHex(name.value)).toBe(block.hash);

    const digest = sealDigest(header, extra);
    expect(toHex(digest)).toBe(block.committedSealHash);
    const committers = extra.seals.map((seal) => toHex(recoverAddress(digest, seal) ?? new Uint8Array()));
    expect(committers).toEqual(block.committers);
  });

  it("have the same hash with any seals and any round", () => {
    const [block] = blocks;
    const header = decoded(hexToBytes(block?.headerRlp ?? ""));
    const items = RLP.decode(header.extraData) as (Uint8Array | Uint8Array[])[];
    const [vanity, validators, vote] = items;
    const later = RLP.encode([vanity, validators, vote, Uint8Array.of(0, 0, 1, 7), []] as Uint8Array[]);
    expect(hashOfHeader({ ...header, extraData: later })).toEqual(hashOfHeader(header));
  });

  it("have no hash when their extra data is malformed, except genesis, which is hashed as it is", () => {
    const header = decoded(hexToBytes(blocks[0]?.headerRlp ?? ""));
    const strange = { ...header, extraData: Uint8Array.of(1, 2, 3) };
    expect(hashOfHeader(strange).ok).toBe(false);
    expect(hashOfHeader({ ...strange, number: 0n }).ok).toBe(true);
  });
});

const bytes = (length: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength: length, maxLength: length });
const hash = bytes(32).map(asHash);
const amount = fc.oneof(
  fc.constantFrom(0n, 1n, 127n, 128n, 256n),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
);
const berlin: fc.Arbitrary<Header> = fc.record({
  parentHash: hash,
  ommersHash: hash,
  coinbase: bytes(20).map(asAddress),
  stateRoot: hash,
  transactionsRoot: hash,
  receiptsRoot: hash,
  logsBloom: bytes(256),
  difficulty: amount,
  number: amount,
  gasLimit: amount,
  gasUsed: amount,
  timestamp: amount,
  extraData: fc.uint8Array({ maxLength: 100 }),
  mixHash: hash,
  nonce: bytes(8),
});
/** The fields that each later fork adds. */
const additions = fc.tuple(
  fc.record({ baseFeePerGas: amount }),
  fc.record({ withdrawalsRoot: hash }),
  fc.record({ blobGasUsed: amount, excessBlobGas: amount }),
  fc.record({ parentBeaconBlockRoot: hash }),
  fc.record({ requestsHash: hash }),
);
const anyHeader: fc.Arbitrary<Header> = fc
  .tuple(berlin, additions, fc.nat({ max: 5 }))
  .map(([header, sets, forks]) => Object.assign({ ...header }, ...sets.slice(0, forks)) as Header);

describe("a header", () => {
  it("is decoded from its own encoding, with the fields of every fork", () => {
    fc.assert(
      fc.property(anyHeader, (header) => {
        expect(decoded(encodeHeader(header))).toEqual(header);
      }),
    );
  });

  it("is refused with a field too many, too few, of the wrong length or with leading zeros", () => {
    fc.assert(
      fc.property(anyHeader, fc.nat(), (header, pick) => {
        const items = RLP.decode(encodeHeader(header)) as Uint8Array[];
        const at = pick % items.length;
        const spoiled = (change: (item: Uint8Array) => unknown): Uint8Array =>
          RLP.encode(items.map((item, index) => (index === at ? change(item) : item)) as Uint8Array[]);
        const isFree = at === 12;
        const withZero = decodeHeader(spoiled((item) => Uint8Array.of(0, ...item)));
        if (!isFree) expect(withZero.ok).toBe(false);
        expect(decodeHeader(spoiled((item) => [item])).ok).toBe(false);
        expect(decodeHeader(RLP.encode(items.slice(0, 14))).ok).toBe(false);
        expect(decodeHeader(RLP.encode([...items, ...items])).ok).toBe(false);
      }),
    );
  });

  it("is refused without a throw when it is not RLP", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100, size: "max" }), (noise) => {
        const outcome = decodeHeader(noise);
        expect(outcome.ok || outcome.error.code).toBe("malformedHeader");
      }),
      { numRuns: casesOf(1000) },
    );
  });
});
