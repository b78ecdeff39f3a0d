import type { Clock } from "../../../primitives/clock.ts";
import { IngressBudget } from "../../../primitives/ingressBudget.ts";
import { HANDSHAKES_BURST_MS, HANDSHAKES_TIME_SHARE } from "./handshakeLimits.ts";

/** The share of a thread's time that handshakes have, those of all its servers together; remote hosts take turns. */
export type HandshakeTime = Pick<IngressBudget, "take" | "withdraw" | "spend">;

export function createHandshakeTime(clock: Clock): HandshakeTime {
  return new IngressBudget(clock, { share: HANDSHAKES_TIME_SHARE, burstMs: HANDSHAKES_BURST_MS });
}
