import { readdirSync } from "node:fs";
import { RLP } from "@ethereumjs/rlp";
import fc from "fast-check";
import { asAddress } from "../../src/primitives/address.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { bytesToBigint } from "../../src/primitives/quantity.ts";
import { SECP256K1_ORDER } from "../../src/primitives/secp256k1.ts";
import { decodeExtraData, type ExtraData, encodeExtraData } from "../../src/types/extraData.ts";
import { recordedBlocks } from "../builders/recordedChain.ts";
import { opensNothing } from "../builders/rlpMutations.ts";
import { vectorPath, vectorsDirectory } from "../vectors.ts";
import { ACCEPTED, fuzz } from "./fuzzing.ts";
import { mutatedRlp } from "./mutatedInputs.ts";

/** Extra data of IBFT headers: decoded values encode to the same bytes, and accepted values follow the rules. */
fuzz({
  name: "extra data",
  inputs: () =>
    mutatedRlp(fc.oneof({ weight: 3, arbitrary: soundExtraData() }, recordedExtraData()), opensNothing),
  dailyInputs: 600,
  spread: { outcomes: 10, accepted: [0.15, 0.6] },
  validate(bytes) {
    const decoded = decodeExtraData(bytes);
    if (decoded.ok !== isSoundByLibrary(bytes))
      throw new Error(`we say ${decoded.ok ? "valid" : decoded.error.message}, the library does not`);
    if (!decoded.ok) return `refused: ${decoded.error.message}`;
    if (toHex(encodeExtraData(decoded.value)) !== toHex(bytes))
      throw new Error("encoded otherwise than decoded");
    return ACCEPTED;
  },
});

function soundExtraData(): fc.Arbitrary<Uint8Array> {
  const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(asAddress);
  const scalar = fc.oneof(
    { weight: 30, arbitrary: fc.bigInt({ min: 1n, max: SECP256K1_ORDER - 1n }) },
    fc.constantFrom(1n, 0xffn, SECP256K1_ORDER - 1n, SECP256K1_ORDER, 2n ** 256n - 1n, 0n),
  );
  const seal = fc.record({ r: scalar, s: scalar, yParity: fc.constantFrom<0 | 1>(0, 1) });
  return fc
    .record<ExtraData>({
      vanity: fc.oneof(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.uint8Array({ maxLength: 80 })),
      validators: fc.array(address, { maxLength: 7 }),
      round: fc.oneof(fc.constantFrom(0, 1, 0x7f, 0x80, 2 ** 32 - 1), fc.nat()),
      seals: fc.array(seal, { maxLength: 7 }),
    })
    .chain((extra) =>
      fc
        .option(fc.record({ recipient: address, kind: fc.constantFrom("add" as const, "drop" as const) }))
        .map((vote) => encodeExtraData({ ...extra, ...(vote !== null && { vote }) })),
    );
}

function recordedExtraData(): fc.Arbitrary<Uint8Array> {
  if (vectorsDirectory === undefined) return soundExtraData();
  const networks = readdirSync(vectorPath("besu-ibft")).filter((name) => /^net[124]$/.test(name));
  const recorded = networks.flatMap((network) => recordedBlocks(["besu-ibft", network]).slice(0, 200));
  return fc.constantFrom(...recorded.map(({ header }) => header.extraData));
}

/** The rules of ibft2.md#extra-data, implemented again over the library's decoder. */
function isSoundByLibrary(bytes: Uint8Array): boolean {
  let items: unknown;
  try {
    items = RLP.decode(bytes);
  } catch {
    return false;
  }
  if (!Array.isArray(items) || items.length !== 5) return false;
  const [vanity, validators, vote, round, seals] = items as unknown[];
  return (
    vanity instanceof Uint8Array &&
    isListOf(validators, (each) => each.length === 20) &&
    (isBytes(vote, 0) ||
      (isListOf(vote, () => true) &&
        isBytes(vote[0], 20) &&
        isBytes(vote[1], 1) &&
        vote.length === 2 &&
        /00|ff/.test(toHex(vote[1])))) &&
    isBytes(round, 4) &&
    isListOf(seals, isSeal)
  );
}

function isSeal(bytes: Uint8Array): boolean {
  if (bytes.length !== 65 || (bytes[64] ?? 2) > 1) return false;
  return [bytes.subarray(0, 32), bytes.subarray(32, 64)].every((part) => {
    const value = bytesToBigint(part);
    return value > 0n && value < SECP256K1_ORDER;
  });
}

function isBytes(item: unknown, length: number): item is Uint8Array {
  return item instanceof Uint8Array && item.length === length;
}

function isListOf(item: unknown, isOne: (bytes: Uint8Array) => boolean): item is Uint8Array[] {
  return Array.isArray(item) && item.every((each) => each instanceof Uint8Array && isOne(each));
}
