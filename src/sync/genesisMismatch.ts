import type { Logger } from "../observability/logger.ts";

/** Most offenders that are remembered: more peers than a node has. */
const MAX_OFFENDERS = 100;
/** Interval of the warning while nothing changes. */
const WARN_AGAIN_MS = 10 * 60_000;

/**
 * Detects that this node's genesis file is probably wrong: one peer may send invalid blocks, but when all of them do,
 * the local rules differ, and blaming the peers would mislead the operator.
 */
interface GenesisMismatchDetector {
  /** Notes that a peer's blocks broke the local rules. Must be called before the peer is disconnected. */
  noteInvalidBlock(peerKey: string): void;
}

export function createGenesisMismatchDetector(parts: {
  readonly peerKeys: () => readonly string[];
  readonly headNumber: () => bigint;
  readonly nowMs: () => number;
  readonly logger: Logger;
}): GenesisMismatchDetector {
  const offenders = new Set<string>();
  let countedAtHead = -1n;
  let warnedMs = Number.NEGATIVE_INFINITY;
  return {
    noteInvalidBlock(peerKey) {
      const head = parts.headNumber();
      // A valid block has arrived in the meantime.
      if (head !== countedAtHead) offenders.clear();
      countedAtHead = head;
      if (offenders.size < MAX_OFFENDERS) offenders.add(peerKey);
      const isEveryPeer = parts.peerKeys().every((key) => offenders.has(key));
      if (!isEveryPeer || parts.nowMs() - warnedMs < WARN_AGAIN_MS) return;
      warnedMs = parts.nowMs();
      parts.logger.warn(
        { peers: offenders.size, head },
        "the blocks of every peer break this node's rules: its genesis file is probably wrong; compare it, config " +
          "section included, with that of a node that follows the chain (--genesis-file, --override-genesis-config)",
      );
    },
  };
}
