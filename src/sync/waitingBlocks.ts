import { toKey } from "../primitives/byteKey.ts";
import type { Hash } from "../primitives/hash.ts";
import { equalBytes } from "../primitives/hex.ts";
import { MAX_WAITING_BLOCKS, MAX_WAITING_BLOCKS_OF_PEER, MAX_WAITING_BYTES } from "./limits.ts";
import type { OfferedBlock } from "./ports.ts";

/**
 * Announced blocks that wait until their parent is the head. One block may wait several times, from several peers: the
 * copies have different seals, and not all need to be valid. When there are too many, the peer with the most of them
 * loses its highest, so that no peer can displace the announcements of others.
 */
export interface WaitingBlocks {
  /** False when the block was not queued: its peer has too many waiting. */
  add(offered: OfferedBlock): boolean;
  /** Takes the first block with this parent. */
  takeChildOf(parent: Hash): OfferedBlock | undefined;
  /** Drops blocks up to `number`. */
  dropUpTo(number: bigint): void;
}

interface Waiting {
  readonly offered: OfferedBlock;
  readonly bytes: number;
}

/** Approximate size of the header object. */
const OBJECT_BYTES = 4096;

export function createWaitingBlocks(): WaitingBlocks {
  const blocks = new Map<string, Waiting>();

  const bytesOf = (waiting: Iterable<Waiting>): number => {
    let sum = 0;
    for (const { bytes } of waiting) sum += bytes;
    return sum;
  };

  const isHeavy = (): boolean => bytesOf(blocks.values()) > MAX_WAITING_BYTES;
  const isTooMuch = (): boolean => blocks.size > MAX_WAITING_BLOCKS || (blocks.size > 1 && isHeavy());

  function makeRoom(): void {
    const isByBytes = isHeavy();
    const loadByPeer = new Map<string, number>();
    for (const { offered, bytes } of blocks.values())
      loadByPeer.set(offered.peer, (loadByPeer.get(offered.peer) ?? 0) + (isByBytes ? bytes : 1));
    const [[heaviest] = []] = [...loadByPeer].sort(([, one], [, other]) => other - one);
    let highest: readonly [key: string, number: bigint] | undefined;
    for (const [key, { offered }] of blocks) {
      const { number } = offered.header;
      if (offered.peer === heaviest && (highest === undefined || number >= highest[1]))
        highest = [key, number];
    }
    if (highest !== undefined) blocks.delete(highest[0]);
  }

  return {
    add(offered) {
      const key = `${toKey(offered.hash)} ${offered.peer}`;
      const ofPeer = [...blocks.values()].filter((one) => one.offered.peer === offered.peer).length;
      if (ofPeer >= MAX_WAITING_BLOCKS_OF_PEER) return false;
      blocks.set(key, { offered, bytes: offered.bytes + OBJECT_BYTES });
      while (isTooMuch()) makeRoom();
      return blocks.has(key);
    },
    takeChildOf(parent) {
      for (const [key, { offered }] of blocks) {
        if (!equalBytes(offered.header.parentHash, parent)) continue;
        blocks.delete(key);
        return offered;
      }
      return undefined;
    },
    dropUpTo(number) {
      for (const [key, { offered }] of blocks) if (offered.header.number <= number) blocks.delete(key);
    },
  };
}
