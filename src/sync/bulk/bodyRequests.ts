import type { Timer } from "../../primitives/clock.ts";
import type { CodedError } from "../../primitives/result.ts";
import type { SyncContext } from "../context.ts";
import { type DownloadErrorCode, noBody } from "../download.ts";
import { LATE_CHECK_MS, OVERDUE_MS } from "../limits.ts";
import { failPeer, TOO_SLOW } from "../peerFailure.ts";
import type { SyncPeer } from "../ports.ts";
import { matchBodies, rootKey } from "../segment.ts";
import type { BlockWindow, PendingBlock } from "./blockWindow.ts";
import type { PeerPaces } from "./peerPace.ts";

interface OpenRequest {
  readonly peer: SyncPeer;
  readonly blocks: readonly PendingBlock[];
  /** Whether the peer is not trusted and has delivered nothing so far. */
  readonly isSample: boolean;
  /** When it was sent, or the previous one was answered. */
  sinceMs: number;
}

interface BodyRequestsParts {
  readonly context: SyncContext;
  readonly window: BlockWindow;
  readonly paces: PeerPaces;
  /** Called when a request ended, with or without bodies. */
  readonly onResponse: () => void;
  readonly onFailure: (error: unknown) => void;
}

/**
 * Downloads bodies from several peers at once, a few requests to each. A peer that is not trusted and has delivered nothing
 * is asked for a few blocks that nobody waits for. Bodies that the import waits for are requested from a second peer before
 * the first is blamed. A peer that is late while another could be asked is backed off, and its blocks are requested from
 * others; its response still counts if it arrives after all.
 */
export class BodyRequests {
  readonly #parts: BodyRequestsParts;
  /** Open requests in the order in which they were sent. */
  readonly #open = new Set<OpenRequest>();
  #isClosed = false;
  #lateCheck: Timer | undefined;

  constructor(parts: BodyRequestsParts) {
    this.#parts = parts;
    this.#checkLateAgain();
  }

  /** Whether no request is open, except samples. */
  get isIdle(): boolean {
    return this.#countOpen(({ isSample }) => !isSample) === 0;
  }

