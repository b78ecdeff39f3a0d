import { type Candidate, createCandidate } from "../../src/ibft/candidate.ts";
import { signPayload } from "../../src/ibft/codec/encoding.ts";
import type {
  Commit,
  Prepare,
  PreparedBlock,
  Proposal,
  RoundChange,
  RoundChangeCertificate,
  SignedMessage,
} from "../../src/ibft/message.ts";
import type { Height, OwnKeyRules } from "../../src/ibft/state.ts";
import { type Head, isProposer } from "../../src/ibft/validatorSet.ts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { equalBytes, toDigits } from "../../src/primitives/hex.ts";
import type { Digest } from "../../src/types/blockHash.ts";
import type { ValidatorVote } from "../../src/types/extraData.ts";
import { aCandidate } from "../builders/toyChain.ts";
import type { Random } from "./random.ts";
import { type SealedBlock, sealBlock } from "./toyLedger.ts";

/**
 * A Byzantine validator. It runs the same state machine as honest ones, to follow their progress, and
 * changes what it sends: different messages to different nodes, none to some, old messages again, and proposals, votes
 * and certificates forged from what all Byzantine validators have received. It signs with its own key only.
 */
export interface ByzantineValidator {
  /** The messages sent instead of an honest validator's multicast. */
  speak(message: SignedMessage): readonly Letter[];
  /** The messages sent in reaction to an honest validator's message. */
  hear(message: SignedMessage): readonly Letter[];
  /** The messages sent in reaction to another Byzantine validator's proposal. */
  support(proposal: Proposal): readonly Letter[];
  /** A block for a node that lacks one, without the needed seals; undefined when it behaves honestly this time. */
  forgeBlock(parent: Head): SealedBlock | undefined;
}

export interface Letter {
  readonly to: number;
  readonly message: SignedMessage;
}

export interface ByzantineParts {
  readonly rules: OwnKeyRules;
  /** Has every kind of fault, at a high rate. */
  readonly isRuthless: boolean;
  readonly random: Random;
  /** All nodes but itself. */
  readonly others: readonly number[];
  /** Messages that all Byzantine validators together have received. */
  readonly memory: Memory;
  /** Height and round of its state machine. */
  height(): Height | undefined;
}

/** The latest messages, oldest first. */
export interface Memory {
  remember(message: SignedMessage): void;
  all(): readonly SignedMessage[];
}

export function createMemory(): Memory {
  let heard: SignedMessage[] = [];
  return {
    remember(message) {
      heard.push(message);
      if (heard.length > 2 * MEMORY_SIZE) heard = heard.slice(-MEMORY_SIZE);
    },
    all: () => heard,
  };
}

const MEMORY_SIZE = 100;

