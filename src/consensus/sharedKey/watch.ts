import type { Input, Rules, State } from "../../ibft/state.ts";
import { isValidator } from "../../ibft/validatorVotes.ts";
import type { Address } from "../../primitives/address.ts";
import type { Clock } from "../../primitives/clock.ts";
import { equalBytes } from "../../primitives/hex.ts";
import type { ConsensusMetrics } from "../consensusMetrics.ts";
import type { Outbox, RemoteSigner } from "../ports.ts";
import { type KeyNotice, type KeyNoticeKind, keyNoticePayload } from "./notice.ts";
import { NoticeSigner } from "./noticeSigner.ts";
import { SharedKeyRules } from "./rules.ts";

interface SharedKeyWatchParts {
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

/**
 * Performs what the rules decide (rules.ts): sends notices of one key on two nodes, reports others' to the operator, and makes the
 * state machine fall silent.
 */
export class SharedKeyWatch {
  private readonly parts: SharedKeyWatchParts;
  private readonly sharedKeyRules = new SharedKeyRules();
  private readonly noticeSigner: NoticeSigner;
  private hasEnded = false;

  constructor(parts: SharedKeyWatchParts) {
    this.parts = parts;
    this.noticeSigner = new NoticeSigner(parts, (message) => parts.outbox.sendNotice?.(message));
  }

  /**
   * Called when this node observes that two nodes use the key of this address. Counted if it is a validator's; reported to
   * all when it is proven and this node is a validator.
   */
  seen(key: Address, { isProven }: { readonly isProven: boolean }): void {
    if (isProven) this.send("report", key);
    else if (this.isOfValidator(key)) this.parts.metrics?.sharedKeySeen();
  }

  /** Asks whether another node takes part with our key: one that does claims it. */
  ask(): void {
    this.send("ask", this.parts.rules.self);
  }

  /** Receives a notice; returns whether to relay it. */
  judge(notice: KeyNotice): boolean {
    if (this.hasEnded || !this.isOfValidator(notice.key)) return false;
    const { startedAtMs, height } = this.parts.state();
    const isTakingPart = height !== undefined;
    const judged = this.sharedKeyRules.judge(notice, {
      self: this.parts.rules.self,
      startedAtMs,
      nowMs: this.parts.clock.nowMs(),
      isTakingPart,
    });
    if (judged.isSign) {
      this.parts.metrics?.sharedKeySeen();
      this.parts.receivedNotice(notice);
      if (equalBytes(notice.author, this.parts.rules.self)) this.send("report", this.parts.rules.self);
    }
    if (judged.silences) this.parts.post({ kind: "ownKeyClaimed" });
    if (judged.answer !== undefined) this.send(judged.answer, this.parts.rules.self);
    return judged.isNews;
  }

  /** Called when a validator has signed two blocks in one round. */
  equivocated(key: Address): void {
    this.send("contradiction", key);
  }

  /** Must be called after each step of the state machine: while another node signs with our key, we ask whether it still does. */
  stepped(before: State, after: State): void {
    if (!this.isOwnKeyInDoubt(after) || after.lastSigned === before.lastSigned) return;
    this.send("report", this.parts.rules.self);
    if (!this.isOwnKeyInDoubt(before)) this.askWhileInDoubt();
  }

  end(): void {
    this.hasEnded = true;
    this.noticeSigner.end();
  }

  private isOfValidator(key: Address): boolean {
    const { head } = this.parts.state();
    return head !== undefined && isValidator(head.tally, key);
  }

  /** Sends a notice, if it is due and we are a validator. */
  private send(kind: KeyNoticeKind, key: Address): void {
    const atMs = Math.max(0, Math.floor(this.parts.clock.nowMs()));
    if (!this.isOfValidator(key) || !this.sharedKeyRules.isDue(kind, key, atMs)) return;
    if (kind === "report") this.parts.metrics?.sharedKeySeen();
    if (!this.isOfValidator(this.parts.rules.self)) return;
    this.sharedKeyRules.signed(atMs);
    const ageSeconds = (atMs - this.parts.state().startedAtMs) / 1000;
    this.noticeSigner.send(keyNoticePayload({ kind, key, atMs, ageSeconds }));
  }

  private isOwnKeyInDoubt({ lastSigned }: State): boolean {
    return lastSigned?.doubt?.reason === "ownKey";
  }

  private askWhileInDoubt(): void {
    if (this.hasEnded || !this.isOwnKeyInDoubt(this.parts.state())) return;
    this.send("ask", this.parts.rules.self);
    this.parts.clock.at(this.parts.clock.nowMs() + ASK_EVERY_MS, () => this.askWhileInDoubt());
  }
}

/** Interval between two questions to other nodes with our key while it is in doubt; we are silent for 10 s after a claim. */
const ASK_EVERY_MS = 2_000;
