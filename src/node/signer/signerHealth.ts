import type { Logger } from "../../observability/logger.ts";
import type { Clock } from "../../primitives/clock.ts";
import type { HttpErrorCode } from "./httpClient.ts";
import { REPEAT_MS, SLOW_SHARE } from "./limits.ts";

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

/** How the remote signer does, for `ibex status`. Durations are milliseconds. */
export interface SignerHealth {
  readonly url: string;
  /** Since when and why there is no signature; absent while it signs. */
  readonly failure?: { readonly reason: string; readonly lastsMs: number; readonly requests: number };
  /** Its last signature; absent before the first. */
  readonly last?: { readonly ageMs: number; readonly tookMs: number };
}

/** Remembers how the signer does, and tells it: failure at once, then now and then while it lasts, and its end. */
export interface HealthKeeper {
  failed(code: SignerErrorCode, reason: string): void;
  /** A round was over before an answer came: in a fast chain a signer that hangs would else never be noticed. */
  abandoned(waitedMs: number): void;
  /** It names our key again, or has signed. */
  works(tookMs?: number): void;
  readonly health: SignerHealth;
}

export interface HealthParts {
  /** Shown in log lines. */
  readonly url: string;
  /** Longest wait for one answer. */
  readonly answerMs: number;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger;
}

export function createHealthKeeper({ url, answerMs, clock, logger }: HealthParts): HealthKeeper {
  let failing: { readonly sinceMs: number; toldMs: number; requests: number; reason: string } | undefined;
  let last: { readonly atMs: number; readonly tookMs: number } | undefined;
  /** Time for which answers were awaited that came too late, since the last signature. */
  let inVainMs = 0;
  let slowToldMs = Number.NEGATIVE_INFINITY;

  function tellIfSlow(tookMs: number): void {
    const nowMs = clock.nowMs();
    if (tookMs <= SLOW_SHARE * answerMs || nowMs - slowToldMs < REPEAT_MS) return;
    slowToldMs = nowMs;
    logger.warn(
      { url, tookMs: Math.round(tookMs), longestMs: answerMs },
      "the remote signer is slow: a block takes three signatures after one another, so this validator proposes and votes " +
        "late, and its rounds may fail. Is its host busy, or the way to it long? The metric is bft_signer_request_seconds",
    );
  }

  const failed = (code: SignerErrorCode, reason: string): void => {
    const nowMs = clock.nowMs();
    const isFirst = failing === undefined;
    failing ??= { sinceMs: nowMs, toldMs: nowMs, requests: 0, reason };
    failing.requests++;
    failing.reason = reason;
    if (!isFirst && nowMs - failing.toldMs < REPEAT_MS) return;
    failing.toldMs = nowMs;
    const seconds = Math.round((nowMs - failing.sinceMs) / 1000);
    logger.warn(
      { url, reason, requests: failing.requests, seconds },
      "the remote signer gives no signature: this validator neither proposes nor votes until it does, and the chain needs " +
        `the others. ${ADVICE[code]}`,
    );
  };

  return {
    failed,
    abandoned(waitedMs) {
      inVainMs += waitedMs;
      if (inVainMs < answerMs) return;
      inVainMs = 0;
      failed("late", "its answers come later than the end of their rounds, or not at all");
    },
    works(tookMs) {
      inVainMs = 0;
      if (failing !== undefined) {
        const seconds = Math.round((clock.nowMs() - failing.sinceMs) / 1000);
        logger.info({ url, requests: failing.requests, seconds }, "the remote signer is there again");
        failing = undefined;
      }
      if (tookMs === undefined) return;
      last = { atMs: clock.nowMs(), tookMs };
      tellIfSlow(tookMs);
    },
    get health() {
      const nowMs = clock.nowMs();
      return {
        url,
        ...(failing !== undefined && {
          failure: {
            reason: failing.reason,
            lastsMs: nowMs - failing.sinceMs,
            requests: failing.requests,
          },
        }),
        ...(last !== undefined && { last: { ageMs: nowMs - last.atMs, tookMs: last.tookMs } }),
      };
    },
  };
}

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
