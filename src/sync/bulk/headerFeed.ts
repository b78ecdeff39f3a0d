import type { CheckedHeader } from "../../chain/bulk/headerRun.ts";
import { type CodedError, err, type Result } from "../../primitives/result.ts";
import type { Header } from "../../types/header.ts";
import type { SyncContext } from "../context.ts";
import type { DownloadErrorCode } from "../download.ts";
import { RANGE_HEADERS } from "../limits.ts";
import { backOff, failPeer, TOO_SLOW } from "../peerFailure.ts";
import { isProvenFault } from "../peerReports.ts";
import type { HeaderRun, SyncPeer } from "../ports.ts";
import { RequestBudget } from "../requestBudget.ts";

/** Downloads headers from one trusted peer after another, and checks them, seals included. */
interface HeaderFeed {
  /**
   * The next headers, with the peer that sent them; while they are checked, the following ones are downloaded. Empty when
   * the peer failed, and undefined when no trusted peer has more.
   */
  next(): Promise<CheckedRange | undefined>;
}

interface CheckedRange {
  readonly peer: SyncPeer;
  readonly headers: readonly CheckedHeader[];
}

/** A request for headers. */
interface HeaderRequest {
  readonly peer: SyncPeer;
  readonly from: bigint;
  readonly max: number;
  readonly response: Promise<Result<readonly Header[]>>;
}

/** `ended` settles when the headers are no longer needed. */
export function createHeaderFeed(context: SyncContext, run: HeaderRun, ended: Promise<unknown>): HeaderFeed {
  const { choice, clock, peers, isClosed } = context;
  let ahead: HeaderRequest | undefined;
  /** Gives up the awaited response. */
  let giveUp: () => void = () => undefined;
  let hasEnded = false;
  // One listener serves all responses: each listener of a promise that stays pending would keep its response until the end
  // of the download.
  ended.then(() => {
    hasEnded = true;
    giveUp();
  });

  function request(peer: SyncPeer, from: bigint): HeaderRequest {
    const missing = (peer.height ?? 0n) + 1n - from;
    const max = missing < BigInt(RANGE_HEADERS) ? Math.max(1, Number(missing)) : RANGE_HEADERS;
    const response = peer.requestHeaders({ start: { number: from }, max, skip: 0, isReverse: false });
    response.catch(() => undefined);
    return { peer, from, max, response };
  }

  function next(peer: SyncPeer): HeaderRequest {
    const from = run.last.header.number + 1n;
    const asked = ahead?.peer === peer && ahead.from === from ? ahead : request(peer, from);
    ahead = undefined;
    return asked;
  }

  /** The response; undefined when nobody waits for the headers any more. */
  function responseTo({ peer, response }: HeaderRequest): Promise<Result<readonly Header[]> | undefined> {
    const budget = new RequestBudget(clock, {
      firstMs: choice.requestBudgetMs(peer),
      isReplaceable: () => isClosed() || choice.isReplaceable(peer, peers(), run.last.header.number),
    });
    return new Promise((resolve, reject) => {
      giveUp = () => resolve(undefined);
      if (hasEnded) giveUp();
      budget.wait(response).then((given) => resolve(given ?? err(TOO_SLOW)), reject);
    });
  }

  async function check(asked: HeaderRequest, headers: readonly Header[]): Promise<readonly CheckedHeader[]> {
    const { peer, from, max } = asked;
    const isWhole = headers.length === max;
    const following = from + BigInt(headers.length);
    if (isWhole && (peer.height ?? 0n) >= following) ahead = request(peer, following);
    context.onProcessed("headers", "added", headers.length);
    const { checked, error } = await run.extend(headers);
    context.onProcessed("headers", "removed", checked.length);
    if (error !== undefined) failPeer(context, peer, faultOf(error, checked.length === 0));
    else if (isWhole) choice.noteDelivered(peer);
    else {
      context.reports.cameShort();
      backOff(context, peer);
    }
    return checked;
  }

  return {
    async next() {
      const peer = choice.choose(peers(), run.last.header.number);
      if (peer === undefined) return undefined;
      const asked = next(peer);
      const response = await responseTo(asked);
      if (response === undefined) return undefined;
      if (response.ok && response.value.length > 0)
        return { peer, headers: await check(asked, response.value) };
      const message = response.ok ? `it has no block ${asked.from}` : response.error.message;
      failPeer(context, peer, { code: "noResponse", fault: "peer", message });
      return { peer, headers: [] };
    },
  };
}

function faultOf(error: CodedError, isFirst: boolean): CodedError<DownloadErrorCode> {
  const { code, message } = error;
  if (!isProvenFault(error)) return { code: "noResponse", fault: "peer", message };
  return { code: isFirst && code === "wrongParent" ? "otherBranch" : "invalid", fault: "peer", message };
}
