import type { Hash } from "../primitives/hash.ts";
import type { Result } from "../primitives/result.ts";
import { BulkSync } from "./bulk/bulkSync.ts";
import { PeerPaces } from "./bulk/peerPace.ts";
import type { SyncContext } from "./context.ts";
import type { DownloadErrorCode } from "./download.ts";
import { HeadProbe, type ProbedBlock } from "./headProbe.ts";
import { BULK_DISTANCE } from "./limits.ts";
import type { SyncPeer } from "./ports.ts";
import { checkHeaderAfter, fetchRange } from "./rangeDownload.ts";

interface CatchUpParts {
  /** Called when a range ended: the parent of an announced block may have been imported. */
  readonly onRangeEnded: () => void;
  /** Called when the only peers ahead are being probed, or backed off. */
  readonly onWaiting: () => void;
  readonly onFailure: (error: unknown) => void;
}

/** Catches up with the peers that are ahead, and probes those whose height is only a claim. */
export class CatchUp {
  private readonly context: SyncContext;
  private readonly parts: CatchUpParts;
  private readonly probe: HeadProbe;
  private readonly paces: PeerPaces;
  private bulk: BulkSync | undefined;

  constructor(context: SyncContext, parts: CatchUpParts) {
    this.context = context;
    this.parts = parts;
    this.probe = new HeadProbe({
      head: () => context.chain.head,
      isKnown: (hash) => this.isKnown(hash),
      checkNext: (parent, header) => checkHeaderAfter(context.chain, parent, header),
      onResult: (peer, result) => judgeProbed(context, peer, result),
      onFailure: parts.onFailure,
    });
    this.paces = new PeerPaces(context.limits);
  }

  /** Fetches ranges until no peer is ahead, or none is left to ask. */
  async run(): Promise<void> {
    while (this.context.canImport()) {
      const peer = this.chooseOrProbe();
      if (peer !== undefined) {
        if (this.context.choice.isTrusted(peer)) this.context.progress.changePeer(peer);
        await this.fetch(peer);
        this.parts.onRangeEnded();
        continue;
      }
      this.context.progress.changePeer(undefined);
      if (this.probe.count === 0) return;
      this.parts.onWaiting();
      await this.probe.next();
    }
  }

  /** Called when peers, heights or the head have changed: a peer may now be usable. */
  notify(): void {
    this.probe.notify();
    this.bulk?.wake();
  }

  private isKnown(hash: Hash): boolean {
    return this.context.chain.headerByHash(hash) !== undefined;
  }

  /** The peer to fetch a range from: a proven one, or the only one that claims to be ahead. */
  private chooseOrProbe(): SyncPeer | undefined {
    const peers = this.context.peers();
    const { number } = this.context.chain.head.header;
    const peer = this.context.choice.choose(peers, number);
    if (peer !== undefined) return peer;
    const unproven = this.context.choice.unproven(peers, number);
    if (unproven.length === 1 && this.probe.count === 0) return unproven[0];
    this.probe.begin(unproven);
    return undefined;
  }

  /** Downloads from several peers at once when far behind a trusted peer; else fetches one range from this peer. */
  private async fetch(peer: SyncPeer): Promise<void> {
    const missing = (peer.height ?? 0n) - this.context.chain.head.header.number;
    if (missing <= BULK_DISTANCE || !this.context.choice.isTrusted(peer))
      return fetchRange(this.context, peer);
    this.bulk = new BulkSync(this.context, this.paces);
    try {
      await this.bulk.run();
    } finally {
      this.bulk = undefined;
    }
  }
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
