import { blockPeriodMs } from "../ibft/roundTimes.ts";
import type { Rules } from "../ibft/state.ts";
import type { Logger } from "../observability/logger.ts";
import type { Clock } from "../primitives/clock.ts";
import type { Engine } from "./engine.ts";
import type { ConsensusStatus } from "./monitor/status.ts";
import type { SharedKeyWatch } from "./sharedKey/watch.ts";

/** The pause that holds a validator back while it listens. */
interface Hold {
  pause(reason: "listening"): void;
  resume(reason: "listening"): void;
}

/**
 * Holds a validator back for a moment after its start, so that the network's evidence about its key arrives before its first
 * vote: messages that validators return on connecting, blocks that it has signed, and answers to its ask
 * (ibft2.md#lost-votes). Without a connection to another validator no message can arrive, nor would a vote reach anyone; the
 * time counts from the first connection on. The blocks that peers have beyond this node's come first: if the record of votes
 * is an old copy, its lost votes may be only in the newest one. The listening ends
 *
 * - at once when all other validators are connected: each keeps one connection per key, so no second node is connected to
 *   them, unless our node's key differs from our validator's;
 * - when the ask has had time for an answer, if this validator voted at this height before its restart: its record binds it,
 *   and the chain may be stalled;
 * - when as many blocks were made as there are validators, because one of them would be a second node's;
 * - when a message has made this node silent, which holds it back from then on;
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
      readonly keyWatch: Pick<SharedKeyWatch, "ask">;
    };
    readonly hold: Hold;
    readonly schedule: Rules["schedule"];
    /** Nodes of other keys may share our validator key. */
    readonly hasOtherNodeKey?: boolean;
    /** Whether the node has, or could not get, the blocks that a peer had when it connected; true unless given. */
    readonly isLevel?: () => boolean;
    readonly logger?: Logger;
  },
  clock: Pick<Clock, "nowMs" | "at">,
): void {
  if (!engine.shouldListen()) return;
  const startedMs = clock.nowMs();
  /** The first height; undefined until the engine has read the start from its queue. */
  let first: bigint | undefined;
  let last: { readonly height: bigint; readonly sinceMs: number } | undefined;
  /** When the first other validator connected; undefined while none is. */
  let connectedMs: number | undefined;
  hold.pause("listening");

  function isOver({ height, members, silence }: ConsensusStatus): boolean {
    if (silence !== undefined) return true;
    if (connectedMs === undefined) return false;
    const nowMs = clock.nowMs();
    if (nowMs - connectedMs >= LONGEST_MS) return true;
    if (height === undefined || !isLevel()) return false;
    first ??= height;
    if (last?.height !== height) last = { height, sinceMs: nowMs };
    if (connectedOf(members) >= members.length - 1 && !hasOtherNodeKey) return true;
    if (engine.votedAt() === height && nowMs - connectedMs >= ANSWER_MS) return true;
    // Blocks that a node fetches at its start were made earlier, so they do not count.
    const turnsMs = members.length * blockPeriodMs(schedule, height);
    if (height >= first + BigInt(members.length) && nowMs - connectedMs >= turnsMs) return true;
    return nowMs - Math.max(last.sinceMs, connectedMs) >= 2 * blockPeriodMs(schedule, height) + STANDING_MS;
  }

  let isAnnounced = false;

  function check(): void {
    const status = engine.status();
    connectedMs = connectedOf(status.members) === 0 ? undefined : (connectedMs ?? clock.nowMs());
    if (connectedMs !== undefined && status.silence === undefined) engine.keyWatch.ask();
    if (isOver(status)) {
      hold.resume("listening");
      if (isAnnounced) logger?.info({}, "this node has finished listening for another node with its key");
      return;
    }
    if (!isAnnounced && clock.nowMs() - startedMs >= ANNOUNCED_AFTER_MS) {
      isAnnounced = true;
      logger?.info({ longestMs: LONGEST_MS }, LISTENING);
    }
    clock.at(clock.nowMs() + CHECK_MS, check);
  }
  check();
}

/** Number of members that are connected. */
function connectedOf(members: ConsensusStatus["members"]): number {
  return members.filter(({ connections = 0 }) => connections > 0).length;
}

const LONGEST_MS = 10_000;
/** Time within which another node with our key answers, even through a few others. */
const ANSWER_MS = 500;
/** Time beyond two block periods after which a chain without a new head counts as stalled. */
const STANDING_MS = 1_000;
const CHECK_MS = 100;
/** Time after which the log mentions the listening; most starts have all their connections by then. */
const ANNOUNCED_AFTER_MS = 500;

const LISTENING =
  "before its first vote this node listens for another node with its key: until it is connected to all other " +
  `validators, and for ${LONGEST_MS / 1000} s at most after the first one`;
