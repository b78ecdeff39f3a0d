import type { MessageRouter } from "../../src/consensus/router/messageRouter.ts";
import type { RoundChange, SignedMessage } from "../../src/ibft/message.ts";
import { KEPT_ROUNDS_PER_AUTHOR } from "../../src/ibft/messageSet.ts";
import type { Effect, Input, State } from "../../src/ibft/state.ts";
import type { Transition } from "../../src/ibft/stateMachine.ts";
import { type Head, quorum } from "../../src/ibft/validatorSet.ts";
import type { Address } from "../../src/primitives/address.ts";
import type { Hash } from "../../src/primitives/hash.ts";
import { toDigits } from "../../src/primitives/hex.ts";
import { isTokenOf } from "../builders/toyChain.ts";
import { findGap } from "./evidence.ts";
import type { RouterLimits } from "./relays.ts";
import { isSound, type SealedBlock } from "./toyLedger.ts";

export type CheckerName = "agreement" | "promise" | "evidence" | "order" | "bounds" | "progress" | "machine";

/** What a checker found. "machine" stands for a failed assertion in the state machine. */
export class Violation extends Error {
  readonly checker: CheckerName;
  readonly atMs: number;

  constructor(checker: CheckerName, what: string, atMs: number) {
    super(`${checker}: ${what} (at ${(atMs / 1000).toFixed(3)} s)`);
    this.checker = checker;
    this.atMs = atMs;
  }
}

/** Invariants of honest nodes; each function throws a Violation when one does not hold. */
export interface Checkers {
  onTransition(node: number, before: State, input: Input, transition: Transition): void;
  /** The buffers of a node's message router. */
  onRouter(router: MessageRouter, limits: RouterLimits, futureBytes: number): void;
  /** A block built by an honest validator. */
  onBuilt(hash: Hash): void;
  /** Every message that an honest validator sends. */
  onMulticast(message: SignedMessage): void;
  /** Every block that an honest node adds to its chain. */
  onBlock(parent: Head, block: SealedBlock): void;
  /** An honest validator may contradict what it said up to that height: it cannot know better. */
  excuse(author: Address, upTo: bigint): void;
  /** Messages of honest validators are never rejected nor reported. */
  onRefusal(effect: Extract<Effect, { kind: "rejectMessage" | "reportEquivocation" }>): void;
}

/** Effects of one step; more would overload its node. */
const EFFECTS_LIMIT = 10;

export interface CheckerParts {
  nowMs(): number;
  isHonest(address: Address): boolean;
  readonly blindTo: readonly CheckerName[];
}

