import type { Logger } from "../observability/logger.ts";
import type { Clock } from "../primitives/clock.ts";
import type { CodedError } from "../primitives/result.ts";
import type { Block } from "../types/block.ts";
import type { DownloadErrorCode } from "./download.ts";
import { createGenesisMismatchDetector } from "./genesisMismatch.ts";
import type { OfferedBlock, SyncChain, SyncPeer } from "./ports.ts";

/** Logs what went wrong, and disconnects or penalises the peer if it is at fault. */
export interface PeerReports {
  downloadFailed(peer: SyncPeer, error: CodedError<DownloadErrorCode>): void;
  /** Called when the chain of a peer on another branch leaves the local one after this block. */
  branchFound(peer: SyncPeer, number: bigint): void;
  /** Called when the peer delivered fewer blocks than it claims to have. */
  cameShort(): void;
  /** Called when a block requested from the peer could not be imported. */
  blockRefused(peer: SyncPeer, block: Pick<Block, "header">, error: CodedError): void;
  /** Called when the work of sync threw an error. */
  failed(error: unknown): void;
  /** Called when a block announced by a peer could not be imported. */
  announcementRefused(offered: OfferedBlock, error: CodedError): void;
}

export function createPeerReports(parts: {
  readonly peers: () => readonly SyncPeer[];
  readonly chain: Pick<SyncChain, "head">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger;
  readonly onRefused: (reason: "invalidBlock" | "missingBlocks") => void;
  /** Called when an import failed for a local reason, or an error was thrown. */
  readonly onLocalFailure: () => void;
}): PeerReports {
  const { chain, clock, logger, onRefused } = parts;
  const headNumber = (): bigint => chain.head.header.number;
  const lacking = new LackingPeers();
  const genesisMismatch = createGenesisMismatchDetector({
    peerKeys: () => parts.peers().map(({ key }) => key),
    headNumber,
    nowMs: () => clock.nowMs(),
    logger,
  });

  return {
    downloadFailed(peer, { code, message }) {
      const fields = { peer: shortKey(peer.key), head: headNumber(), message };
      switch (code) {
        case "invalid":
          onRefused("invalidBlock");
          genesisMismatch.noteInvalidBlock(peer.key);
          logger.warn(fields, "peer sent invalid blocks; disconnecting it");
          peer.disconnect("breachOfProtocol", message);
          return;
        case "otherBranch":
          logger.warn(fields, "peer is on another branch of the chain");
          return;
        case "noBody":
          onRefused("missingBlocks");
          if (lacking.areNewlyAll(peer, message, parts.peers())) logger.warn(fields, NOBODY_HAS);
          else logger.often("debug", "sync with a peer failed", () => fields);
          return;
        default:
          onRefused("missingBlocks");
          logger.often("debug", "sync with a peer failed", () => fields);
      }
    },
    branchFound(peer, number) {
      const fields = { peer: shortKey(peer.key), commonAncestor: number, head: headNumber() };
      logger.warn(fields, "the peer's branch leaves the local chain after this block; committed blocks stay");
    },
    cameShort: () => onRefused("missingBlocks"),
    blockRefused(peer, { header }, { code, fault, message }) {
      const fields = { peer: shortKey(peer.key), number: header.number, code, message };
      if (fault !== "peer") {
        parts.onLocalFailure();
        logger.error(fields, "cannot import a peer's block for a local reason");
      } else if (code === NOT_DUE) {
        logger.warn(fields, "a peer's block is ahead of the local clock");
      } else {
        onRefused("invalidBlock");
        genesisMismatch.noteInvalidBlock(peer.key);
        logger.warn(fields, "peer sent an invalid block; disconnecting it");
        peer.disconnect("breachOfProtocol", message);
      }
    },
    failed(error) {
      parts.onLocalFailure();
      logger.error({ error }, "sync with peers failed");
    },
    announcementRefused({ header, peer: key }, error) {
      const { code, message } = error;
      logger.often("debug", "announced block refused", () => ({
        number: header.number,
        peer: shortKey(key),
        code,
        cause: message,
      }));
      const peer = parts.peers().find((one) => one.key === key);
      if (code === "malformed" || isProvenFault(error)) onRefused("invalidBlock");
      if (code === "malformed") peer?.disconnect("breachOfProtocol", message);
      // This is no breach of the protocol (p2p.md#block-propagation), but a peer that continues is useless.
      else if (isProvenFault(error)) peer?.penalise();
    },
  };
}

/** Whether the error of an import proves the block invalid, whatever the local clock says. */
export function isProvenFault({ code, fault }: CodedError): boolean {
  return fault === "peer" && code !== NOT_DUE;
}

/** The importer's error code for a block ahead of the local clock, which is nobody's proven fault. */
const NOT_DUE = "timestampInFuture";

function shortKey(key: string): string {
  return key.slice(0, 16);
}

/** The connected peers that lack the body of one old block. */
class LackingPeers {
  #what = "";
  #keys = new Set<string>();
  #isReported = false;

  /** Notes that this peer lacks `what`; true, once for each `what`, when all of `peers` that are as high now do. */
  areNewlyAll({ key, height = 0n }: SyncPeer, what: string, peers: readonly SyncPeer[]): boolean {
    if (what !== this.#what) {
      this.#what = what;
      this.#keys = new Set();
      this.#isReported = false;
    }
    this.#keys.add(key);
    const connected = new Set(peers.map((other) => other.key));
    for (const known of this.#keys) if (!connected.has(known)) this.#keys.delete(known);
    const areAll =
      !this.#isReported && peers.every((other) => this.#keys.has(other.key) || (other.height ?? 0n) < height);
    this.#isReported ||= areAll;
    return areAll;
  }
}

const NOBODY_HAS =
  "no peer has the body of the next block: all of them remove old blocks (--block-history). This node continues once it is connected " +
  "to one that keeps them; or make a snapshot on another node and import it here (docs/operating.md#snapshots)";
