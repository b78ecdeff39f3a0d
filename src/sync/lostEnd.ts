import type { Logger } from "../observability/logger.ts";
import type { Address } from "../primitives/address.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import type { Hash } from "../primitives/hash.ts";
import { equalBytes, toHex } from "../primitives/hex.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { decodeExtraData } from "../types/extraData.ts";
import { downloadHeaders } from "./download.ts";
import { MAX_PROBES, RANGE_HEADERS } from "./limits.ts";
import type { SyncChain, SyncPeer } from "./ports.ts";

/** The newest block that a validator had committed, and has lost with the end of its database. */
export interface LostBlock {
  readonly number: bigint;
  readonly hash: Hash;
}

interface LostEndParts {
  readonly chain: Pick<SyncChain, "head" | "headerRun">;
  readonly peers: () => readonly SyncPeer[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called once, when blocks may be fetched. */
  readonly onProven: () => void;
}

/**
 * Finds proof of the blocks that a validator has lost, before it fetches any (ibft2.md#a-lost-end):
 *
 *     peers that claim the lost block ── headers after our newest block ── every header rule, seals included
 *       ── the last of them is the very block that was lost ──> proven: sync imports these blocks and no others in their place
 *
 * The hash is the one that this node recorded when it committed the block. Valid seals come from a quorum of distinct
 * validators, at most one of which is ours, so at least a quorum less one of the others have voted to commit each block. It
 * does not matter who delivers the headers. A block that only we could have sealed proves nothing.
 *
 * Invariants: nothing is imported before the proof; a peer is asked at most once in RETRY_MS; only the hash of each header
 * is kept.
 */
export class LostEndSearch {
  readonly block: LostBlock;
  readonly #addresses: readonly Address[];
  readonly #parts: LostEndParts;
  /** Hashes by number, from the first lost block to the last; empty until proven. */
  #hashes: ReadonlyMap<bigint, Hash> = new Map();
  readonly #asked = new Map<string, { readonly atMs: number; readonly isOpen: boolean }>();
  readonly #startedMs: number;
  #reportedMs: number | undefined;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(block: LostBlock, addresses: readonly Address[], parts: LostEndParts) {
    this.block = block;
    this.#addresses = addresses;
    this.#parts = parts;
    this.#startedMs = parts.clock.nowMs();
  }

  get isProven(): boolean {
    return this.#hashes.size > 0;
  }

  /** Whether the chain has the lost block again. */
  get isRestored(): boolean {
    return this.#parts.chain.head.header.number >= this.block.number;
  }

  /** Whether a block may be imported: a block above the lost ones, which follows them, or the very block that was lost. */
  admits(number: bigint, hash: Hash): boolean {
    if (number > this.block.number) return true;
    const lost = this.#hashes.get(number);
    return lost !== undefined && equalBytes(lost, hash);
  }

  /** Starts to search, and to log what it waits for. */
  begin(): void {
    this.#check();
  }

