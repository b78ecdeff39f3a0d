import type { Logger } from "../observability/logger.ts";

/** Most offenders that are remembered: more peers than a node has. */
const MAX_OFFENDERS = 100;
/** Interval of the warning while nothing changes. */
const WARN_AGAIN_MS = 10 * 60_000;

interface GenesisMismatchDetectorParts {
  readonly peerKeys: () => readonly string[];
  readonly headNumber: () => bigint;
  readonly nowMs: () => number;
  readonly logger: Logger;
}

/**
 * Detects that this node's genesis file is probably wrong: one peer may send invalid blocks, but when all of them do,
 * the local rules differ, and blaming the peers would mislead the operator.
 */
export class GenesisMismatchDetector {
  private readonly parts: GenesisMismatchDetectorParts;
  private readonly offenders = new Set<string>();
  private countedAtHead = -1n;
  private warnedMs = Number.NEGATIVE_INFINITY;

  constructor(parts: GenesisMismatchDetectorParts) {
    this.parts = parts;
  }

  /** Notes that a peer's blocks broke the local rules. Must be called before the peer is disconnected. */
  noteInvalidBlock(peerKey: string): void {
    const head = this.parts.headNumber();
    // A valid block has arrived in the meantime.
    if (head !== this.countedAtHead) this.offenders.clear();
    this.countedAtHead = head;
    if (this.offenders.size < MAX_OFFENDERS) this.offenders.add(peerKey);
    const isEveryPeer = this.parts.peerKeys().every((key) => this.offenders.has(key));
    if (!isEveryPeer || this.parts.nowMs() - this.warnedMs < WARN_AGAIN_MS) return;
    this.warnedMs = this.parts.nowMs();
    this.parts.logger.warn(
      { peers: this.offenders.size, head },
      "the blocks of every peer break this node's rules: its genesis file is probably wrong; compare it, config " +
        "section included, with that of a node that follows the chain (--genesis-file, --override-genesis-config)",
    );
  }
}
