import type { Logger } from "../../observability/logger.ts";
import type { Clock } from "../../primitives/clock.ts";
import type { HttpErrorCode } from "./httpClient.ts";
import { FLAPPING_MS, REPEAT_MS, SLOW_SHARE } from "./limits.ts";

/** Why a request gave no signature. */
export const SIGNER_ERRORS = [
  "unreachable",
  "timeout",
  "tooLarge",
  "refused",
  "unknownKey",
  "malformed",
  "wrongSignature",
  "late",
] as const;

/** `late`: the round was over before the answer came. */
export type SignerErrorCode = HttpErrorCode | (typeof SIGNER_ERRORS)[number];

/** The condition of the remote signer, for `ibex status`. Durations are milliseconds. */
export interface SignerHealth {
  readonly url: string;
  /** Why the signer does not sign, and for how long it has not; absent while it signs. */
  readonly failure?: { readonly reason: string; readonly lastsMs: number; readonly requests: number };
  /** The last signature; absent before the first. */
  readonly last?: { readonly ageMs: number; readonly tookMs: number };
  /** Whether recent answers were slow on average. */
  readonly isSlow: boolean;
}

interface HealthParts {
  /** Shown in log lines. */
  readonly url: string;
  /** Longest wait for one answer. */
  readonly answerMs: number;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger;
}

interface Failing {
  readonly sinceMs: number;
  readonly requests: number;
  readonly reason: string;
  readonly isSure: boolean;
  readonly isTold: boolean;
}

/**
 * Tracks the condition of the signer, and logs it: a failure once several requests in a row have shown it, again from time to
 * time while it lasts, and its end.
 */
export class SignerWatch {
  private readonly parts: HealthParts;
  private failing: Failing | undefined;
  private last: { readonly atMs: number; readonly tookMs: number } | undefined;
  /** Time for which answers were awaited that came too late, since the last signature. */
  private inVainMs = 0;
  /** Mean time of the last answers, the newer the weightier; it begins at 0, because a signer that has just started is slow at first. */
  private typicalMs = 0;
  private failureToldMs = Number.NEGATIVE_INFINITY;
  private slowToldMs = Number.NEGATIVE_INFINITY;

  constructor(parts: HealthParts) {
    this.parts = parts;
  }

  /** A request failed; `isSure` when that alone is enough to log it. */
  failed(code: SignerErrorCode, reason: string, isSure = false): void {
    const nowMs = this.parts.clock.nowMs();
    const { sinceMs = nowMs, requests = 0, isTold = false, isSure: wasSure = false } = this.failing ?? {};
    const next = { sinceMs, requests: requests + 1, reason, isTold };
    this.failing = { ...next, isSure: isSure || wasSure || next.requests >= REQUESTS_UNTIL_SURE };
    if (!this.failing.isSure || nowMs - this.failureToldMs < (isTold ? REPEAT_MS : FLAPPING_MS)) return;
    this.failureToldMs = nowMs;
    this.failing = { ...this.failing, isTold: true };
    const seconds = Math.round((nowMs - sinceMs) / 1000);
    this.parts.logger.warn(
      { url: this.parts.url, reason, requests: next.requests, seconds },
      "the remote signer does not sign: this validator neither proposes nor votes until it does, and the chain needs " +
        `the others. ${ADVICE[code]}`,
    );
  }

  /** A round was over before an answer came: in a fast chain a signer that hangs would otherwise never be noticed. */
  abandoned(waitedMs: number): void {
    this.inVainMs += waitedMs;
    if (this.inVainMs < WAITS_UNTIL_LATE * this.parts.answerMs) return;
    this.inVainMs = 0;
    this.failed("late", "its answers come later than the end of their rounds, or not at all", true);
  }

  /** The signer names our key again, or has signed. */
  works(tookMs?: number): void {
    const { clock, logger, url } = this.parts;
    const nowMs = clock.nowMs();
    this.inVainMs = 0;
    if (this.failing?.isTold === true) {
      const { sinceMs, requests } = this.failing;
      const seconds = Math.round((nowMs - sinceMs) / 1000);
      logger.info({ url, requests, seconds }, "the remote signer is signing again");
    }
    this.failing = undefined;
    if (tookMs === undefined) return;
    this.last = { atMs: nowMs, tookMs };
    this.typicalMs += NEWEST_SHARE * (tookMs - this.typicalMs);
    if (this.isSlow()) this.tellSlow(nowMs);
  }

  get health(): SignerHealth {
    const { failing, last } = this;
    const nowMs = this.parts.clock.nowMs();
    return {
      url: this.parts.url,
      ...(failing?.isSure === true && {
        failure: {
          reason: failing.reason,
          lastsMs: nowMs - failing.sinceMs,
          requests: failing.requests,
        },
      }),
      ...(last !== undefined && { last: { ageMs: nowMs - last.atMs, tookMs: last.tookMs } }),
      isSlow: this.isSlow(),
    };
  }

  private isSlow(): boolean {
    return this.typicalMs > SLOW_SHARE * this.parts.answerMs;
  }

  private tellSlow(nowMs: number): void {
    if (nowMs - this.slowToldMs < REPEAT_MS) return;
    this.slowToldMs = nowMs;
    const { url, answerMs, logger } = this.parts;
    logger.warn(
      { url, tookMs: Math.round(this.typicalMs), longestMs: answerMs },
      "the remote signer is slow: a block takes three signatures after one another, so this validator proposes and votes " +
        "late, and its rounds may fail. Is its host busy, or the network path to it long? The metric is bft_signer_request_seconds",
    );
  }
}

/** Waits in vain after which answers count as late, each of the longest duration; two requests of a round wait at the same time. */
const WAITS_UNTIL_LATE = 4;
/** Failed requests in a row that prove a failure: one or two are repeated within the round, and cost nothing. */
const REQUESTS_UNTIL_SURE = 3;
/** Weight of an answer in what is typical. */
const NEWEST_SHARE = 0.1;

const IS_IT_THERE = "Does it run, and answer /upcheck from this host?";
const IS_IT_ONE = "Is the URL that of a Web3Signer that runs as 'web3signer eth1'?";

const ADVICE: Readonly<Record<SignerErrorCode, string>> = {
  unreachable: IS_IT_THERE,
  timeout: IS_IT_THERE,
  late: IS_IT_THERE,
  tooLarge: IS_IT_ONE,
  malformed: IS_IT_ONE,
  refused: "Its own log says why; with status 403 its --http-host-allowlist lacks the host of the URL",
  unknownKey: "Load the key, and have it read its keys again with POST /reload",
  wrongSignature: "It signs with another key than it names; nothing of that is sent to anyone",
};
