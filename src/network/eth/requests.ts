import type { Clock, Timer } from "../../primitives/clock.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import {
  LONGEST_RESPONSE_MS,
  MAX_OUTSTANDING_REQUESTS,
  MAX_REMEMBERED_TIMEOUTS,
  MAX_TIMEOUTS,
  REQUEST_TIMEOUT_MS,
  RESPONSE_PROGRESS_BYTES,
} from "./limits.ts";
import { CODES } from "./messages.ts";
import { withRequestId } from "./wireWriter.ts";

/** Kinds of requests to peers, named by their responses. */
export type ResponseKind = "blockHeaders" | "blockBodies" | "pooledTransactions";

export type RequestErrorCode = "timedOut" | "busy" | "peerGone";

/**
 * How a response matched the open requests. `late` ones arrive after the timeout and are no offence; `unsolicited` ones
 * are.
 */
type ResponseStatus = "accepted" | "late" | "unmatched" | "unsolicited";

const REQUEST_CODES: Readonly<Record<ResponseKind, number>> = {
  blockHeaders: CODES.getBlockHeaders,
  blockBodies: CODES.getBlockBodies,
  pooledTransactions: CODES.getPooledTransactions,
};

interface Open {
  readonly kind: ResponseKind;
  readonly timer: Timer;
  readonly settle: (result: Result<Uint8Array, RequestErrorCode>) => void;
}

interface RequestsParts {
  readonly clock: Clock;
  readonly send: (code: number, payload: Uint8Array) => boolean;
  /** Called when a request timed out; `isRepeated` after several consecutive ones of one kind. */
  readonly onTimeout: (isRepeated: boolean) => void;
  /** Bytes received from the peer so far. */
  readonly receivedBytes: () => number;
}

/**
 * Open requests to one peer (p2p.md#requests-and-limits): ids count from 1 for each kind, five requests may be open at a
 * time, each for 5 s, or longer while the peer is sending. A response may arrive over any connection of the peer.
 */
export class Requests {
  private readonly parts: RequestsParts;
  private readonly open = new Map<string, Open>();
  private readonly lastIds = new Map<ResponseKind, bigint>();
  private readonly timeouts = new Timeouts();
  private isClosed = false;

  constructor(parts: RequestsParts) {
    this.parts = parts;
  }

  /** Sends a request; resolves to the undecoded body of the response. */
  async send(kind: ResponseKind, body: Uint8Array): Promise<Result<Uint8Array, RequestErrorCode>> {
    if (this.isClosed) return failed("peerGone", "the peer is gone");
    if (this.open.size >= MAX_OUTSTANDING_REQUESTS) return failed("busy", "too many open requests");
    const requestId = (this.lastIds.get(kind) ?? 0n) + 1n;
    this.lastIds.set(kind, requestId);
    const key = `${kind} ${requestId}`;
    return new Promise((resolve) => {
      const timer = startResponseTimer(this.parts, () => this.timeOut(key, kind));
      this.open.set(key, { kind, timer, settle: resolve });
      if (this.parts.send(REQUEST_CODES[kind], withRequestId(requestId, body))) return;
      timer.cancel();
      this.open.delete(key);
      resolve(failed("peerGone", "the peer is unreachable"));
    });
  }

  receive(kind: ResponseKind, requestId: bigint, body: Uint8Array): ResponseStatus {
    const key = `${kind} ${requestId}`;
    const request = this.open.get(key);
    if (request === undefined) {
      if (this.timeouts.takeLate(key)) return "late";
      return this.isKindOpen(kind) ? "unmatched" : "unsolicited";
    }
    request.timer.cancel();
    this.open.delete(key);
    this.timeouts.reset(kind);
    request.settle(ok(body));
    return "accepted";
  }

  /** Fails open and later requests, because the peer is gone. */
  close(): void {
    this.isClosed = true;
    for (const { timer, settle } of this.open.values()) {
      timer.cancel();
      settle(failed("peerGone", "the peer is gone"));
    }
    this.open.clear();
  }

  private isKindOpen(kind: ResponseKind): boolean {
    return [...this.open.values()].some((other) => other.kind === kind);
  }

  private timeOut(key: string, kind: ResponseKind): void {
    const request = this.open.get(key);
    this.open.delete(key);
    const isRepeated = this.timeouts.note(key, kind);
    request?.settle(failed("timedOut", `no ${kind} within ${REQUEST_TIMEOUT_MS} ms`));
    this.parts.onTimeout(isRepeated);
  }
}

/** Requests that timed out: their late responses are no offence, several consecutive timeouts are. */
class Timeouts {
  private readonly timedOut = new Set<string>();
  private readonly inRow = new Map<ResponseKind, number>();

  /** Notes a timeout; true after several consecutive ones of one kind. */
  note(key: string, kind: ResponseKind): boolean {
    this.timedOut.add(key);
    for (const oldest of this.timedOut) {
      if (this.timedOut.size <= MAX_REMEMBERED_TIMEOUTS) break;
      this.timedOut.delete(oldest);
    }
    const count = (this.inRow.get(kind) ?? 0) + 1;
    this.inRow.set(kind, count);
    return count >= MAX_TIMEOUTS;
  }

  /** Notes that a response arrived in time. */
  reset(kind: ResponseKind): void {
    this.inRow.delete(kind);
  }

  /** True once for the late response to a request. */
  takeLate(key: string): boolean {
    return this.timedOut.delete(key);
  }
}

function failed(code: RequestErrorCode, message: string): Result<never, RequestErrorCode> {
  return fail(code === "busy" ? "local" : "peer", code, message);
}

/**
 * Waits for one response: `onTimeout` runs after 5 s, or later while the peer is sending, after a minute at most
 * (p2p.md#requests-and-limits).
 */
function startResponseTimer(
  parts: {
    readonly clock: Clock;
    /** Bytes received from the peer so far. */
    readonly receivedBytes: () => number;
  },
  onTimeout: () => void,
): Timer {
  const { clock, receivedBytes } = parts;
  const lastMs = clock.nowMs() + LONGEST_RESPONSE_MS;
  let bytesBefore = 0;
  let timer = startPeriod();

  function startPeriod(): Timer {
    bytesBefore = receivedBytes();
    return clock.at(clock.nowMs() + REQUEST_TIMEOUT_MS, endPeriod);
  }

  function endPeriod(): void {
    const isComing = receivedBytes() - bytesBefore >= RESPONSE_PROGRESS_BYTES && clock.nowMs() < lastMs;
    if (isComing) timer = startPeriod();
    else onTimeout();
  }

  return { cancel: () => timer.cancel() };
}
