import { uptime } from "node:os";
import type { SignedTimes } from "../../consensus/monitor/signedTimes.ts";
import type { Logger } from "../../observability/logger.ts";
import { type Clock, systemClock } from "../../primitives/clock.ts";
import { createMonotonicClock, STEP_LASTS_MS } from "../../primitives/monotonicClock.ts";

/** The node's clock, which warns the operator when this machine's clock is set. */
export function createNodeClock(logger: Logger, signedTimes: Pick<SignedTimes, "confirm">): Clock {
  return createMonotonicClock({
    wallMs: () => systemClock.nowMs(),
    monotonicMs: () => performance.now(),
    sinceBootMs: () => uptime() * 1000,
    onStep: (stepMs) =>
      logger.warn(
        { stepMs: Math.round(stepMs) },
        `this machine's clock was set ${describeStep(stepMs)}; blocks use the previous time for ${STEP_LASTS_MS / 1000} s, ` +
          "or until enough other validators sign times that agree with the new one. If the new time is wrong, correct it in the meantime (timedatectl, chronyc tracking)",
      ),
    isConfirmed: (wallMs, stepMs) => signedTimes.confirm(wallMs, stepMs),
    onReturn: () =>
      logger.info({}, "this machine's clock was set back to the previous time; no block has the other time"),
    onFollow: (stepMs, why) =>
      logger.warn(
        { stepMs: Math.round(stepMs) },
        why === "lasted"
          ? `this machine's clock has stayed ${describeStep(stepMs)}, and blocks use it from now on`
          : `this machine's clock was set ${describeStep(stepMs)}, other validators sign times that agree with it, and blocks use it from now on`,
      ),
  });
}

function describeStep(stepMs: number): string {
  const seconds = Math.round(Math.abs(stepMs) / 1000);
  return `${seconds} s ${stepMs > 0 ? "ahead" : "back"}`;
}