export function createCheckers({ nowMs, isHonest, blindTo }: CheckerParts): Checkers {
  /** By height. */
  const agreed = new Map<bigint, string>();
  /** By author, kind, height and round. */
  const promised = new Map<string, string>();
  /** By author: the height up to which contradictions are excused. */
  const excused = new Map<string, bigint>();
  /** Blocks built by honest validators. */
  const built = new Set<string>();
  /** Paused nodes. */
  const held = new Set<number>();
  /** By author. */
  const lastSent = new Map<string, { height: bigint; round: number; preparedRound: number }>();

  function check(condition: boolean, checker: CheckerName, what: string): void {
    if (!condition && !blindTo.includes(checker)) throw new Violation(checker, what, nowMs());
  }

  function checkBound(count: number, limit: number, what: string): void {
    if (count > limit) check(false, "bounds", `${count} ${what}, where ${limit} may be`);
  }

  function isExcused(author: Address, height: bigint): boolean {
    return (excused.get(toDigits(author)) ?? -1n) >= height;
  }

  /** One digest per author, kind, height and round; the seal in a block counts as a Commit. */
  function checkDigest(author: Address, kind: string, height: bigint, round: number, about: string): void {
    if (isExcused(author, height)) return;
    const place = `${toDigits(author)} ${kind} ${height}/${round}`;
    const known = promised.get(place) ?? about;
    check(known === about, "promise", `two ${kind}s of one validator in ${height}/${round}`);
    promised.set(place, known);
  }

  function checkBroughtAlong({ signed: { payload } }: RoundChange, preparedRound: number): void {
    const brought = payload.prepared?.proposal.payload.round ?? -1;
    check(
      brought >= preparedRound,
      "promise",
      `a block prepared in round ${preparedRound} is not brought along`,
    );
  }

  /** A paused node emits no effects except the commit of a decided block, and may record that nothing is in doubt. */
  function checkPause(node: number, { kind }: Input, effects: readonly Effect[]): void {
    if (kind === "paused") held.add(node);
    if (kind === "resumed" || kind === "started") held.delete(node);
    if (!held.has(node)) return;
    const still: readonly Effect["kind"][] = ["commitBlock", "setRoundTimer", "recordVote"];
    const isStill = effects.every(({ kind: asked }) => still.includes(asked));
    check(isStill, "order", "a node that is held back takes part");
  }

  return {
    onTransition(node, { height: before }, input, { state: { height: after }, effects }) {
      check(effects.length <= EFFECTS_LIMIT, "bounds", `${effects.length} effects in one step`);
      checkPause(node, input, effects);
      check(effects.findIndex(({ kind }) => kind === "recordVote") <= 0, "order", "a promise comes first");
      if (after === undefined) return;
      const { validatorSet, messages, round } = after;
      const limit = 3 * KEPT_ROUNDS_PER_AUTHOR * validatorSet.validators.length;
      check(messages.length <= limit, "bounds", `${messages.length} messages in the set`);
      const { validation: trial } = round;
      if (trial?.result === "accepted" && before?.round.validation?.result !== "accepted") {
        const gap = findGap(trial.proposal, validatorSet);
        check(
          gap === undefined,
          "evidence",
          `a proposal in ${validatorSet.height}/${round.number} is taken: ${gap}`,
        );
      }
      if (before === undefined) return;
      check(validatorSet.height >= before.validatorSet.height, "order", "a height went back");
      const isSame = validatorSet.height === before.validatorSet.height;
      check(!isSame || round.number >= before.round.number, "order", "a round went back");
    },

    onRouter({ waiting, remembered }, limits, futureBytes) {
      checkBound(waiting.messages, limits.futureMessagesLimit, "messages of heights to come");
      checkBound(waiting.bytes, futureBytes, "bytes of messages of heights to come");
      checkBound(remembered.received, limits.duplicateMessageLimit, "received messages remembered");
      checkBound(remembered.sent, limits.gossipedHistoryLimit, "sent messages remembered");
    },

    onBuilt(hash) {
      built.add(toDigits(hash));
    },

    onMulticast(message) {
      const { kind, signed } = message;
      const { author } = signed;
      const { height, round } = signed.payload;
      if (isExcused(author, height)) return;
      const last = lastSent.get(toDigits(author)) ?? { height: -1n, round: 0, preparedRound: -1 };
      const isSameHeight = last.height === height;
      check(height >= last.height, "promise", `a word in ${height} after one in ${last.height}`);
      check(
        !isSameHeight || round >= last.round,
        "promise",
        `a word in ${height}/${round} after ${last.round}`,
      );
      const preparedRound = isSameHeight ? last.preparedRound : -1;
      if (message.kind === "roundChange") {
        checkBroughtAlong(message, preparedRound);
        const prepared = message.signed.payload.prepared?.proposal.payload.digest;
        checkDigest(author, kind, height, round, prepared === undefined ? "" : toDigits(prepared));
      } else {
        checkDigest(author, kind, height, round, toDigits(message.signed.payload.digest));
      }
      const isCommit = kind === "commit";
      lastSent.set(toDigits(author), { height, round, preparedRound: isCommit ? round : preparedRound });
    },

    onBlock(parent, block) {
      const { candidate, seals } = block;
      const { number } = candidate.header;
      const hash = toDigits(candidate.hash);
      check((agreed.get(number) ?? hash) === hash, "agreement", `two blocks at height ${number}`);
      agreed.set(number, hash);
      check(number === parent.header.number + 1n, "order", "heads rise by one");
      check(isSound(parent, candidate), "evidence", `block ${number} is invalid`);
      const { coinbase } = candidate.header;
      const isTrue = !isHonest(coinbase) || built.has(hash);
      check(isTrue, "evidence", `block ${number} votes for one who did not make it`);
      const { validators } = parent.tally;
      const sealers = validators.filter((validator) =>
        seals.some((seal) => isTokenOf(seal, validator, candidate.digest)),
      );
      const needed = quorum(validators.length);
      check(sealers.length >= needed, "evidence", `${sealers.length} of ${needed} seals at height ${number}`);
      check(
        sealers.length === seals.length,
        "evidence",
        `an invalid seal, or two of one validator, at height ${number}`,
      );
      const { round } = candidate.extra;
      for (const sealer of sealers.filter(isHonest)) {
        checkDigest(sealer, "commit", number, round, toDigits(candidate.digest));
      }
    },

    excuse(author, upTo) {
      excused.set(toDigits(author), upTo);
    },

    onRefusal(effect) {
      if (effect.kind === "reportEquivocation") {
        const { signed: first } = effect.first;
        if (isExcused(first.author, first.payload.height)) return;
        check(false, "promise", "an honest validator is reported");
        return;
      }
      const { kind, signed } = effect.message;
      const { height, round } = signed.payload;
      check(false, "order", `an honest ${kind} in ${height}/${round} is rejected: ${effect.error}`);
    },
  };
}
