import type { Timer } from "../../primitives/clock.ts";
import type { SyncContext } from "../context.ts";
import type { DownloadErrorCode } from "../download.ts";
import { LATE_CHECK_MS, MAX_BODY_REQUESTS, MAX_SAMPLE_REQUESTS } from "../limits.ts";
import { failPeer, TOO_SLOW } from "../peerFailure.ts";
import type { SyncPeer } from "../ports.ts";
import { matchBodies, rootKey } from "../segment.ts";
import type { BlockWindow, PendingBlock } from "./blockWindow.ts";

/**
 * Downloads bodies from several peers at once, one request to each. A peer that is neither trusted nor has delivered any
 * is given a few blocks for which nobody waits. A peer that is late while another one could be asked
 * is backed off, and its blocks are requested from others; its response still counts when it comes after all.
 */
export interface BodyRequests {
  /** Sends what requests are possible. To be called when headers, peers or room were added. */
  send(): void;
  /** Whether no request is open, samples apart. */
  readonly isIdle: boolean;
  close(): void;
}

interface OpenRequest {
  readonly peer: SyncPeer;
  readonly blocks: readonly PendingBlock[];
  /** Of a peer that has delivered nothing so far. */
  readonly isSample: boolean;
  readonly sinceMs: number;
}

export interface BodyRequestsParts {
  readonly context: SyncContext;
  readonly window: BlockWindow;
  /** A request ended, with or without bodies. */
  readonly onResponse: () => void;
  readonly onFailure: (error: unknown) => void;
}

export function createBodyRequests(parts: BodyRequestsParts): BodyRequests {
  return new OpenRequests(parts);
}

class OpenRequests implements BodyRequests {
  readonly #parts: BodyRequestsParts;
  readonly #open = new Map<string, OpenRequest>();
  #isClosed = false;
  #lateCheck: Timer | undefined;

  constructor(parts: BodyRequestsParts) {
    this.#parts = parts;
    this.#checkLateAgain();
  }

  get isIdle(): boolean {
    return this.#countOpen(false) === 0;
  }

  send(): void {
    if (this.#isClosed) return;
    const { context, window, onFailure } = this.#parts;
    for (const peer of this.#idlePeers()) {
      const isSample = !context.choice.isServing(peer);
      if (this.#countOpen(isSample) >= (isSample ? MAX_SAMPLE_REQUESTS : MAX_BODY_REQUESTS)) continue;
      const height = peer.height ?? 0n;
      const blocks = isSample ? window.forSample(height) : window.toRequest(height);
      if (blocks.length > 0)
        this.#request({ peer, blocks, isSample, sinceMs: context.clock.nowMs() }).catch(onFailure);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#lateCheck?.cancel();
  }

  /** Peers that can be asked now, the best first. */
  #idlePeers(): readonly SyncPeer[] {
    const { context, window } = this.#parts;
    const { front } = window;
    if (front === undefined) return [];
    const below = front.header.header.number - 1n;
    return context.choice.available(context.peers(), below).filter(({ key }) => !this.#open.has(key));
  }

  #countOpen(areSamples: boolean): number {
    let count = 0;
    for (const { isSample } of this.#open.values()) if (isSample === areSamples) count++;
    return count;
  }

  async #request(request: OpenRequest): Promise<void> {
    const { window, onResponse } = this.#parts;
    this.#open.set(request.peer.key, request);
    if (!request.isSample) window.requested(request.blocks);
    try {
      await this.#receive(request);
    } finally {
      this.#release(request);
    }
    this.send();
    onResponse();
  }

  async #receive(request: OpenRequest): Promise<void> {
    const { context, window } = this.#parts;
    const { peer, blocks } = request;
    const headers = blocks.map(({ header }) => header);
    const response = await peer.requestBodies(
      headers.map(({ hash }) => hash),
      Math.max(...headers.map(({ header }) => mostTransactions(header.gasUsed))),
    );
    if (this.#isClosed) return;
    if (!response.ok) {
      this.#blame(request, "noResponse", response.error.message);
      return;
    }
    const matched = await matchBodies(headers, response.value);
    if (this.#isClosed) return;
    if (!matched.ok) {
      this.#blame(request, "invalid", matched.error.message);
      return;
    }
    for (const block of blocks) {
      const body = matched.value.get(rootKey(block.header.header));
      if (body !== undefined) window.accept(block, body, peer);
    }
    if (matched.value.size > 0) context.choice.noteServed(peer);
    else this.#blame(request, "noResponse", `it has no body of block ${headers[0]?.header.number}`);
  }

  /** A peer that was late is backed off already; invalid bodies count nevertheless. */
  #blame(request: OpenRequest, code: DownloadErrorCode, message: string): void {
    if (code === "noResponse" && !this.#isOpen(request)) return;
    failPeer(this.#parts.context, request.peer, { code, fault: "peer", message });
  }

  #isOpen(request: OpenRequest): boolean {
    return this.#open.get(request.peer.key) === request;
  }

  /** Ends the wait for a request, unless it has ended already. */
  #release(request: OpenRequest): void {
    if (!this.#isOpen(request)) return;
    this.#open.delete(request.peer.key);
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
    for (const request of [...this.#open.values()]) {
      const isLate = clock.nowMs() - request.sinceMs >= choice.requestBudgetMs(request.peer);
      if (!isLate || !this.#isReplaceable()) continue;
      this.#release(request);
      failPeer(context, request.peer, TOO_SLOW);
    }
    this.send();
  }

  /** Whether another peer could be asked now. */
  #isReplaceable(): boolean {
    return this.#idlePeers().some((peer) => this.#parts.context.choice.isServing(peer));
  }
}

/** Each uses 21,000 gas at least, of which a refund may return half (from London on a fifth). */
function mostTransactions(gasUsed: bigint): number {
  return Math.ceil(Number(gasUsed) / LEAST_GAS_USED);
}

const LEAST_GAS_USED = 10_500;