  /** Called when a peer connected, or has a greater height. */
  wake(): void {
    const nowMs = this.#parts.clock.nowMs();
    const present = new Set(this.#parts.peers().map(({ key }) => key));
    for (const [key, { isOpen }] of this.#asked) if (!isOpen && !present.has(key)) this.#asked.delete(key);
    for (const peer of this.#parts.peers()) {
      if (this.isProven || this.#isClosed) return;
      if (!this.#hasBlock(peer)) continue;
      const asked = this.#asked.get(peer.key);
      if (asked !== undefined && (asked.isOpen || nowMs - asked.atMs < RETRY_MS)) continue;
      if ([...this.#asked.values()].filter(({ isOpen }) => isOpen).length >= MAX_PROBES) return;
      void this.#ask(peer, nowMs);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  #check(): void {
    if (this.isProven || this.#isClosed) return;
    const { clock } = this.#parts;
    this.wake();
    if (clock.nowMs() - (this.#reportedMs ?? this.#startedMs) >= REPORT_MS) this.#report();
    this.#timer = clock.at(clock.nowMs() + RETRY_MS, () => this.#check());
  }

  #hasBlock({ height }: SyncPeer): boolean {
    return height !== undefined && height >= this.block.number;
  }

  async #ask(peer: SyncPeer, atMs: number): Promise<void> {
    const { logger, onProven } = this.#parts;
    this.#asked.set(peer.key, { atMs, isOpen: true });
    const found = await this.#lostBlocksOf(peer).catch((error: unknown) =>
      fail("peer", "unproven", messageOf(error)),
    );
    this.#asked.set(peer.key, { atMs, isOpen: false });
    if (this.isProven || this.#isClosed) return;
    if (!found.ok) {
      const fields = { peer: toHex(peer.address), why: found.error.message };
      if (found.error.code === "otherBlock") logger.error(fields, OTHER_BLOCK);
      else logger.debug(fields, "a peer gave no proof of the lost blocks");
      return;
    }
    this.#hashes = found.value;
    this.#timer?.cancel();
    logger.info(
      { number: this.block.number, hash: this.block.hash, blocks: found.value.size },
      "a peer has the lost blocks, with the seals of a quorum: they are fetched, and this validator takes part again after the last one",
    );
    onProven();
  }

  /** The hashes of the lost blocks by number, when a peer's headers prove all of them. */
  async #lostBlocksOf(peer: SyncPeer): Promise<Result<ReadonlyMap<bigint, Hash>, "unproven" | "otherBlock">> {
    const { chain } = this.#parts;
    const { number, hash } = this.block;
    const run = chain.headerRun(chain.head);
    const hashes = new Map<bigint, Hash>();
    while (run.last.header.number < number) {
      const missing = Number(number - run.last.header.number);
      const links = await downloadHeaders(peer, run.last, Math.min(missing, RANGE_HEADERS));
      if (!links.ok) return fail("peer", "unproven", links.error.message);
      const { checked, error } = await run.extend(links.value.map(({ header }) => header));
      if (error !== undefined) return fail("peer", "unproven", error.message);
      for (const each of checked) {
        if (this.#isOursAlone(each.header.extraData))
          return fail("peer", "unproven", `nobody but this validator has sealed block ${each.header.number}`);
        hashes.set(each.header.number, each.hash);
      }
    }
    if (equalBytes(run.last.hash, hash)) return ok(hashes);
    const message = `its block ${run.last.header.number} is ${toHex(run.last.hash)}, where ${toHex(hash)} was lost`;
    return fail("peer", "otherBlock", message);
  }

  #isOursAlone(extraData: Uint8Array): boolean {
    const extra = decodeExtraData(extraData);
    if (!extra.ok) return true;
    return extra.value.validators.every((validator) =>
      this.#addresses.some((address) => equalBytes(address, validator)),
    );
  }

  #report(): void {
    const { peers, clock, logger } = this.#parts;
    this.#reportedMs = clock.nowMs();
    const connected = peers();
    const claiming = connected.filter((peer) => this.#hasBlock(peer)).length;
    logger.warn(
      { number: this.block.number, hash: this.block.hash, peers: connected.length, claiming },
      `this validator still waits for block ${this.block.number}, which it has lost, and neither proposes nor votes: none of ` +
        `${connected.length} peers has shown it with the seals of a quorum, and ${claiming} of them claim${claiming === 1 ? "s" : ""} to have ` +
        `it. ${WHAT_TO_DO}`,
    );
  }
}

/** Remedies for a validator that waits for its lost blocks, the mildest first. */
const WHAT_TO_DO =
  "Start the other nodes, or connect this one to a node that has the block (static-nodes.json, admin_addPeer). Only if no node " +
  "has it any more, stop this one and delete head.log in the data folder: it then continues from the blocks that it has, stays " +
  "bound by its votes, and the validators decide what follows";

const OTHER_BLOCK =
  "a peer has another block, sealed by a quorum, in the place of one that this validator had committed and lost: it is not imported. " +
  "Compare the chains of the validators (ibex compare) before anything else is done";

/** Pause between two requests to one peer. */
const RETRY_MS = 2_000;
const REPORT_MS = 30_000;
