import { type Candidate, withRound } from "../../src/ibft/candidate.ts";
import { type Encoded, encodeMessage, signPayload } from "../../src/ibft/codec/encoding.ts";
import type { PreparedCertificate, RoundChangePayload, Signed } from "../../src/ibft/message.ts";
import { type Head, isProposer, type ValidatorSet, validatorSetAfter } from "../../src/ibft/validatorSet.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import { addressOfPrivateKey, sign } from "../../src/primitives/secp256k1.ts";
import { aCandidate, aGenesisHead } from "./toyChain.ts";

/** Validators with real keys at height 1, and the certificates that they can make. */
export interface CertificateMaker {
  readonly head: Head;
  readonly validatorSet: ValidatorSet;
  /** Index of that round's proposer. */
  proposerOf(round: number): number;
  block(round: number): Candidate;
  /** A prepared certificate of that round, with Prepares by `by`; by all except the proposer by default. */
  prepared(round: number, by?: readonly number[]): PreparedCertificate;
  request(index: number, round: number, prepared?: PreparedCertificate): Signed<RoundChangePayload>;
  roundChange(index: number, round: number, prepared: PreparedCertificate): Encoded;
  /** The proposal of that round with these requests, by its proposer by default. */
  proposal(round: number, requests: readonly Signed<RoundChangePayload>[], by?: number): Encoded;
}

export function aCertificateMaker(validators: number): CertificateMaker {
  const keys = Array.from({ length: validators }, (_, index) => bigintToFixedBytes(BigInt(index + 1), 32));
  const signers = keys.map((key) => ({
    self: addressOfPrivateKey(key),
    sign: (digest: Uint8Array) => sign(digest, key),
  }));
  const head = aGenesisHead(signers.map(({ self }) => self));
  const validatorSet = validatorSetAfter(head);
  const signerAt = (index: number) => expectDefined(signers[index], "a validator");
  const first = aCandidate(head);
  const block = (round: number): Candidate => withRound(first, round);
  const proposerOf = (round: number): number =>
    signers.findIndex(({ self }) => isProposer(validatorSet, round, self));
  const allValidators = signers.map((_, index) => index);

  const maker: CertificateMaker = {
    head,
    validatorSet,
    proposerOf,
    block,
    prepared(round, by = allValidators.filter((index) => index !== proposerOf(round))) {
      const id = { height: validatorSet.height, round, digest: block(round).digest };
      return {
        proposal: signPayload(signerAt(proposerOf(round)), { kind: "proposal", ...id }),
        prepares: by.map((index) => signPayload(signerAt(index), { kind: "prepare", ...id })),
      };
    },
    request: (index, round, prepared) =>
      signPayload(signerAt(index), {
        kind: "roundChange",
        height: validatorSet.height,
        round,
        ...(prepared !== undefined && { prepared }),
      }),
    roundChange(index, round, prepared) {
      const candidate = block(prepared.proposal.payload.round);
      return encodeMessage({ kind: "roundChange", signed: maker.request(index, round, prepared), candidate });
    },
    proposal(round, requests, by = proposerOf(round)) {
      const candidate = block(round);
      const id = { height: validatorSet.height, round, digest: candidate.digest };
      const signed = signPayload(signerAt(by), { kind: "proposal", ...id });
      return encodeMessage({ kind: "proposal", signed, candidate, certificate: requests });
    },
  };
  return maker;
}
