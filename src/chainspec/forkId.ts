import { crc32 } from "node:zlib";
import { expectDefined } from "../primitives/assert.ts";
import type { Hash } from "../primitives/hash.ts";
import { bigintToBytes, bigintToFixedBytes, bytesToBigint } from "../primitives/quantity.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { encodeRlpList, encodeRlpString } from "../primitives/rlp.ts";
import type { ForkSchedule } from "./forks.ts";

/**
 * The forks that a node has passed and the one it expects next (EIP-2124, with times by EIP-6122). Nodes exchange it first,
 * so that nodes that cannot agree on blocks disconnect early.
 */
export interface ForkId {
  /** CRC-32 of the genesis hash and of every fork passed. */
  readonly checksum: number;
  /** Number or time of the next fork, 0 when none is known. */
  readonly next: bigint;
}

/** The block number and time that decide which forks a chain has passed. */
export interface ForkProgress {
  readonly number: bigint;
  /** Seconds. */
  readonly timestamp: bigint;
}

/** The points at which a chain's rules change, ascending and without repetition. */
export interface ForkPoints {
  readonly blocks: readonly bigint[];
  /** Seconds. */
  readonly times: readonly bigint[];
}

type ForkIdErrorCode = "remoteForksStale" | "localForksIncompatible";

/**
 * The fork points of a schedule. Forks active in the genesis block are left out, since the genesis hash covers them, and
 * BFT transitions are not forks (p2p.md#status-and-fork-id).
 */
export function forkPoints(schedule: ForkSchedule, genesisTimestamp: bigint): ForkPoints {
  const blocks = schedule.activations.flatMap(({ at }) => ("block" in at && at.block > 0n ? [at.block] : []));
  const times = schedule.activations.flatMap(({ at }) =>
    "time" in at && at.time > genesisTimestamp ? [at.time] : [],
  );
  return { blocks: ascending(blocks), times: ascending(times) };
}

/** All fork ids of a chain. */
export class ForkIds {
  readonly #points: ForkPoints;
  readonly #stages: readonly ForkId[];

  constructor(genesisHash: Hash, points: ForkPoints) {
    this.#points = points;
    const { blocks, times } = points;
    this.#stages = stagesOf(genesisHash, [...blocks, ...times]);
  }

  /** Those of a schedule after a genesis block. */
  static of(
    schedule: ForkSchedule,
    { hash, header }: { readonly hash: Hash; readonly header: Pick<ForkProgress, "timestamp"> },
  ): ForkIds {
    return new ForkIds(hash, forkPoints(schedule, header.timestamp));
  }

  at(progress: ForkProgress): ForkId {
    return expectDefined(this.#stages[this.#stageAt(progress).index], "a stage for every head");
  }

  /**
   * Validates a remote node's fork id while we are at `progress`. Fails when the remote does not know a fork that we have
   * passed, or follows forks that we do not know.
   */
  check(progress: ForkProgress, remote: ForkId): Result<void, ForkIdErrorCode> {
    const { index, reached } = this.#stageAt(progress);
    const remoteIndex = this.#stages.findIndex(({ checksum }) => checksum === remote.checksum);
    if (remoteIndex < 0) return incompatible(`they follow forks that we do not know (${show(remote)})`);
    if (remoteIndex > index) return ok(undefined);
    if (remoteIndex < index) {
      return this.#stages[remoteIndex]?.next === remote.next
        ? ok(undefined)
        : fail(
            "peer",
            "remoteForksStale",
            `they do not know our fork at ${this.#stages[remoteIndex]?.next} (${show(remote)})`,
          );
    }
    const hasPassed =
      reached >= remote.next || (isSurelyTime(remote.next) && progress.timestamp >= remote.next);
    return remote.next > 0n && hasPassed
      ? incompatible(`their next fork at ${remote.next} has passed here without effect`)
      : ok(undefined);
  }

  /** Forks by time come after all forks by number. */
  #isByTime(stage: number): boolean {
    return stage >= this.#points.blocks.length && this.#points.times.length > 0;
  }

  /** The current stage, and the value (number or time) to compare with its next fork. */
  #stageAt({ number, timestamp }: ForkProgress): {
    readonly index: number;
    readonly reached: bigint;
  } {
    const reachedAt = (index: number): bigint => (this.#isByTime(index) ? timestamp : number);
    const index = this.#stages.findIndex(({ next }, stage) => next === 0n || reachedAt(stage) < next);
    return { index, reached: reachedAt(index) };
  }
}

/** [checksum, next]: the last item of a Status message; the entry `eth` of a node record nests it in another list. */
export function encodeForkId({ checksum, next }: ForkId): Uint8Array {
  return encodeRlpList([
    encodeRlpString(bigintToFixedBytes(BigInt(checksum), 4)),
    encodeRlpString(bigintToBytes(next)),
  ]);
}

/** Decodes a fork id from items of a larger RLP. */
export function forkIdFromItems(items: unknown): Result<ForkId, "malformedForkId"> {
  const [checksum, next, ...others]: readonly unknown[] = Array.isArray(items) ? items : [];
  if (!(checksum instanceof Uint8Array) || !(next instanceof Uint8Array) || others.length > 0)
    return fail("peer", "malformedForkId", "a fork id is a list of a checksum and the next fork");
  if (checksum.length !== 4) return fail("peer", "malformedForkId", "the checksum has 4 bytes");
  if (next.length > 8 || next[0] === 0)
    return fail("peer", "malformedForkId", "the next fork is a whole number of at most 8 bytes");
  return ok({ checksum: Number(bytesToBigint(checksum)), next: bytesToBigint(next) });
}

/** The fork ids before the first fork, after it, after the second, and so on. */
function stagesOf(genesisHash: Hash, forks: readonly bigint[]): readonly ForkId[] {
  const stages: ForkId[] = [];
  let checksum = crc32(genesisHash);
  for (const fork of forks) {
    stages.push({ checksum, next: fork });
    checksum = crc32(bigintToFixedBytes(fork, 8), checksum);
  }
  return [...stages, { checksum, next: 0n }];
}

/**
 * Numbers and times share a field. A value above the timestamp of main net's genesis, 1438269973, counts as a time even on
 * a chain whose own forks all have numbers, as in other clients.
 */
function isSurelyTime(next: bigint): boolean {
  return next > 1_438_269_973n;
}

function ascending(values: readonly bigint[]): readonly bigint[] {
  return [...new Set(values)].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

function show({ checksum, next }: ForkId): string {
  return `fork id 0x${checksum.toString(16).padStart(8, "0")}, next fork ${next === 0n ? "none" : next}`;
}

function incompatible(message: string): Result<never, ForkIdErrorCode> {
  return fail("peer", "localForksIncompatible", message);
}
