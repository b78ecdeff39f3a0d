import type { Logger } from "../observability/logger.ts";

/** Peers whose blocks were refused; more than a node has at once need not be told apart. */
const MAX_OFFENDERS = 100;
/** The warning comes again so often while nothing changes. */
const WARN_AGAIN_MS = 10 * 60_000;

/**
 * Who is at fault when blocks break our rules. One peer may lie; when all of them seem to, it is our genesis file that
 * differs, and a node that blames its peers leads its operator astray.
 */
export interface GenesisMismatchDetector {
  /** A peer's blocks broke our rules. Call it before the peer is cut off. */
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
      // Somebody's blocks were sound meanwhile.
      if (head !== countedAtHead) offenders.clear();
      countedAtHead = head;
      if (offenders.size < MAX_OFFENDERS) offenders.add(peerKey);
      const isEveryPeer = parts.peerKeys().every((key) => offenders.has(key));
      if (!isEveryPeer || parts.nowMs() - warnedMs < WARN_AGAIN_MS) return;
      warnedMs = parts.nowMs();
      parts.logger.warn(
        { peers: offenders.size, head },
        "the blocks of every peer break this node's rules: suspect its own genesis file first, and compare it, config " +
          "section included, with that of a node that follows the chain (--genesis-file, --override-genesis-config)",
      );
    },
  };
}
