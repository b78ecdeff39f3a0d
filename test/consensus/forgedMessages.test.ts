import { describe, expect, it } from "vitest";
import { type Candidate, createCandidate, withRound } from "../../src/ibft/candidate.ts";
import { decodeMessage, PAYLOAD_LIMITS } from "../../src/ibft/codec/decoding.ts";
import { type Encoded, encodeMessage } from "../../src/ibft/codec/encoding.ts";
import type { PreparedBlock, SignedMessage } from "../../src/ibft/message.ts";
import { CERTIFICATE_ERRORS, findMessageError } from "../../src/ibft/messageRules.ts";
import { validatorSetAfter } from "../../src/ibft/validatorSet.ts";
import { hexToBytes } from "../../src/primitives/hex.ts";
import { someOf } from "../thorough.ts";
import {
  anEdge,
  asking,
  block,
  bringing,
  commit,
  countedAt,
  decideX,
  NO_VOTES,
  PARENT,
  prepare,
  prepared,
  printed,
  proposal,
  roundChange,
  signedPrepare,
  signedProposal,
  signedRoundChange,
  turned,
} from "./edge.ts";

/** A message with real keys, as bytes, and the counters it increases at validator d (edge.ts): its result, and its error. */
type Case = readonly [title: string, message: () => SignedMessage | Encoded, outcome: string];

/** A prepared block with another certificate. */
function forged(change: Partial<PreparedBlock["certificate"]>, of = prepared("abc")): PreparedBlock {
  return { ...of, certificate: { ...of.certificate, ...change } };
}

const elsewhere = { round: 0, height: 2n, digest: block("X").digest };

/** Invalid certificates, and their errors (ibft2.md#round-change-rules). */
const FORGED_CERTIFICATES: readonly (readonly [
  title: string,
  certificate: () => PreparedBlock,
  error: string,
])[] = [
  ["too few Prepares", () => prepared("ab"), "tooFewPrepares"],
  ["no Prepare", () => forged({ prepares: [] }), "tooFewPrepares"],
  ["one Prepare twice", () => prepared("abb"), "duplicateAuthors"],
  [
    "one Prepare twice, under the other signature of its author",
    () => forged({ prepares: [signedPrepare("b", { round: 0 }), turned(signedPrepare("b", { round: 0 }))] }),
    "duplicateAuthors",
  ],
  ["a quorum, and one of it twice", () => prepared("abcb"), "duplicateAuthors"],
  ["a Prepare of a non-validator", () => prepared("abe"), "authorNotValidator"],
  ["a Prepare of the proposer", () => prepared("aba"), "prepareByProposer"],
  [
    "a Prepare of another round",
    () => forged({ prepares: [signedPrepare("b", { round: 0 }), signedPrepare("c", { round: 1 })] }),
    "wrongRound",
  ],
  [
    "a Prepare of another height",
    () => forged({ prepares: [signedPrepare("b", { round: 0 }), signedPrepare("c", elsewhere)] }),
    "wrongHeight",
  ],
  [
    "a Prepare for another block",
    () => {
      const other = signedPrepare("c", { round: 0, digest: block("Y").digest });
      return forged({ prepares: [signedPrepare("b", { round: 0 }), other] });
    },
    "wrongDigest",
  ],
  [
    "a Prepare that falsely claims to be c's",
    () => {
      const { payload } = signedPrepare("c", { round: 0 });
      const { signature, author } = signedPrepare("e", { round: 0 });
      return forged({ prepares: [signedPrepare("b", { round: 0 }), { payload, signature, author }] });
    },
    "authorNotValidator",
  ],
  [
    "a Prepare that is b's Proposal",
    () => {
      const { signature, author } = signedProposal("b", { round: 0 });
      const { payload } = signedPrepare("b", { round: 0 });
      return forged({ prepares: [{ payload, signature, author }, signedPrepare("c", { round: 0 })] });
    },
    "authorNotValidator",
  ],
  ["a Proposal of another validator than the proposer", () => prepared("bcd"), "wrongProposer"],
  ["a Proposal of a non-validator", () => prepared("ebc"), "wrongProposer"],
  ["a Proposal of another height", () => forged({ proposal: signedProposal("a", elsewhere) }), "wrongHeight"],
  ["a Proposal of the round that is asked for", () => prepared("bac", { round: 1 }), "wrongRound"],
  ["a Proposal of a later round", () => prepared("cab", { round: 2 }), "wrongRound"],
];

