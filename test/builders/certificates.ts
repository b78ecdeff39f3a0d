import { type Candidate, withRound } from "../../src/ibft/candidate.ts";
import { type Encoded, encodeMessage } from "../../src/ibft/codec.ts";
import type { Head } from "../../src/ibft/input.ts";
import type { PreparedCertificate, RoundChangePayload, Signed } from "../../src/ibft/message.ts";
import { signPayload } from "../../src/ibft/payloadCodec.ts";
import { isProposer, type ValidatorSet, validatorSetAfter } from "../../src/ibft/validatorSet.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import { addressOfPrivateKey, sign } from "../../src/primitives/secp256k1.ts";
import { aCandidate, aGenesisHead } from "./toyChain.ts";

/** So many validators with real keys, in height 1, and all that they could prove to one another. */
export interface CertificateMaker {
  readonly head: Head;
  readonly validatorSet: ValidatorSet;
  /** Index of who proposes in that round. */
  proposerOf(round: number): number;
  block(round: number): Candidate;
  /** Proof that the block of that round was prepared, with Prepares of these, all but the proposer unless given. */
  prepared(round: number, by?: readonly number[]): PreparedCertificate;
  asks(who: number, round: number, prepared?: PreparedCertificate): Signed<RoundChangePayload>;
  roundChange(who: number, round: number, prepared: PreparedCertificate): Encoded;
  /** The proposal of that round, of its proposer unless given, as these asked for. */
  proposal(round: number, asked: readonly Signed<RoundChangePayload>[], by?: number): Encoded;
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
  const everybody = signers.map((_, index) => index);

  const maker: CertificateMaker = {
    head,
    validatorSet,
    proposerOf,
    block,
    prepared(round, by = everybody.filter((index) => index !== proposerOf(round))) {
      const place = { height: validatorSet.height, round, digest: block(round).digest };
      return {
        proposal: signPayload(signerAt(proposerOf(round)), { kind: "proposal", ...place }),
        prepares: by.map((index) => signPayload(signerAt(index), { kind: "prepare", ...place })),
      };
    },
    asks: (who, round, prepared) =>
      signPayload(signerAt(who), {
        kind: "roundChange",
        height: validatorSet.height,
        round,
        ...(prepared !== undefined && { prepared }),
      }),
    roundChange(who, round, prepared) {
      const candidate = block(prepared.proposal.payload.round);
      return encodeMessage({ kind: "roundChange", signed: maker.asks(who, round, prepared), candidate });
    },
    proposal(round, asked, by = proposerOf(round)) {
      const candidate = block(round);
      const place = { height: validatorSet.height, round, digest: candidate.digest };
      const signed = signPayload(signerAt(by), { kind: "proposal", ...place });
      return encodeMessage({ kind: "proposal", signed, candidate, certificate: asked });
    },
  };
  return maker;
}
