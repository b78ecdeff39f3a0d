import type { SignedMessage } from "../../ibft/message.ts";
import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { equalBytes } from "../../primitives/hex.ts";

/**
 * Derives the time from what other validators have signed: the timestamp of a proposal is at most a second above its
 * proposer's clock, and close to it when the block was newly built. If more than f of them agree with a time, at least one
 * honest clock does (f = floor((n - 1) / 3), ibft2.md#block-timestamps).
 *
 * Times are kept on a clock that nobody can set, so that those from before this machine's clock was set count, too.
 */
export class SignedTimes {
  private readonly sinceBootMs: () => number;
  private self: Address | undefined;
  private validators: readonly Address[] = [];
  /** Milliseconds by which each validator's last timestamps were ahead of the time since boot, keyed by its address. */
  private readonly aheadMs = new Map<string, readonly Kept[]>();
  private askedAtMs = Number.NEGATIVE_INFINITY;

  /** `sinceBootMs` cannot be set, and counts while the system sleeps. */
  constructor(sinceBootMs: () => number) {
    this.sinceBootMs = sinceBootMs;
  }

  /** Sets the validators of the height in progress. Other validators' times are forgotten. */
  setValidators(validators: readonly Address[], self: Address): void {
    this.validators = validators;
    this.self = self;
    const keys = new Set(validators.map(toKey));
    for (const key of this.aheadMs.keys()) if (!keys.has(key)) this.aheadMs.delete(key);
  }

  /** Receives a message that arrived `waitedMs` ago. */
  received(message: SignedMessage, waitedMs: number): void {
    if (message.kind !== "proposal") return;
    const { author } = message.signed;
    if (!this.isOther(author)) return;
    const atMs = this.sinceBootMs() - waitedMs;
    const aheadMs = Number(message.candidate.header.timestamp) * 1000 - atMs;
    const kept = [...(this.aheadMs.get(toKey(author)) ?? []), { aheadMs, atMs }];
    this.aheadMs.set(toKey(author), kept.slice(-TIMES_OF_VALIDATOR));
  }

  /**
   * Whether more than f other validators have signed times that agree with the clock, which shows `wallMs` and was set by
   * `stepMs`, better than with the clock before that.
   */
  confirm(wallMs: number, stepMs: number): boolean {
    const nowMs = this.sinceBootMs();
    this.askedAtMs = nowMs;
    const withinMs = Math.min(AGREES_WITHIN_MS, Math.abs(stepMs) / 2);
    let agreeing = 0;
    for (const times of this.aheadMs.values()) {
      const agrees = ({ aheadMs, atMs }: Kept): boolean =>
        nowMs - atMs < KEPT_MS && Math.abs(aheadMs + nowMs - wallMs) <= withinMs;
      if (times.some(agrees)) agreeing += 1;
    }
    return agreeing > Math.floor((this.validators.length - 1) / 3);
  }

  /** Whether the clock was set and awaits confirmation: messages of later heights are then read for their times, too. */
  get isSampling(): boolean {
    return this.sinceBootMs() - this.askedAtMs < WANTED_MS;
  }

  private isOther(author: Address): boolean {
    if (this.self === undefined || equalBytes(author, this.self)) return false;
    return this.validators.some((validator) => equalBytes(validator, author));
  }
}

interface Kept {
  readonly aheadMs: number;
  readonly atMs: number;
}

/** Number of times kept per validator: a slow link, or a block that is proposed again, delays one. */
const TIMES_OF_VALIDATOR = 3;
/**
 * Largest difference that counts as agreement: timestamps are whole seconds, and a large block takes time to build and to
 * arrive.
 */
const AGREES_WITHIN_MS = 3_000;
/** How long times are kept: clocks drift by a few milliseconds meanwhile. */
const KEPT_MS = 10 * 60_000;
/** How long a request for confirmation stands: the clock repeats it at each reading. */
const WANTED_MS = 5_000;
