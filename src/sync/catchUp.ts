import type { Hash } from "../primitives/hash.ts";
import type { Result } from "../primitives/result.ts";
import { BulkSync } from "./bulk/bulkSync.ts";
import { createPeerPaces } from "./bulk/peerPace.ts";
import type { SyncContext } from "./context.ts";
import type { DownloadErrorCode } from "./download.ts";
import { createHeadProbe, type ProbedBlock } from "./headProbe.ts";
import { BULK_DISTANCE } from "./limits.ts";
import type { SyncPeer } from "./ports.ts";
import { checkHeaderAfter, fetchRange } from "./rangeDownload.ts";

/** Catches up with the peers that are ahead, and probes those whose height is only a claim. */
interface CatchUp {
  /** Fetches ranges until no peer is ahead, or none is left to ask. */
  run(): Promise<void>;
  /** Called when peers, heights or the head have changed: a peer may now be usable. */
  notify(): void;
}

interface CatchUpParts {
  /** Called when a range ended: the parent of an announced block may have been imported. */
  readonly onRangeEnded: () => void;
  /** Called when the only peers ahead are being probed, or backed off. */
  readonly onWaiting: () => void;
  readonly onFailure: (error: unknown) => void;
}

export function createCatchUp(context: SyncContext, parts: CatchUpParts): CatchUp {
  const { chain, choice, progress, canImport } = context;
  const isKnown = (hash: Hash): boolean => chain.headerByHash(hash) !== undefined;
  const probe = createHeadProbe({
    head: () => chain.head,
    isKnown,
    checkNext: (parent, header) => checkHeaderAfter(chain, parent, header),
    onResult: (peer, result) => judgeProbed(context, peer, result),
    onFailure: parts.onFailure,
  });

  const paces = createPeerPaces(context.limits);
  let bulk: BulkSync | undefined;

  /** The peer to fetch a range from: a proven one, or the only one that claims to be ahead. */
  function chooseOrProbe(): SyncPeer | undefined {
    const peers = context.peers();
    const { number } = chain.head.header;
    const peer = choice.choose(peers, number);
    if (peer !== undefined) return peer;
    const unproven = choice.unproven(peers, number);
    if (unproven.length === 1 && probe.count === 0) return unproven[0];
    probe.begin(unproven);
    return undefined;
  }

  /** Downloads from several peers at once when far behind a trusted peer; else fetches one range from this peer. */
  async function fetch(peer: SyncPeer): Promise<void> {
    const missing = (peer.height ?? 0n) - chain.head.header.number;
    if (missing <= BULK_DISTANCE || !choice.isTrusted(peer)) return fetchRange(context, peer);
    bulk = new BulkSync(context, paces);
    try {
      await bulk.run();
    } finally {
      bulk = undefined;
    }
  }

  return {
    async run() {
      while (canImport()) {
        const peer = chooseOrProbe();
        if (peer !== undefined) {
          if (choice.isTrusted(peer)) progress.changePeer(peer);
          await fetch(peer);
          parts.onRangeEnded();
          continue;
        }
        progress.changePeer(undefined);
        if (probe.count === 0) return;
        parts.onWaiting();
        await probe.next();
      }
    },
    notify() {
      probe.notify();
      bulk?.wake();
    },
  };
}

/** Judges a peer by the result of its probe, and imports its block. It changes nothing for a range in progress. */
async function judgeProbed(
  { chain, choice, reports, isClosed }: SyncContext,
  peer: SyncPeer,
  result: Result<ProbedBlock, DownloadErrorCode>,
): Promise<void> {
  if (isClosed()) return;
  if (!result.ok) {
    choice.backOff(peer);
    if (result.error.code === "noBody") choice.noteLacking(peer);
    reports.downloadFailed(peer, result.error);
    return;
  }
  const { hash, block } = result.value;
  const isKnown = (): boolean => chain.headerByHash(hash) !== undefined;
  if (block === undefined || isKnown()) {
    choice.noteProven(peer);
    return;
  }
  const imported = await chain.importBlock(block);
  if (imported.ok || isKnown()) {
    choice.noteProven(peer);
    return;
  }
  choice.backOff(peer);
  if (chain.head.header.number < block.header.number) reports.blockRefused(peer, block, imported.error);
}
