import { describe, expect, it } from "vitest";
import { createMessageReading } from "../../src/consensus/messageReading.ts";
import type { NextStep, ReadingJob } from "../../src/consensus/readingShares.ts";
import { IBF_SPELLING } from "../../src/consensus/spelling.ts";
import { encodeMessage } from "../../src/ibft/codec.ts";
import { present } from "../../src/primitives/assert.ts";
import { bigintToBytes } from "../../src/primitives/quantity.ts";
import { encodeRlpList, encodeRlpString } from "../../src/primitives/rlp.ts";
import { decodeTransaction, type Transaction } from "../../src/types/transaction.ts";
import { aCertificateMaker } from "../builders/certificates.ts";

const maker = aCertificateMaker(4);
const proposer = maker.proposerOf(0);
const address = present(maker.committee.validators[proposer], "the proposer");

/** As short as one can be, of nobody. */
function tiny(nonce: number): Transaction {
  const scalars = [BigInt(nonce), 0n, 0n, 0n, 0n, 0n, 27n, 1n, 1n].map(bigintToBytes);
  const decoded = decodeTransaction(encodeRlpList(scalars.map(encodeRlpString)));
  return present(decoded.ok ? decoded.value : undefined, "a transaction");
}

/** Reads a proposal of so many transactions step by step. */
function read(count: number) {
  const { proposal: signed } = maker.prepared(0);
  const transactions = Array.from({ length: count }, (_, nonce) => tiny(nonce));
  const proposal = { kind: "proposal", signed, candidate: { ...maker.block(0), transactions } } as const;
  const message = { ...encodeMessage(proposal), sender: address };
  let decoded = 0;
  let job: ReadingJob | undefined;
  let result: string | undefined;
  const reading = createMessageReading({
    spelling: IBF_SPELLING,
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
  });
  const key = IBF_SPELLING.keyOf(message.code, message.payload);
  reading.read({ ...message, key }, maker.head, (end) => {
    if (end.kind === "read") result = end.outcome.ok ? "read" : end.outcome.rejection.code;
  });
  let mostAtOnce = 0;
  const blockSteps = new Set<NextStep>();
  for (let next: NextStep = "charged"; next !== "done"; ) {
    const before = decoded;
    next = present(job, "a job").step();
    mostAtOnce = Math.max(mostAtOnce, decoded - before);
    if (decoded > 0 && next !== "done") blockSteps.add(next);
  }
  return { result, decoded, mostAtOnce, blockSteps: [...blockSteps] };
}

describe("a proposal of many transactions", () => {
  it("is read some at a time, for nothing where it is its author's first", () => {
    expect(read(4_000)).toEqual({ result: "read", decoded: 4_000, mostAtOnce: 64, blockSteps: ["free"] });
  });

  it("is refused unread where the gas limit has no room for so many", () => {
    expect(read(4_287)).toMatchObject({ result: "malformedBlock", decoded: 0 });
  });
});
