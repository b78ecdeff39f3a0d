import { describe, expect, it } from "vitest";
import { IBF_CODEC } from "../../../src/consensus/router/messageCodec.ts";
import { MessageReading } from "../../../src/consensus/router/messageReading.ts";
import type { NextStep, ReadingJob } from "../../../src/consensus/router/readingShares.ts";
import { encodeMessage } from "../../../src/ibft/codec/encoding.ts";
import { type Address, asAddress } from "../../../src/primitives/address.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { bigintToBytes } from "../../../src/primitives/quantity.ts";
import { encodeRlpList, encodeRlpString } from "../../../src/primitives/rlp.ts";
import { decodeTransaction, type Transaction } from "../../../src/types/transaction.ts";
import { aCertificateMaker } from "../../builders/certificates.ts";

const maker = aCertificateMaker(4);
const proposer = maker.proposerOf(0);
const address = expectDefined(maker.validatorSet.validators[proposer], "the proposer");

/** The shortest possible transaction, with an arbitrary signature. */
function tiny(nonce: number): Transaction {
  const scalars = [BigInt(nonce), 0n, 0n, 0n, 0n, 0n, 27n, 1n, 1n].map(bigintToBytes);
  const decoded = decodeTransaction(encodeRlpList(scalars.map(encodeRlpString)));
  return expectDefined(decoded.ok ? decoded.value : undefined, "a transaction");
}

interface Case {
  readonly count: number;
  readonly kind?: "proposal" | "roundChange";
  readonly sender?: Address;
}

/** Decodes, step by step, a message with a block of `count` transactions that do not match the header's root. */
function read({ count, kind = "proposal", sender = address }: Case) {
  const proven = maker.prepared(0);
  const transactions = Array.from({ length: count }, (_, nonce) => tiny(nonce));
  const candidate = { ...maker.block(0), transactions };
  const message = {
    ...encodeMessage(
      kind === "proposal"
        ? { kind, signed: proven.proposal, candidate }
        : { kind, signed: maker.request(proposer, 1, proven), candidate },
    ),
    sender,
  };
  let decoded = 0;
  let job: ReadingJob | undefined;
  let result: string | undefined;
  const reading = new MessageReading({
    codec: IBF_CODEC,
    findTransaction() {
      decoded++;
      return undefined;
    },
    shares: {
      start(one) {
        job = one;
        return true;
      },
      clear: () => undefined,
    },
    isValidatorNode: () => false,
  });
  const key = IBF_CODEC.keyOf(message.code, message.payload);
  reading.read({ ...message, key }, maker.head, (end) => {
    if (end.kind === "read") result = end.decoded.ok ? "read" : end.decoded.error.code;
  });
  let mostAtOnce = 0;
  const blockSteps = new Set<NextStep>();
  for (let next: NextStep = "charged"; next !== "done"; ) {
    const before = decoded;
    next = expectDefined(job, "a job").step();
    mostAtOnce = Math.max(mostAtOnce, decoded - before);
    if (decoded > 0 && next !== "done") blockSteps.add(next);
  }
  return { result, decoded, mostAtOnce, blockSteps: [...blockSteps] };
}

describe("a block of many transactions in a message", () => {
  const inPortions = { result: "foreignBody", decoded: 4_000, mostAtOnce: 64 };

  it.each(["proposal", "roundChange"] as const)(
    "is decoded in portions, the first block free: %s",
    (kind) => {
      expect(read({ count: 4_000, kind })).toEqual({ ...inPortions, blockSteps: ["free"] });
    },
  );

  it("is charged to the share of untrusted peers when one of them sends it", () => {
    const sender = asAddress(new Uint8Array(20).fill(7));
    expect(read({ count: 4_000, sender })).toEqual({ ...inPortions, blockSteps: ["charged"] });
  });

  it("is refused without decoding when the gas limit does not allow that many", () => {
    expect(read({ count: 4_287 })).toMatchObject({ result: "malformedBlock", decoded: 0 });
  });
});
