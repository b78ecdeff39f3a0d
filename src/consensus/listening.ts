import { blockPeriodMs } from "../ibft/roundTimes.ts";
import type { Rules } from "../ibft/state.ts";
import type { Clock } from "../primitives/clock.ts";
import type { Engine } from "./engine.ts";

/** What holds a validator back while it listens. */
export interface Hold {
  pause(reason: "listening"): void;
  resume(reason: "listening"): void;
}

/**
 * Holds a validator back for a moment after its start, so that what the network shows of its key (messages that validators
 * return on connecting, blocks that it has signed) comes before its first vote (ibft2.md#lost-votes). A validator that
 * voted at this height before its restart does not listen: its record binds it. The listening ends
 *
 * - at once when all other validators are connected: each has one connection per key, so no second node is with them,
 *   unless our node has another key than our validator;
 * - when as many blocks were made as there are validators, of which one would be that of a second node;
 * - when no block came for a while, because the chain may need this validator;
 * - in any case after LONGEST_MS.
 */
export function listenFirst(
  {
    engine,
    hold,
    schedule,
    hasOtherNodeKey = false,
  }: {
    readonly engine: Pick<Engine, "shouldListen" | "status">;
    readonly hold: Hold;
    readonly schedule: Rules["schedule"];
    /** Nodes of other keys may share our validator key. */
    readonly hasOtherNodeKey?: boolean;
  },
  clock: Pick<Clock, "nowMs" | "at">,
): void {
  if (!engine.shouldListen()) return;
  const startedMs = clock.nowMs();
  /** Undefined until the engine has taken its start from its queue. */
  let first: bigint | undefined;
  let last: { readonly height: bigint; readonly sinceMs: number } | undefined;
  hold.pause("listening");

  function isOver(): boolean {
    const { height, members } = engine.status();
    const nowMs = clock.nowMs();
    if (nowMs - startedMs >= LONGEST_MS) return true;
    if (height === undefined) return false;
    first ??= height;
    if (last?.height !== height) last = { height, sinceMs: nowMs };
    const others = members.length - 1;
    const connected = members.filter(({ connections = 0 }) => connections > 0).length;
    if (connected >= others && !hasOtherNodeKey) return true;
    if (height >= first + BigInt(members.length)) return true;
    return nowMs - last.sinceMs >= 2 * blockPeriodMs(schedule, height) + STANDING_MS;
  }

  function look(): void {
    if (isOver()) hold.resume("listening");
    else clock.at(clock.nowMs() + LOOK_MS, look);
  }
  look();
}

const LONGEST_MS = 10_000;
/** Beyond two block periods. */
const STANDING_MS = 1_000;
const LOOK_MS = 100;
