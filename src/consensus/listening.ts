import { blockPeriodMs } from "../ibft/roundTimes.ts";
import type { Rules } from "../ibft/state.ts";
import type { Logger } from "../observability/logger.ts";
import type { Clock } from "../primitives/clock.ts";
import type { Engine } from "./engine.ts";
import type { KeyWatch } from "./keyWatch.ts";

/** What holds a validator back while it listens. */
export interface Hold {
  pause(reason: "listening"): void;
  resume(reason: "listening"): void;
}

/**
 * Holds a validator back for a moment after its start, so that what the network shows of its key comes before its first vote:
 * messages that validators return on connecting, blocks that it has signed, and answers to its ask (ibft2.md#lost-votes). Without
 * a connection to another validator nothing can be heard, nor would a vote be; the time counts from the first connection on.
 * The blocks that peers have beyond this node's come first: where the record of votes is an old copy, its lost votes may be in
 * the newest one alone. The listening ends
 *
 * - at once when all other validators are connected: each has one connection per key, so no second node is with them,
 *   unless our node has another key than our validator;
 * - when the ask had time for an answer, if this validator voted at this height before its restart: its record binds it, and the
 *   chain may stand;
 * - when as many blocks were made as there are validators, of which one would be that of a second node;
 * - when this node is silent by what it heard, which holds it back from then on;
 * - when no block came for a while, because the chain may need this validator;
 * - in any case after LONGEST_MS.
 */
export function listenFirst(
  {
    engine,
    hold,
    schedule,
    hasOtherNodeKey = false,
    isLevel = () => true,
    logger,
  }: {
    readonly engine: Pick<Engine, "shouldListen" | "votedAt" | "status"> & {
      readonly keyWatch: Pick<KeyWatch, "ask">;
    };
    readonly hold: Hold;
    readonly schedule: Rules["schedule"];
    /** Nodes of other keys may share our validator key. */
    readonly hasOtherNodeKey?: boolean;
    /** Whether the node has the blocks that a peer had when it connected, or could not get them; true unless given. */
    readonly isLevel?: () => boolean;
    readonly logger?: Logger;
  },
  clock: Pick<Clock, "nowMs" | "at">,
): void {
  if (!engine.shouldListen()) return;
  const startedMs = clock.nowMs();
  /** Undefined until the engine has taken its start from its queue. */
  let first: bigint | undefined;
  let last: { readonly height: bigint; readonly sinceMs: number } | undefined;
  /** Undefined while no other validator is connected. */
  let connectedMs: number | undefined;
  hold.pause("listening");

  function isOver(): boolean {
    const { height, members, silence } = engine.status();
    if (silence !== undefined) return true;
    const nowMs = clock.nowMs();
    const connected = members.filter(({ connections = 0 }) => connections > 0).length;
    connectedMs = connected === 0 ? undefined : (connectedMs ?? nowMs);
    if (connectedMs === undefined) return false;
    engine.keyWatch.ask();
    if (nowMs - connectedMs >= LONGEST_MS) return true;
    if (height === undefined || !isLevel()) return false;
    first ??= height;
    if (last?.height !== height) last = { height, sinceMs: nowMs };
    const others = members.length - 1;
    if (connected >= others && !hasOtherNodeKey) return true;
    if (engine.votedAt() === height && nowMs - connectedMs >= ANSWER_MS) return true;
    // Blocks that a node fetches at its start were made before.
    const turnsMs = members.length * blockPeriodMs(schedule, height);
    if (height >= first + BigInt(members.length) && nowMs - connectedMs >= turnsMs) return true;
    return nowMs - Math.max(last.sinceMs, connectedMs) >= 2 * blockPeriodMs(schedule, height) + STANDING_MS;
  }

  let isTold = false;

  function look(): void {
    if (isOver()) {
      hold.resume("listening");
      if (isTold) logger?.info({}, "this node has listened whether another one runs with its key");
      return;
    }
    if (!isTold && clock.nowMs() - startedMs >= TOLD_AFTER_MS) {
      isTold = true;
      logger?.info({ longestMs: LONGEST_MS }, TOLD);
    }
    clock.at(clock.nowMs() + LOOK_MS, look);
  }
  look();
}

const LONGEST_MS = 10_000;
/** Time within which another node with our key answers, even through a few others. */
const ANSWER_MS = 500;
/** Time beyond two block periods after which a chain without a new head counts as standing. */
const STANDING_MS = 1_000;
const LOOK_MS = 100;
/** Time after which the log tells of the listening; most starts have all their connections by then. */
const TOLD_AFTER_MS = 500;

const TOLD =
  "before its first vote this node listens whether another one runs with its key: until it is connected with all other " +
  `validators, and for ${LONGEST_MS / 1000} s at most after the first of them`;