  /** Sends all possible requests. Must be called when headers, peers or room were added. */
  send(): void {
    const { context } = this.#parts;
    // The first requests to all peers are sent before the second ones.
    for (let count = 0; count < context.limits.requestsOfPeer && !this.#isClosed; count++)
      for (const peer of this.#peersWithOpen(count)) this.#sendTo(peer);
  }

  close(): void {
    this.#isClosed = true;
    this.#lateCheck?.cancel();
  }

  #sendTo(peer: SyncPeer): void {
    const { context, onFailure } = this.#parts;
    const { limits } = context;
    const isSample = !context.choice.isServing(peer);
    const most = isSample ? limits.sampleRequests : limits.requests;
    if (this.#countOpen((request) => request.isSample === isSample) >= most) return;
    if (isSample && this.#parts.paces.unanswered(peer) > 0) return;
    const blocks = this.#blocksFor(peer, isSample);
    if (blocks.length === 0) return;
    this.#request({ peer, blocks, isSample, sinceMs: context.clock.nowMs() }).catch(onFailure);
  }

  #blocksFor(peer: SyncPeer, isSample: boolean): readonly PendingBlock[] {
    const { context, window } = this.#parts;
    const height = peer.height ?? 0n;
    if (isSample) return window.forSample(height);
    const load = { height, bytes: this.#parts.paces.bytesFor(peer) };
    const overdue = window.overdue(context.clock.nowMs() - OVERDUE_MS, load);
    const isAskedAlready = overdue.length > 0 && this.#isAskedFor(peer, overdue[0]);
    return overdue.length > 0 && !isAskedAlready ? overdue : window.toRequest(load);
  }

  #isAskedFor(peer: SyncPeer, block: PendingBlock | undefined): boolean {
    const isOfPeer = (request: OpenRequest): boolean => request.peer === peer;
    return (
      block !== undefined && this.#countOpen((each) => isOfPeer(each) && each.blocks.includes(block)) > 0
    );
  }

  /** Peers that can be asked now and have `count` unanswered requests, the best first. */
  #peersWithOpen(count: number): readonly SyncPeer[] {
    const { context, window, paces } = this.#parts;
    const { front } = window;
    if (front === undefined) return [];
    const below = front.header.header.number - 1n;
    return context.choice
      .available(context.peers(), below)
      .filter((peer) => paces.unanswered(peer) === count);
  }

  #countOpen(isCounted: (request: OpenRequest) => boolean): number {
    let count = 0;
    for (const request of this.#open) if (isCounted(request)) count++;
    return count;
  }

  async #request(request: OpenRequest): Promise<void> {
    const { context, window, onResponse } = this.#parts;
    this.#open.add(request);
    context.onProcessed("bodies", "added", request.blocks.length);
    if (!request.isSample) window.requested(request.blocks, context.clock.nowMs());
    let isBusy = false;
    try {
      isBusy = (await this.#receive(request)) === "busy";
    } finally {
      this.#release(request);
    }
    // The next check asks the peer again.
    if (!isBusy) this.send();
    onResponse();
  }

  async #receive(request: OpenRequest): Promise<"busy" | undefined> {
    const { context, window } = this.#parts;
    const { peer, blocks } = request;
    const headers = blocks.map(({ header }) => header);
    const sent = peer.requestBodies(
      headers.map(({ hash }) => hash),
      Math.max(...headers.map(({ header }) => mostTransactions(header.gasUsed))),
    );
    this.#parts.paces.noteRequest(peer, sent);
    const response = await sent;
    if (this.#isClosed) return undefined;
    if (!response.ok) {
      if (response.error.fault === "local") return "busy";
      this.#blame(request, { code: "noResponse", fault: "peer", message: response.error.message });
      return undefined;
    }
    const ms = context.clock.nowMs() - request.sinceMs;
    for (const other of this.#open) if (other.peer === peer) other.sinceMs = context.clock.nowMs();
    const matched = await matchBodies(headers, response.value);
    if (this.#isClosed) return undefined;
    if (!matched.ok) {
      this.#blame(request, { code: "invalid", fault: "peer", message: matched.error.message });
      return undefined;
    }
    context.onProcessed("bodies", "removed", matched.value.size);
    for (const block of blocks) {
      const body = matched.value.get(rootKey(block.header.header));
      if (body !== undefined) window.accept(block, body, peer);
    }
    this.#parts.paces.noteResponse(peer, { ms, isWhole: matched.value.size === blocks.length });
    // A late response does not make up for being late.
    if (matched.value.size > 0 && this.#open.has(request)) context.choice.noteServed(peer);
    else this.#blame(request, noBody(peer, headers[0]?.header.number ?? 0n));
    return undefined;
  }

  /** Blames a peer for a failed request. A peer that was late is already backed off; invalid bodies count nevertheless. */
  #blame(request: OpenRequest, error: CodedError<DownloadErrorCode>): void {
    if (error.code !== "invalid" && !this.#open.has(request)) return;
    failPeer(this.#parts.context, request.peer, error);
  }

  /** Ends the wait for a request, unless it has ended already. */
  #release(request: OpenRequest): void {
    if (!this.#open.delete(request)) return;
    if (!request.isSample) this.#parts.window.released(request.blocks);
    else for (const block of request.blocks) block.isSampled = false;
  }

  #checkLateAgain(): void {
    const { clock } = this.#parts.context;
    this.#lateCheck = clock.at(clock.nowMs() + LATE_CHECK_MS, () => {
      this.#checkLate();
      if (!this.#isClosed) this.#checkLateAgain();
    });
  }

  #checkLate(): void {
    const { context } = this.#parts;
    const { choice, clock } = context;
    const late = new Set<SyncPeer>();
    for (const { peer, sinceMs } of this.#open)
      if (clock.nowMs() - sinceMs >= choice.requestBudgetMs(peer)) late.add(peer);
    if (late.size > 0 && this.#isReplaceable(late))
      for (const peer of late) {
        this.#releaseAllOf(peer);
        failPeer(context, peer, TOO_SLOW);
      }
    this.send();
  }

  #releaseAllOf(peer: SyncPeer): void {
    for (const request of [...this.#open]) if (request.peer === peer) this.#release(request);
  }

  /** Whether a peer that is not late could be asked. */
  #isReplaceable(late: ReadonlySet<SyncPeer>): boolean {
    const { context, window } = this.#parts;
    const below = (window.front?.header.header.number ?? 0n) - 1n;
    return context.choice
      .available(context.peers(), below)
      .some((peer) => !late.has(peer) && context.choice.isServing(peer));
  }
}

/** Most transactions for this gas: each uses at least 21,000, half of which a refund may return (from London on a fifth). */
function mostTransactions(gasUsed: bigint): number {
  return Math.ceil(Number(gasUsed) / LEAST_GAS_USED);
}

const LEAST_GAS_USED = 10_500;