const CASES: readonly Case[] = [
  ...FORGED_CERTIFICATES.map(
    ([title, certificate, error]): Case => [
      `a RoundChange to round 1 with ${title}`,
      () => roundChange("c", 1, certificate()),
      error,
    ],
  ),
  ...FORGED_CERTIFICATES.map(
    ([title, certificate, error]): Case => [
      `a proposal in round 1 whose requests have ${title}`,
      () => proposal("b", block("X", 1), bringing(certificate())),
      error,
    ],
  ),

  ["a RoundChange of a non-validator", () => roundChange("e", 1), "unwelcomeAuthor"],
  ["a RoundChange for round 0", () => roundChange("c", 0), "wrongRound"],
  [
    "a RoundChange with another block than was prepared",
    () => withBlock(prepared("abc"), "Y"),
    "wrongCandidate",
  ],
  [
    "a RoundChange with the prepared block in another round",
    () => ({ ...roundChange("c", 2, prepared("abc")), candidate: block("X", 1) }) as SignedMessage,
    "wrongCandidate",
  ],
  [
    "a RoundChange without the block that was prepared",
    () => withBlock(prepared("abc")),
    "accepted, candidateMissing",
  ],
  [
    "a RoundChange with a block and no certificate",
    () => ({ ...roundChange("c", 1), candidate: block("X") }) as SignedMessage,
    "wrongCandidate",
  ],

  ["round 1 without proof", () => proposal("b", block("X", 1)), "accepted, certificateMissing"],
  ["a proposal in round 1 without requests", () => proposal("b", block("X", 1), []), "tooFewRoundChanges"],
  ["round 1 as asked by too few", () => proposal("b", block("X", 1), asking("cd", 1)), "tooFewRoundChanges"],
  ["round 1 as asked by one twice", () => proposal("b", block("X", 1), asking("cdd", 1)), "duplicateAuthors"],
  [
    "a proposal in round 1 with one validator's request twice, under its other signature",
    () => proposal("b", block("X", 1), [...asking("cd", 1), turned(signedRoundChange("d", 1))]),
    "duplicateAuthors",
  ],
  [
    "a proposal in round 1 with a quorum of requests and one of them twice",
    () => proposal("b", block("X", 1), asking("acdd", 1)),
    "duplicateAuthors",
  ],
  [
    "a proposal in round 1 with a request by a non-validator too",
    () => proposal("b", block("X", 1), asking("cde", 1)),
    "authorNotValidator",
  ],
  [
    "a proposal in round 1 with a request for another round",
    () => proposal("b", block("X", 1), [...asking("cd", 1), signedRoundChange("a", 2)]),
    "wrongRound",
  ],
  [
    "a proposal in round 1 with a request of another height",
    () => proposal("b", block("X", 1), [...asking("cd", 1), signedRoundChange("a", 1, { height: 2n })]),
    "wrongHeight",
  ],
  [
    "a proposal in round 1 with a request that falsely claims to be d's",
    () => {
      const { payload } = signedRoundChange("d", 1);
      const { signature, author } = signedPrepare("d", { round: 1 });
      return proposal("b", block("X", 1), [...asking("ac", 1), { payload, signature, author }]);
    },
    "authorNotValidator",
  ],
  ["a proof in round 0", () => proposal("a", block("X"), asking("abc", 1)), "wrongRound"],
  [
    "another block instead of the prepared one",
    () => proposal("b", block("Y", 1), bringing(prepared("abc"))),
    "accepted, preparedBlockReplaced",
  ],
  [
    "the block prepared first instead of the one prepared last",
    () =>
      proposal("c", block("X", 2), [
        signedRoundChange("a", 2, { prepared: prepared("abc") }),
        signedRoundChange("b", 2, { prepared: prepared("bcd", { name: "Y", round: 1 }) }),
        ...asking("d", 2),
      ]),
    "accepted, preparedBlockReplaced",
  ],

  ["a proposal by another than the proposer", () => proposal("b", block("X")), "wrongProposer"],
  [
    "a new block with another validator as coinbase",
    () => proposal("a", block("X", 0, "b")),
    "accepted, foreignBuilder",
  ],
  [
    "a new block with another validator as coinbase, in round 1",
    () => proposal("b", block("X", 1, "a"), asking("acd", 1)),
    "accepted, foreignBuilder",
  ],
  [
    "a proposal by the proposer of another round",
    () => proposal("a", block("X", 1), asking("bcd", 1)),
    "wrongProposer",
  ],
  ["a proposal by a non-validator", () => proposal("e", block("X")), "unwelcomeAuthor"],
  [
    "a proposal with another block than it signs",
    () => ({ ...proposal("a", block("X")), candidate: block("Y") }) as SignedMessage,
    "wrongCandidate",
  ],
  [
    "a proposal with a block of another round",
    () => ({ ...proposal("a", block("X")), candidate: block("X", 1) }) as SignedMessage,
    "wrongCandidate",
  ],
  [
    "a proposal with a block of another height",
    () => {
      const candidate = atHeight(3n);
      return {
        kind: "proposal",
        signed: signedProposal("a", { round: 0, digest: candidate.digest }),
        candidate,
      };
    },
    "accepted, wrongCandidate",
  ],

  ["a Prepare by the proposer", () => prepare("a", { round: 0 }), "accepted, prepareByProposer"],
  ["a Prepare by a non-validator", () => prepare("e", { round: 0 }), "unwelcomeAuthor"],
  ["a Prepare of the height before", () => prepare("b", { ...elsewhere, height: 0n }), "stale"],
  ["a Prepare of a height far away", () => prepare("b", { ...elsewhere, height: 12n }), "tooFarAhead"],
  [
    "a Prepare of an impossible height",
    () => prepare("b", { ...elsewhere, height: 2n ** 64n - 1n }),
    "tooFarAhead",
  ],

  ["a Commit by a non-validator", () => commit("e", { round: 0 }), "unwelcomeAuthor"],
  [
    "a Commit with a seal over another block",
    () => commit("b", { round: 0 }, { seals: block("Y").digest }),
    "accepted, wrongSealer",
  ],
  [
    "a Commit with a seal over the block in another round",
    () => commit("b", { round: 0 }, { seals: block("X", 1).digest }),
    "accepted, wrongSealer",
  ],
  [
    "a Commit with a seal over the chain hash",
    () => commit("b", { round: 0 }, { seals: block("X").hash }),
    "accepted, wrongSealer",
  ],
  [
    "a Commit with the seal of another validator",
    () => commit("b", { round: 0 }, { sealer: "c" }),
    "accepted, wrongSealer",
  ],
  [
    "a Commit with the seal of a non-validator",
    () => commit("b", { round: 0 }, { sealer: "e" }),
    "accepted, wrongSealer",
  ],

  ["nothing at all", () => ({ code: 0, payload: new Uint8Array() }), "malformed"],
  ["bytes without sense", () => ({ code: 3, payload: hexToBytes("c0ffee") }), "malformed"],
  ["a message of a fifth kind", () => ({ code: 4 as 0, payload: hexToBytes("c0") }), "unknownCode"],
  [
    "a Prepare that is too long",
    () => ({ code: 1, payload: new Uint8Array(PAYLOAD_LIMITS[1] + 1) }),
    "oversized",
  ],
  [
    "a proposal too large for a frame",
    () => ({ code: 0, payload: new Uint8Array(PAYLOAD_LIMITS[0] + 1) }),
    "oversized",
  ],
  ["a proposal whose header has no end", () => proposal("a", withVanity(129 * 1024)), "oversized"],
];

