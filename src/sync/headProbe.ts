import { expectDefined } from "../primitives/assert.ts";
import type { Hash } from "../primitives/hash.ts";
import { ok, type Result } from "../primitives/result.ts";
import type { Block, NamedHeader } from "../types/block.ts";
import type { Header } from "../types/header.ts";
import { type DownloadErrorCode, downloadBlock, downloadHeaders } from "./download.ts";
import { MAX_PROBES } from "./limits.ts";
import type { SyncPeer } from "./ports.ts";

/** The header that a peer returned after the local head; without its block when that is known by now. */
export interface ProbedBlock {
  readonly hash: Hash;
  readonly block: Block | undefined;
}

interface HeadProbeParts {
  readonly head: () => NamedHeader;
  readonly isKnown: (hash: Hash) => boolean;
  /** Validates the header that follows `parent`, so that no body is fetched for a forged one. */
  readonly checkNext: (parent: NamedHeader, header: Header) => Promise<Result<unknown, DownloadErrorCode>>;
  /** Receives the result of each probe. */
  readonly onResult: (peer: SyncPeer, result: Result<ProbedBlock, DownloadErrorCode>) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}

/**
 * Asks all peers that claim to be ahead for the next block at the same time: only the real one has the validators' seals. So
 * false claims delay nothing, however many peers make them.
 */
export class HeadProbe {
  private readonly parts: HeadProbeParts;
  private readonly underProbe = new Set<string>();
  private isNotified = false;
  private resolveNext: (() => void) | undefined;

  constructor(parts: HeadProbeParts) {
    this.parts = parts;
  }

  /** Starts probing those peers that are not being probed yet, up to MAX_PROBES. */
  begin(peers: readonly SyncPeer[]): void {
    for (const peer of peers) {
      if (this.underProbe.size >= MAX_PROBES) return;
      if (this.underProbe.has(peer.key)) continue;
      this.underProbe.add(peer.key);
      void this.probe(peer)
        .then((result) => this.parts.onResult(peer, result))
        .catch(this.parts.onFailure)
        .finally(() => {
          this.underProbe.delete(peer.key);
          this.notify();
        });
    }
  }

  get count(): number {
    return this.underProbe.size;
  }

  /** Settles when a probe ends or `notify` is called, or did since the last call. */
  async next(): Promise<void> {
    if (!this.isNotified) {
      await new Promise<void>((resolve) => {
        this.resolveNext = resolve;
      });
    }
    this.isNotified = false;
  }

  notify(): void {
    this.isNotified = true;
    this.resolveNext?.();
    this.resolveNext = undefined;
  }

  private async probe(peer: SyncPeer): Promise<Result<ProbedBlock, DownloadErrorCode>> {
    const parent = this.parts.head();
    const links = await downloadHeaders(peer, parent, 1);
    if (!links.ok) return links;
    const link = expectDefined(links.value[0], "the requested header");
    if (this.parts.isKnown(link.hash)) return ok({ hash: link.hash, block: undefined });
    const checked = await this.parts.checkNext(parent, link.header);
    if (!checked.ok) return checked;
    const block = await downloadBlock(peer, link);
    return block.ok ? ok({ hash: link.hash, block: block.value }) : block;
  }
}
