import type { Input, Rules, State } from "../ibft/state.ts";
import { isValidator } from "../ibft/validatorVotes.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock } from "../primitives/clock.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { ConsensusMetrics } from "./consensusMetrics.ts";
import { createNoticeSigner } from "./noticeSigner.ts";
import type { Outbox, RemoteSigner } from "./ports.ts";
import { type KeyNotice, type KeyNoticeKind, keyNoticePayload } from "./router/keyNotice.ts";
import { SharedKeys } from "./sharedKeys.ts";

/**
 * Performs what sharedKeys.ts decides: sends notices of one key on two nodes, reports others' to the operator, and makes the
 * state machine fall silent.
 */
export interface KeyWatch {
  /**
   * Called when this node observes that two nodes use the key of this address. Counted if it is a validator's; reported to
   * all when it is proven and this node is a validator.
   */
  seen(key: Address, sign: { readonly isProven: boolean }): void;
  /** Asks whether another node takes part with our key: one that does claims it. */
  ask(): void;
  /** Receives a notice; returns whether to relay it. */
  judge(notice: KeyNotice): boolean;
  /** Called when a validator has signed two blocks in one round. */
  equivocated(key: Address): void;
  /** Must be called after each step of the state machine: while another node signs with our key, we ask whether it still does. */
  stepped(before: State, after: State): void;
  end(): void;
}

interface KeyWatchParts {
  readonly rules: Pick<Rules, "self" | "sign">;
  readonly clock: Clock;
  readonly outbox: Outbox;
  /** Absent when the rules have the key. */
  readonly signer?: RemoteSigner | undefined;
  readonly metrics?: ConsensusMetrics | undefined;
  readonly state: () => State;
  readonly post: (input: Input) => void;
  readonly receivedNotice: (notice: KeyNotice) => void;
}

export function createKeyWatch(parts: KeyWatchParts): KeyWatch {
  const { rules, clock, outbox, metrics, state, post, receivedNotice } = parts;
  const { self } = rules;
  const sharedKeys = new SharedKeys();
  const noticeSigner = createNoticeSigner(parts, (message) => outbox.sendNotice?.(message));
  let hasEnded = false;

  function isOfValidator(key: Address): boolean {
    const { head } = state();
    return head !== undefined && isValidator(head.tally, key);
  }

  /** Sends a notice, if it is due and we are a validator. */
  function send(kind: KeyNoticeKind, key: Address): void {
    const atMs = Math.max(0, Math.floor(clock.nowMs()));
    if (!isOfValidator(key) || !sharedKeys.isDue(kind, key, atMs)) return;
    if (kind === "report") metrics?.sharedKeySeen();
    if (!isOfValidator(self)) return;
    sharedKeys.signed(atMs);
    const ageSeconds = (atMs - state().startedAtMs) / 1000;
    noticeSigner.send(keyNoticePayload({ kind, key, atMs, ageSeconds }));
  }

  function isOwnKeyInDoubt({ lastSigned }: State): boolean {
    return lastSigned?.doubt?.reason === "ownKey";
  }

  function askWhileInDoubt(): void {
    if (hasEnded || !isOwnKeyInDoubt(state())) return;
    send("ask", self);
    clock.at(clock.nowMs() + ASK_EVERY_MS, askWhileInDoubt);
  }

  return {
    seen(key, { isProven }) {
      if (isProven) send("report", key);
      else if (isOfValidator(key)) metrics?.sharedKeySeen();
    },
    ask: () => send("ask", self),
    judge(notice) {
      if (hasEnded || !isOfValidator(notice.key)) return false;
      const { startedAtMs, height } = state();
      const isTakingPart = height !== undefined;
      const judged = sharedKeys.judge(notice, { self, startedAtMs, nowMs: clock.nowMs(), isTakingPart });
      if (judged.isSign) {
        metrics?.sharedKeySeen();
        receivedNotice(notice);
        if (equalBytes(notice.author, self)) send("report", self);
      }
      if (judged.silences) post({ kind: "ownKeyClaimed" });
      if (judged.answer !== undefined) send(judged.answer, self);
      return judged.isNews;
    },
    equivocated: (key) => send("contradiction", key),
    stepped(before, after) {
      if (!isOwnKeyInDoubt(after) || after.lastSigned === before.lastSigned) return;
      send("report", self);
      if (!isOwnKeyInDoubt(before)) askWhileInDoubt();
    },
    end() {
      hasEnded = true;
      noticeSigner.end();
    },
  };
}

/** Interval between two questions to other nodes with our key while it is in doubt; we are silent for 10 s after a claim. */
const ASK_EVERY_MS = 2_000;