export function createByzantineValidator({
  rules,
  isRuthless,
  random,
  others,
  memory,
  height,
}: ByzantineParts): ByzantineValidator {
  const upTo = (limit: number): number =>
    isRuthless ? limit * (0.5 + random.next() / 2) : random.chance(0.3) ? 0 : random.next() * limit;
  const silence = upTo(0.6);
  const twoFaces = upTo(0.9);
  /** How often all nodes get the twin. */
  const mischief = upTo(0.5);
  const eagerness = upTo(0.9);
  const replays = upTo(0.15);
  const forgeries = upTo(0.15);
  let marks = 0;

  const pick = <T>(items: readonly T[]): T | undefined => items[random.between(0, items.length - 1)];
  const half = (): readonly number[] => others.filter(() => random.chance(0.5));
  const to = (listeners: readonly number[], message: SignedMessage): Letter[] =>
    listeners.map((listener) => ({ to: listener, message }));

  const heard = <Kind extends SignedMessage["kind"]>(
    kind: Kind,
  ): Extract<SignedMessage, { kind: Kind }>[] => {
    const now = height()?.validatorSet.height;
    const isOfKind = (message: SignedMessage): message is Extract<SignedMessage, { kind: Kind }> =>
      message.kind === kind && message.signed.payload.height === now;
    return memory.all().filter(isOfKind);
  };

  /** A validator vote on any node, itself included. */
  function forgedVote(): ValidatorVote {
    const recipient = pick(height()?.validatorSet.validators ?? []) ?? rules.self;
    return { recipient, kind: random.chance(0.5) ? "drop" : "add" };
  }

  /** A variant of the block that may be invalid, or have other validators, another coinbase or another vote. */
  function variantOf({ header, extra: { vote, ...rest }, transactions }: Candidate): Candidate {
    const cast = random.chance(0.3) ? forgedVote() : vote;
    const validators = random.chance(0.1) ? rest.validators.slice(1) : rest.validators;
    const extra = { ...rest, validators, ...(cast !== undefined && { vote: cast }) };
    const builders = height()?.validatorSet.validators ?? [];
    const coinbase = random.chance(0.2) ? (pick(builders) ?? header.coinbase) : header.coinbase;
    marks += 1;
    const stateRoot = keccak256(new TextEncoder().encode(`${toDigits(rules.self)} lie ${marks}`));
    const gasUsed = random.chance(0.2) ? header.gasLimit + 1n : header.gasUsed;
    return createCandidate({ ...header, coinbase, stateRoot, gasUsed }, extra, transactions);
  }

  function propose(candidate: Candidate, certificate?: RoundChangeCertificate): Proposal {
    const place = { height: candidate.header.number, round: candidate.extra.round };
    const payload = { kind: "proposal", ...place, digest: candidate.digest } as const;
    return {
      kind: "proposal",
      signed: signPayload(rules, payload),
      candidate,
      ...(certificate !== undefined && { certificate }),
    };
  }

  function prepare(about: { height: bigint; round: number; digest: Digest }): Prepare {
    const { height, round, digest } = about;
    return {
      kind: "prepare",
      signed: signPayload(rules, { kind: "prepare", height, round, digest } as const),
    };
  }

  /** Its seal may be over another block, or by another validator. */
  function commit(about: { height: bigint; round: number; digest: Digest }): Commit {
    const { height, round, digest } = about;
    const stolen = random.chance(0.1) ? pick(heard("commit"))?.signed.payload.seal : undefined;
    const seal = stolen ?? rules.sign(random.chance(0.1) ? keccak256(digest) : digest);
    const signed = signPayload(rules, { kind: "commit", height, round, digest, seal } as const);
    return { kind: "commit", signed, sealer: rules.self };
  }

  function askFor(round: number, { number }: Head["header"], prepared?: PreparedBlock): RoundChange {
    const payload = {
      kind: "roundChange",
      height: number + 1n,
      round,
      ...(prepared !== undefined && { prepared: prepared.certificate }),
    } as const;
    return {
      kind: "roundChange",
      signed: signPayload(rules, payload),
      ...(prepared !== undefined && { candidate: prepared.candidate }),
    };
  }

  /** Other content for the same height, round and kind; undefined when there is none. */
  function twinOf(message: SignedMessage): SignedMessage | undefined {
    switch (message.kind) {
      case "proposal":
        return propose(variantOf(message.candidate), message.certificate);
      case "prepare":
      case "commit": {
        const { round, height: number, digest } = message.signed.payload;
        const rival = heard("proposal").find(
          ({ signed: { payload } }) => payload.round === round && !equalBytes(payload.digest, digest),
        );
        if (rival === undefined) return undefined;
        const about = { height: number, round, digest: rival.signed.payload.digest };
        return message.kind === "prepare" ? prepare(about) : commit(about);
      }
      case "roundChange": {
        const parent = height()?.parent;
        if (parent === undefined) return undefined;
        const round = message.signed.payload.round + (random.chance(0.3) ? random.between(1, 20) : 0);
        return askFor(round, parent.header, random.chance(0.5) ? makeUpPrepared() : undefined);
      }
    }
  }

  /** A certificate for some block of this height: from the Prepares it has, its own, and repetitions if these do not suffice. */
  function makeUpPrepared(): PreparedBlock | undefined {
    const proposal = pick(heard("proposal"));
    const needed = height()?.validatorSet.prepareQuorum ?? 0;
    if (proposal === undefined) return undefined;
    const { payload } = proposal.signed;
    const isSloppy = random.chance(0.3);
    const prepares = heard("prepare")
      .map(({ signed }) => signed)
      .filter((signed) => signed.payload.round === payload.round)
      .filter((signed) => isSloppy || equalBytes(signed.payload.digest, payload.digest));
    const collected = [...onePerAuthor(prepares), prepare(payload).signed];
    while (collected.length < needed) collected.push(prepare(payload).signed);
    const candidate = random.chance(0.1) ? variantOf(proposal.candidate) : proposal.candidate;
    return { certificate: { proposal: proposal.signed, prepares: collected }, candidate };
  }

  /** A new block for a later round, with the certificate that best hides a prepared block. */
  function makeUpProposal({ parent, validatorSet, round: { number } }: Height): Proposal {
    const rounds = Array.from({ length: 2 * validatorSet.validators.length }, (_, ahead) => number + ahead);
    const ours = rounds.filter((round) => round > 0 && isProposer(validatorSet, round, rules.self));
    const round = (random.chance(0.9) ? ours[0] : pick(rounds)) ?? number;
    const asking = heard("roundChange").filter(({ signed }) => signed.payload.round === round);
    const hiding = [...asking].sort(
      ({ signed: a }, { signed: b }) => preparedRoundOf(a.payload) - preparedRoundOf(b.payload),
    );
    const own = askFor(round, parent.header).signed;
    const certificate = [own, ...onePerAuthor(hiding.map(({ signed }) => signed))].slice(
      0,
      validatorSet.quorum,
    );
    while (certificate.length < validatorSet.quorum) certificate.push(own);
    const known = random.chance(0.5) ? pick(heard("proposal"))?.candidate : undefined;
    const fresh = aCandidate(parent, {
      round,
      coinbase: random.chance(0.8) ? rules.self : (pick(validatorSet.validators) ?? rules.self),
    });
    const candidate = known === undefined ? variantOf(fresh) : rules.withRound(known, round);
    return propose(candidate, certificate);
  }

  /** Another validator's message with changed contents. */
  function tamper(): SignedMessage | undefined {
    const message = pick(memory.all());
    if (message === undefined) return undefined;
    if (message.kind === "proposal") return { ...message, candidate: variantOf(message.candidate) };
    if (message.kind === "roundChange") {
      const candidate = message.candidate ?? pick(heard("proposal"))?.candidate;
      return candidate && { kind: "roundChange", signed: message.signed, candidate: variantOf(candidate) };
    }
    const { payload } = message.signed;
    const signed = { ...message.signed, payload: { ...payload, round: payload.round + 1 } };
    return { ...message, signed } as SignedMessage;
  }

  function forge(): SignedMessage | undefined {
    const now = height();
    if (now === undefined) return undefined;
    switch (random.between(0, 3)) {
      case 0:
        return makeUpProposal(now);
      case 1:
        return askFor(now.round.number + random.between(0, 3), now.parent.header, makeUpPrepared());
      case 2: {
        const proposal = pick(heard("proposal"));
        return proposal === undefined ? undefined : commit(proposal.signed.payload);
      }
      default:
        return tamper();
    }
  }

  /** Votes without validation. */
  function support({ signed: { payload } }: Proposal): Letter[] {
    if (!random.chance(eagerness)) return [];
    const listeners = random.chance(0.5) ? others : half();
    return [...to(listeners, prepare(payload)), ...to(listeners, commit(payload))];
  }

  return {
    speak(message) {
      memory.remember(message);
      const twin = random.chance(twoFaces) ? twinOf(message) : undefined;
      const listeners = random.chance(silence) ? half() : others;
      if (twin === undefined) return to(listeners, message);
      memory.remember(twin);
      const believers = new Set(random.chance(mischief) ? [] : half());
      const said = listeners.map((listener) => ({
        to: listener,
        message: believers.has(listener) ? message : twin,
      }));
      return twin.kind === "proposal" ? [...said, ...support(twin)] : said;
    },
    support,
    hear(message) {
      memory.remember(message);
      const letters: Letter[] = message.kind === "proposal" ? [...support(message)] : [];
      if (random.chance(replays)) {
        const old = pick(memory.all());
        if (old !== undefined) letters.push(...to(half(), old));
      }
      if (random.chance(forgeries)) {
        const forged = forge();
        if (forged !== undefined) letters.push(...to(random.chance(0.5) ? others : half(), forged));
        if (forged?.kind === "proposal") letters.push(...support(forged));
      }
      return letters;
    },
    forgeBlock(parent) {
      if (!random.chance(forgeries)) return undefined;
      const candidate = variantOf(aCandidate(parent));
      const own = rules.sign(candidate.digest);
      const seals = parent.tally.validators.map(() => own);
      return sealBlock(parent, candidate, seals, rules.schedule);
    },
  };
}

function preparedRoundOf(payload: RoundChange["signed"]["payload"]): number {
  return payload.prepared?.proposal.payload.round ?? -1;
}

function onePerAuthor<S extends { readonly author: Uint8Array }>(signed: readonly S[]): S[] {
  const byAuthor = new Map<string, S>();
  for (const item of signed)
    if (!byAuthor.has(toDigits(item.author))) byAuthor.set(toDigits(item.author), item);
  return [...byAuthor.values()];
}
