import { toKey } from "../primitives/byteKey.ts";
import type { Hash } from "../primitives/hash.ts";
import { equalBytes } from "../primitives/hex.ts";
import { MAX_WAITING_BLOCKS, MAX_WAITING_BLOCKS_OF_PEER, MAX_WAITING_BYTES } from "./limits.ts";
import type { OfferedBlock } from "./ports.ts";

interface Waiting {
  readonly offered: OfferedBlock;
  readonly bytes: number;
}

/** Approximate size of the header object. */
const OBJECT_BYTES = 4096;

/**
 * Announced blocks that wait until their parent is the head. One block may wait several times, from several peers: the
 * copies have different seals, and not all need to be valid. When there are too many, the peer with the most of them
 * loses its highest, so that no peer can displace the announcements of others.
 */
export class WaitingBlocks {
  readonly #blocks = new Map<string, Waiting>();

  /** Queues a block; false when it was not queued because its peer has too many waiting. */
  add(offered: OfferedBlock): boolean {
    const key = `${toKey(offered.hash)} ${offered.peer}`;
    const ofPeer = [...this.#blocks.values()].filter((one) => one.offered.peer === offered.peer).length;
    if (ofPeer >= MAX_WAITING_BLOCKS_OF_PEER) return false;
    this.#blocks.set(key, { offered, bytes: offered.bytes + OBJECT_BYTES });
    while (this.#isTooMuch()) this.#makeRoom();
    return this.#blocks.has(key);
  }

  /** Takes the first block with this parent. */
  takeChildOf(parent: Hash): OfferedBlock | undefined {
    for (const [key, { offered }] of this.#blocks) {
      if (!equalBytes(offered.header.parentHash, parent)) continue;
      this.#blocks.delete(key);
      return offered;
    }
    return undefined;
  }

  /** Drops blocks up to `number`. */
  dropUpTo(number: bigint): void {
    for (const [key, { offered }] of this.#blocks)
      if (offered.header.number <= number) this.#blocks.delete(key);
  }

  #isHeavy(): boolean {
    return bytesOf(this.#blocks.values()) > MAX_WAITING_BYTES;
  }

  #isTooMuch(): boolean {
    return this.#blocks.size > MAX_WAITING_BLOCKS || (this.#blocks.size > 1 && this.#isHeavy());
  }

  #makeRoom(): void {
    const isByBytes = this.#isHeavy();
    const loadByPeer = new Map<string, number>();
    for (const { offered, bytes } of this.#blocks.values())
      loadByPeer.set(offered.peer, (loadByPeer.get(offered.peer) ?? 0) + (isByBytes ? bytes : 1));
    const [[heaviest] = []] = [...loadByPeer].sort(([, one], [, other]) => other - one);
    let highest: readonly [key: string, number: bigint] | undefined;
    for (const [key, { offered }] of this.#blocks) {
      const { number } = offered.header;
      if (offered.peer === heaviest && (highest === undefined || number >= highest[1]))
        highest = [key, number];
    }
    if (highest !== undefined) this.#blocks.delete(highest[0]);
  }
}

function bytesOf(waiting: Iterable<Waiting>): number {
  let sum = 0;
  for (const { bytes } of waiting) sum += bytes;
  return sum;
}
