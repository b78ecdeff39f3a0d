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

/** Downloads headers from one trusted peer after another, and checks them, seals included. */
export class HeaderFeed {
  private readonly context: SyncContext;
  private readonly run: HeaderRun;
  private ahead: HeaderRequest | undefined;
  /** Gives up the awaited response. */
  private giveUp: () => void = () => undefined;
  private hasEnded = false;

  /** `ended` settles when the headers are no longer needed. */
  constructor(context: SyncContext, run: HeaderRun, ended: Promise<unknown>) {
    this.context = context;
    this.run = run;
    ended.then(() => {
      this.hasEnded = true;
      this.giveUp();
    });
  }

  /**
   * The next headers, with the peer that sent them; while they are checked, the following ones are downloaded. Empty when
   * the peer failed, and undefined when no trusted peer has more.
   */
  async next(): Promise<CheckedRange | undefined> {
    const peer = this.context.choice.choose(this.context.peers(), this.run.last.header.number);
    if (peer === undefined) return undefined;
    const asked = this.takeAsked(peer);
    const response = await this.responseTo(asked);
    if (response === undefined) return undefined;
    if (response.ok && response.value.length > 0)
      return { peer, headers: await this.check(asked, response.value) };
    const message = response.ok ? `it has no block ${asked.from}` : response.error.message;
    failPeer(this.context, peer, { code: "noResponse", fault: "peer", message });
    return { peer, headers: [] };
  }

  private request(peer: SyncPeer, from: bigint): HeaderRequest {
    const missing = (peer.height ?? 0n) + 1n - from;
    const max = missing < BigInt(RANGE_HEADERS) ? Math.max(1, Number(missing)) : RANGE_HEADERS;
    const response = peer.requestHeaders({ start: { number: from }, max, skip: 0, isReverse: false });
    response.catch(() => undefined);
    return { peer, from, max, response };
  }

  private takeAsked(peer: SyncPeer): HeaderRequest {
    const from = this.run.last.header.number + 1n;
    const asked =
      this.ahead?.peer === peer && this.ahead.from === from ? this.ahead : this.request(peer, from);
    this.ahead = undefined;
    return asked;
  }

  /** The response; undefined when nobody waits for the headers any more. */
  private responseTo({ peer, response }: HeaderRequest): Promise<Result<readonly Header[]> | undefined> {
    const budget = new RequestBudget(this.context.clock, {
      firstMs: this.context.choice.requestBudgetMs(peer),
      isReplaceable: () =>
        this.context.isClosed() ||
        this.context.choice.isReplaceable(peer, this.context.peers(), this.run.last.header.number),
    });
    return new Promise((resolve, reject) => {
      this.giveUp = () => resolve(undefined);
      if (this.hasEnded) this.giveUp();
      budget.wait(response).then((given) => resolve(given ?? err(TOO_SLOW)), reject);
    });
  }

  private async check(asked: HeaderRequest, headers: readonly Header[]): Promise<readonly CheckedHeader[]> {
    const { peer, from, max } = asked;
    const isWhole = headers.length === max;
    const following = from + BigInt(headers.length);
    if (isWhole && (peer.height ?? 0n) >= following) this.ahead = this.request(peer, following);
    this.context.onProcessed("headers", "added", headers.length);
    const { checked, error } = await this.run.extend(headers);
    this.context.onProcessed("headers", "removed", checked.length);
    if (error !== undefined) failPeer(this.context, peer, faultOf(error, checked.length === 0));
    else if (isWhole) this.context.choice.noteDelivered(peer);
    else {
      this.context.reports.cameShort();
      backOff(this.context, peer);
    }
    return checked;
  }
}

function faultOf(error: CodedError, isFirst: boolean): CodedError<DownloadErrorCode> {
  const { code, message } = error;
  if (!isProvenFault(error)) return { code: "noResponse", fault: "peer", message };
  return { code: isFirst && code === "wrongParent" ? "otherBranch" : "invalid", fault: "peer", message };
}
