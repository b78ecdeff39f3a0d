import { uptime } from "node:os";
import type { Logger } from "../observability/logger.ts";
import { type Clock, systemClock } from "../primitives/clock.ts";
import { createMonotonicClock, STEP_LASTS_MS } from "../primitives/monotonicClock.ts";

/** The clock that a node lives by, which tells the operator when somebody sets the machine's. */
export function createNodeClock(logger: Logger): Clock {
  return createMonotonicClock({
    wallMs: () => systemClock.nowMs(),
    monotonicMs: () => performance.now(),
    sinceBootMs: () => uptime() * 1000,
    onStep: (stepMs) =>
      logger.warn(
        { stepMs: Math.round(stepMs) },
        `the machine's clock was set ${inWords(stepMs)}; blocks keep to the time before for ${STEP_LASTS_MS / 1000} s. ` +
          "If the new time is wrong, set it right meanwhile (timedatectl, chronyc tracking)",
      ),
    onReturn: () =>
      logger.info({}, "the machine's clock is back where it was; no block bears the other time"),
    onFollow: (stepMs) =>
      logger.warn(
        { stepMs: Math.round(stepMs) },
        `the machine's clock has stayed ${inWords(stepMs)}, and is followed from now on`,
      ),
  });
}

function inWords(stepMs: number): string {
  const seconds = Math.round(Math.abs(stepMs) / 1000);
  return `${seconds} s ${stepMs > 0 ? "ahead" : "back"}`;
}
