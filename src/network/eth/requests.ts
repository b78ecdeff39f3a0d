import type { Clock, Timer } from "../../primitives/clock.ts";
import { err, ok, type Result } from "../../primitives/result.ts";
import {
  ANSWER_PROGRESS_BYTES,
  LONGEST_ANSWER_MS,
  MAX_OUTSTANDING_REQUESTS,
  MAX_REMEMBERED_TIMEOUTS,
  MAX_TIMEOUTS,
  REQUEST_TIMEOUT_MS,
} from "./limits.ts";
import { CODES } from "./message.ts";
import { withRequestId } from "./messages.ts";

/** What we ask peers for, by the kind of the answer. */
export type AnswerKind = "blockHeaders" | "blockBodies" | "pooledTransactions";

export type RequestErrorCode = "timedOut" | "busy" | "peerGone";

/** What an answer was to us. Late ones come after their time, and are no offence; unasked ones are. */
export type AnswerVerdict = "taken" | "late" | "useless" | "unasked";

/**
 * The questions to one peer (p2p.md#requests-and-limits): ids count from 1 for each kind, five may be open at
 * a time, each for 5 s, or longer while the peer is sending something. An answer may come over any connection
 * of the peer.
 */
export interface Requests {
  /** The body of the answer, undecoded. */
  ask(kind: AnswerKind, body: Uint8Array): Promise<Result<Uint8Array, RequestErrorCode>>;
  answer(kind: AnswerKind, requestId: bigint, body: Uint8Array): AnswerVerdict;
  /** The peer is gone: open questions fail, and so do later ones. */
  close(): void;
}

const QUESTIONS: Readonly<Record<AnswerKind, number>> = {
  blockHeaders: CODES.getBlockHeaders,
  blockBodies: CODES.getBlockBodies,
  pooledTransactions: CODES.getPooledTransactions,
};

interface Open {
  readonly kind: AnswerKind;
  timer: Timer;
  readonly settle: (outcome: Result<Uint8Array, RequestErrorCode>) => void;
}

export function createRequests(parts: {
  readonly clock: Clock;
  readonly send: (code: number, payload: Uint8Array) => boolean;
  /** No answer in time; `isHopeless` when that was so several times in a row for one kind. */
  readonly onTimeout: (isHopeless: boolean) => void;
  /** What came from the peer so far, in bytes. */
  readonly receivedBytes: () => number;
}): Requests {
  const { clock, receivedBytes } = parts;
  const open = new Map<string, Open>();
  const givenUp = new Set<string>();
  const lastIds = new Map<AnswerKind, bigint>();
  const timeouts = new Map<AnswerKind, number>();
  let isClosed = false;

  const isAwaited = (kind: AnswerKind): boolean => [...open.values()].some((other) => other.kind === kind);

  function giveUp(key: string, kind: AnswerKind): void {
    const request = open.get(key);
    open.delete(key);
    givenUp.add(key);
    for (const oldest of givenUp) {
      if (givenUp.size <= MAX_REMEMBERED_TIMEOUTS) break;
      givenUp.delete(oldest);
    }
    const count = (timeouts.get(kind) ?? 0) + 1;
    timeouts.set(kind, count);
    request?.settle(failed("timedOut", `no ${kind} within ${REQUEST_TIMEOUT_MS} ms`));
    parts.onTimeout(count >= MAX_TIMEOUTS);
  }

  /** Gives up in 5 s, or looks again if enough came by then. */
  function setAlarm(key: string, kind: AnswerKind, lastMs: number): Timer {
    const before = receivedBytes();
    return clock.at(clock.nowMs() + REQUEST_TIMEOUT_MS, () => {
      const request = open.get(key);
      const isComing = receivedBytes() - before >= ANSWER_PROGRESS_BYTES && clock.nowMs() < lastMs;
      if (isComing && request !== undefined) request.timer = setAlarm(key, kind, lastMs);
      else giveUp(key, kind);
    });
  }

  return {
    async ask(kind, body) {
      if (isClosed) return failed("peerGone", "the peer is gone");
      if (open.size >= MAX_OUTSTANDING_REQUESTS) return failed("busy", "too many questions are open");
      const requestId = (lastIds.get(kind) ?? 0n) + 1n;
      lastIds.set(kind, requestId);
      const key = `${kind} ${requestId}`;
      return new Promise((resolve) => {
        const timer = setAlarm(key, kind, clock.nowMs() + LONGEST_ANSWER_MS);
        open.set(key, { kind, timer, settle: resolve });
        if (parts.send(QUESTIONS[kind], withRequestId(requestId, body))) return;
        timer.cancel();
        open.delete(key);
        resolve(failed("peerGone", "the peer cannot be reached"));
      });
    },
    answer(kind, requestId, body) {
      const key = `${kind} ${requestId}`;
      const request = open.get(key);
      if (request === undefined) {
        if (givenUp.delete(key)) return "late";
        return isAwaited(kind) ? "useless" : "unasked";
      }
      request.timer.cancel();
      open.delete(key);
      timeouts.delete(kind);
      request.settle(ok(body));
      return "taken";
    },
    close() {
      isClosed = true;
      for (const { timer, settle } of open.values()) {
        timer.cancel();
        settle(failed("peerGone", "the peer is gone"));
      }
      open.clear();
    },
  };
}

function failed(code: RequestErrorCode, message: string): Result<never, RequestErrorCode> {
  return err({ code, fault: code === "busy" ? "local" : "peer", message });
}