/** The error by the state machine's rules, for messages in which decoding already finds one. */
const LATER_NAMES: Readonly<Record<string, string>> = {
  wrongCandidate: "candidateUncalledFor",
  wrongRound: "certificateUncalledFor",
};

function isFoundByDecoding(outcome: string): boolean {
  return outcome === "wrongCandidate" || CERTIFICATE_ERRORS.some((error) => error === outcome);
}

function withBlock(certificate: PreparedBlock, name?: string): SignedMessage {
  const { kind, signed } = roundChange("c", 1, certificate);
  if (kind !== "roundChange") throw new Error("not a RoundChange");
  return { kind, signed, ...(name !== undefined && { candidate: block(name) }) } as SignedMessage;
}

/** X with another number. */
function atHeight(number: bigint): Candidate {
  const { header, extra } = block("X");
  return createCandidate({ ...header, number }, extra, []);
}

function withVanity(bytes: number): Candidate {
  const { header, extra } = block("X");
  return createCandidate(header, { ...extra, vanity: new Uint8Array(bytes) }, []);
}

describe("a forged message, by its bytes and with real keys", () => {
  it.each(someOf(CASES))("is counted, and changes nothing: %s", async (_title, message, outcome) => {
    const edge = await anEdge();
    const before = printed(edge.state());
    expect(await edge.hear(message())).toBe(outcome);
    expect(printed(edge.state())).toBe(before);
    expect([edge.observed.messages, edge.disk.votes, edge.failures]).toEqual([[], NO_VOTES, []]);
    const [result = "", error] = outcome.split(", ");
    expect(await edge.read("messages_validated_total", { result })).toBe(1);
    if (error !== undefined) expect(await edge.read("messages_rejected_total", { error })).toBe(1);
    expect(await countedAt(edge)).toEqual({ received: 1, rejected: error === undefined ? 0 : 1 });
  });

  it.each(CASES.filter(([, , outcome]) => isFoundByDecoding(outcome)))(
    "would have no effect if it were decoded completely: %s",
    (_title, message, outcome) => {
      const made = message();
      const { code, payload } = "kind" in made ? encodeMessage(made) : made;
      const read = decodeMessage(code, payload);
      if (!read.ok) throw new Error(read.error.message);
      const error = findMessageError(validatorSetAfter(PARENT), withRound, read.value);
      expect([outcome, LATER_NAMES[outcome]]).toContain(error);
    },
  );

  it("cannot keep an honest quorum from deciding its block, even together with all others", async () => {
    const edge = await anEdge();
    for (const [, message] of CASES) await edge.hear(message());
    await decideX(edge);
    expect(edge.failures).toEqual([]);
  });
});

describe("the parts of the forged messages", () => {
  it("are accepted when unchanged", async () => {
    for (const message of [
      roundChange("c", 1),
      roundChange("c", 1, prepared("abc")),
      roundChange("c", 1, prepared("abcd")),
      proposal("b", block("X", 1, "b"), asking("acd", 1)),
      proposal("b", block("X", 1), bringing(prepared("abc"))),
      proposal("c", block("Y", 2), [
        signedRoundChange("a", 2, { prepared: prepared("abc") }),
        signedRoundChange("b", 2, { prepared: prepared("bcd", { name: "Y", round: 1 }) }),
        ...asking("d", 2),
      ]),
    ]) {
      const edge = await anEdge();
      const before = printed(edge.state());
      expect(await edge.hear(message)).toBe("accepted");
      expect(printed(edge.state())).not.toBe(before);
    }
  });
});
