import type { Logger } from "../observability/logger.ts";
import type { Clock } from "../primitives/clock.ts";
import type { CodedError } from "../primitives/result.ts";
import type { Block } from "../types/block.ts";
import type { DownloadErrorCode } from "./download.ts";
import { GenesisMismatchDetector } from "./genesisMismatch.ts";
import type { OfferedBlock, SyncChain, SyncPeer } from "./ports.ts";

interface PeerReportsParts {
  readonly peers: () => readonly SyncPeer[];
  readonly chain: Pick<SyncChain, "head">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger;
  readonly onRefused: (reason: "invalidBlock" | "missingBlocks") => void;
  /** Called when an import failed for a local reason, or an error was thrown. */
  readonly onLocalFailure: () => void;
}

/** Logs what went wrong, and disconnects or penalises the peer if it is at fault. */
export class PeerReports {
  private readonly parts: PeerReportsParts;
  private readonly lacking = new LackingPeers();
  private readonly genesisMismatch: GenesisMismatchDetector;

  constructor(parts: PeerReportsParts) {
    this.parts = parts;
    this.genesisMismatch = new GenesisMismatchDetector({
      peerKeys: () => parts.peers().map(({ key }) => key),
      headNumber: () => this.headNumber(),
      nowMs: () => parts.clock.nowMs(),
      logger: parts.logger,
    });
  }

  downloadFailed(peer: SyncPeer, { code, message }: CodedError<DownloadErrorCode>): void {
    const fields = { peer: shortKey(peer.key), head: this.headNumber(), message };
    switch (code) {
      case "invalid":
        this.parts.onRefused("invalidBlock");
        this.genesisMismatch.noteInvalidBlock(peer.key);
        this.parts.logger.warn(fields, "peer sent invalid blocks; disconnecting it");
        peer.disconnect("breachOfProtocol", message);
        return;
      case "otherBranch":
        this.parts.logger.warn(fields, "peer is on another branch of the chain");
        return;
      case "noBody":
        this.parts.onRefused("missingBlocks");
        if (this.lacking.areNewlyAll(peer, message, this.parts.peers()))
          this.parts.logger.warn(fields, NOBODY_HAS);
        else this.parts.logger.often("debug", "sync with a peer failed", () => fields);
        return;
      default:
        this.parts.onRefused("missingBlocks");
        this.parts.logger.often("debug", "sync with a peer failed", () => fields);
    }
  }

  /** Called when the chain of a peer on another branch leaves the local one after this block. */
  branchFound(peer: SyncPeer, number: bigint): void {
    const fields = { peer: shortKey(peer.key), commonAncestor: number, head: this.headNumber() };
    this.parts.logger.warn(
      fields,
      "the peer's branch leaves the local chain after this block; committed blocks stay",
    );
  }

  /** Called when the peer delivered fewer blocks than it claims to have. */
  cameShort(): void {
    this.parts.onRefused("missingBlocks");
  }

  /** Called when a block requested from the peer could not be imported. */
  blockRefused(
    peer: SyncPeer,
    { header }: Pick<Block, "header">,
    { code, fault, message }: CodedError,
  ): void {
    const fields = { peer: shortKey(peer.key), number: header.number, code, message };
    if (fault !== "peer") {
      this.parts.onLocalFailure();
      this.parts.logger.error(fields, "cannot import a peer's block for a local reason");
    } else if (code === NOT_DUE) {
      this.parts.logger.warn(fields, "a peer's block is ahead of the local clock");
    } else {
      this.parts.onRefused("invalidBlock");
      this.genesisMismatch.noteInvalidBlock(peer.key);
      this.parts.logger.warn(fields, "peer sent an invalid block; disconnecting it");
      peer.disconnect("breachOfProtocol", message);
    }
  }

  /** Called when the work of sync threw an error. */
  failed(error: unknown): void {
    this.parts.onLocalFailure();
    this.parts.logger.error({ error }, "sync with peers failed");
  }

  /** Called when a block announced by a peer could not be imported. */
  announcementRefused({ header, peer: key }: OfferedBlock, error: CodedError): void {
    const { code, message } = error;
    this.parts.logger.often("debug", "announced block refused", () => ({
      number: header.number,
      peer: shortKey(key),
      code,
      cause: message,
    }));
    const peer = this.parts.peers().find((one) => one.key === key);
    if (code === "malformed" || isProvenFault(error)) this.parts.onRefused("invalidBlock");
    if (code === "malformed") peer?.disconnect("breachOfProtocol", message);
    // This is no breach of the protocol (p2p.md#block-propagation), but a peer that continues is useless.
    else if (isProvenFault(error)) peer?.penalise();
  }

  private headNumber(): bigint {
    return this.parts.chain.head.header.number;
  }
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
