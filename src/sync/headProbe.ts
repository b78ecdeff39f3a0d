import { expectDefined } from "../primitives/assert.ts";
import type { Hash } from "../primitives/hash.ts";
import { ok, type Result } from "../primitives/result.ts";
import type { Block, NamedHeader } from "../types/block.ts";
import type { Header } from "../types/header.ts";
import { type DownloadErrorCode, downloadBlock, downloadHeaders } from "./download.ts";
import { MAX_PROBES } from "./limits.ts";
import type { SyncPeer } from "./ports.ts";

/**
 * Asks all peers that claim to be ahead for the next block at the same time: only the real one has the validators' seals. So
 * false claims delay nothing, however many peers make them.
 */
interface HeadProbe {
  /** Starts probing those peers that are not being probed yet, up to MAX_PROBES. */
  begin(peers: readonly SyncPeer[]): void;
  readonly count: number;
  /** Settles when a probe ends or `notify` is called, or did since the last call. */
  next(): Promise<void>;
  notify(): void;
}

/** The header that a peer returned after the local head; without its block when that is known by now. */
export interface ProbedBlock {
  readonly hash: Hash;
  readonly block: Block | undefined;
}

export function createHeadProbe(parts: {
  readonly head: () => NamedHeader;
  readonly isKnown: (hash: Hash) => boolean;
  /** Validates the header that follows `parent`, so that no body is fetched for a forged one. */
  readonly checkNext: (parent: NamedHeader, header: Header) => Promise<Result<unknown, DownloadErrorCode>>;
  /** Receives the result of each probe. */
  readonly onResult: (peer: SyncPeer, result: Result<ProbedBlock, DownloadErrorCode>) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}): HeadProbe {
  const underProbe = new Set<string>();
  let isNotified = false;
  let resolveNext: (() => void) | undefined;

  function notify(): void {
    isNotified = true;
    resolveNext?.();
    resolveNext = undefined;
  }

  async function probe(peer: SyncPeer): Promise<Result<ProbedBlock, DownloadErrorCode>> {
    const parent = parts.head();
    const links = await downloadHeaders(peer, parent, 1);
    if (!links.ok) return links;
    const link = expectDefined(links.value[0], "the requested header");
    if (parts.isKnown(link.hash)) return ok({ hash: link.hash, block: undefined });
    const checked = await parts.checkNext(parent, link.header);
    if (!checked.ok) return checked;
    const block = await downloadBlock(peer, link);
    return block.ok ? ok({ hash: link.hash, block: block.value }) : block;
  }

  return {
    begin(peers) {
      for (const peer of peers) {
        if (underProbe.size >= MAX_PROBES) return;
        if (underProbe.has(peer.key)) continue;
        underProbe.add(peer.key);
        void probe(peer)
          .then((result) => parts.onResult(peer, result))
          .catch(parts.onFailure)
          .finally(() => {
            underProbe.delete(peer.key);
            notify();
          });
      }
    },
    get count() {
      return underProbe.size;
    },
    async next() {
      if (!isNotified) {
        await new Promise<void>((resolve) => {
          resolveNext = resolve;
        });
      }
      isNotified = false;
    },
    notify,
  };
}
