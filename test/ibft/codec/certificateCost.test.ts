import { describe, expect, it } from "vitest";
import {
  createKnownSigners,
  KNOWN_SIGNATURES_OF_SIGNER,
} from "../../../src/consensus/router/knownSigners.ts";
import { readMessage } from "../../../src/ibft/codec/decoding.ts";
import type { Encoded } from "../../../src/ibft/codec/encoding.ts";
import type { KnownSigners } from "../../../src/ibft/codec/signedReader.ts";
import { asAddress } from "../../../src/primitives/address.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { recoverAddress, SECP256K1_ORDER } from "../../../src/primitives/secp256k1.ts";
import { aCertificateMaker, type CertificateMaker } from "../../builders/certificates.ts";

/** The cost of decoding a message: its result, the recovered signatures, and the most of them between two pauses. */
function costOf(maker: CertificateMaker, { code, payload }: Encoded, known?: KnownSigners) {
  let recoveries = 0;
  let most = 0;
  let before = 0;
  const reading = readMessage(code, payload, {
    validatorSet: maker.validatorSet,
    known,
    recover(digest, signature) {
      recoveries += 1;
      return recoverAddress(digest, signature);
    },
  });
  for (;;) {
    const { done, value } = reading.next();
    most = Math.max(most, recoveries - before);
    before = recoveries;
    if (done === true) return { result: value.ok ? "read" : value.error.code, recoveries, most };
  }
}

const others = (validators: number, proposer: number): number[] =>
  Array.from({ length: validators }, (_, index) => index).filter((index) => index !== proposer);

describe("a certificate costs no more than its validator set can have signed", () => {
  it.each([1365, 4096, 10_000])("and not %i signatures of one of four validators", (count) => {
    const maker = aCertificateMaker(4);
    const proposer = maker.proposerOf(0);
    const faulty = (proposer + 1) % 4;
    const made = maker.prepared(0, [faulty]);
    const [prepare] = made.prepares;
    // Distinct signatures by the faulty validator over the same payload; their contents do not matter.
    const prepares = Array.from({ length: count }, (_, index) => {
      const { signature, ...signed } = expectDefined(prepare, "a Prepare");
      return { ...signed, signature: { ...signature, s: signature.s - BigInt(index) } };
    });
    const message = maker.roundChange(faulty, 1, { ...made, prepares });
    expect(costOf(maker, message)).toMatchObject({ result: "tooManySignatures", recoveries: 0 });
  });

  it("and ends at a validator's second Prepare, with the other encoding of its signature", () => {
    const maker = aCertificateMaker(20);
    const made = maker.prepared(0);
    const faulty = maker.proposerOf(1);
    const twice = expectDefined(made.prepares[0], "a Prepare");
    const { r, s, yParity } = twice.signature;
    const turned = { r, s: SECP256K1_ORDER - s, yParity: yParity === 0 ? 1 : 0 } as const;
    const prepares = [twice, { ...twice, signature: turned }, ...made.prepares.slice(2)];
    const cost = costOf(maker, maker.roundChange(faulty, 1, { ...made, prepares }));
    // The author, the Proposal and two Prepares.
    expect(cost).toMatchObject({ result: "duplicateAuthors", recoveries: 4 });
  });

  it("and ends at the first signature of a non-validator, and before any when the signed contents are wrong", () => {
    const maker = aCertificateMaker(20);
    const made = maker.prepared(0);
    const faulty = maker.proposerOf(1);
    const [first, ...rest] = made.prepares;
    const honest = expectDefined(first, "a Prepare");
    const nobody = { ...honest, signature: { ...honest.signature, s: honest.signature.s - 1n } };
    const strange = maker.roundChange(faulty, 1, { ...made, prepares: [nobody, ...rest] });
    expect(costOf(maker, strange)).toMatchObject({ result: "authorNotValidator", recoveries: 3 });
    const [other] = maker.prepared(1, [2]).prepares;
    const misplaced = { ...made, prepares: [...rest, expectDefined(other, "a Prepare of round 1")] };
    expect(costOf(maker, maker.roundChange(faulty, 2, misplaced))).toMatchObject({
      result: "wrongRound",
      recoveries: 0,
    });
  });

  it("and is not verified in a proposal that is not by the proposer", () => {
    const maker = aCertificateMaker(20);
    const requests = others(20, -1).map((index) => maker.request(index, 1, maker.prepared(0)));
    const faulty = maker.proposerOf(2);
    expect(costOf(maker, maker.proposal(1, requests, faulty))).toMatchObject({
      result: "wrongProposer",
      recoveries: 1,
    });
  });
});

describe("messages of honest validators are decoded, with a pause at each signature", () => {
  it.each([4, 20])("with every possible Prepare, of %i validators, each in another round", (validators) => {
    const maker = aCertificateMaker(validators);
    const round = validators + 1;
    const requests = others(validators, -1).map((index) =>
      maker.request(index, round, maker.prepared(index)),
    );
    const known = createKnownSigners();
    const message = maker.proposal(round, requests);
    // The proposal; from each requesting validator, a Proposal and the Prepares of all the others.
    expect(costOf(maker, message, known)).toEqual({
      result: "read",
      recoveries: 1 + validators + validators * validators,
      most: 1,
    });
    expect(costOf(maker, message, known)).toMatchObject({ result: "read", recoveries: 0 });
  });

  it("and signatures seen before cost nothing", () => {
    const maker = aCertificateMaker(20);
    const prepared = maker.prepared(0);
    const known = createKnownSigners();
    const roundChange = maker.roundChange(1, 1, prepared);
    expect(costOf(maker, roundChange, known)).toMatchObject({ result: "read", recoveries: 1 + 20 });
    const requests = others(20, -1).map((index) => maker.request(index, 1, prepared));
    // The proposal, and the requests of all but one.
    expect(costOf(maker, maker.proposal(1, requests), known)).toMatchObject({
      result: "read",
      recoveries: 20,
    });
  });
});

describe("the cache of signers", () => {
  const signer = (index: number) => asAddress(new Uint8Array(20).fill(index));

  it("has a bound for each signer, so that a flood of one evicts none of another", () => {
    const known = createKnownSigners();
    known.add("honest", signer(1));
    for (let index = 0; index < 10_000; index++) known.add(`flood ${index}`, signer(2));
    expect(known.find("honest")).toEqual(signer(1));
    expect(known.find("flood 0")).toBeUndefined();
    expect(known.find("flood 9999")).toEqual(signer(2));
    expect(known.size).toBe(1 + KNOWN_SIGNATURES_OF_SIGNER);
  });

  it("is bounded for any number of signers", () => {
    const known = createKnownSigners();
    for (let index = 0; index < 1000; index++) {
      const address = new Uint8Array(20);
      address.set([index >> 8, index & 0xff]);
      known.add(`${index}`, asAddress(address));
    }
    expect(known.size).toBe(256);
    expect(known.find("0")).toBeUndefined();
  });
});
