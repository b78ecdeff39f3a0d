import { crc32 } from "node:zlib";
import { expectDefined } from "../primitives/assert.ts";
import type { Hash } from "../primitives/hash.ts";
import { bigintToBytes, bigintToFixedBytes, bytesToBigint } from "../primitives/quantity.ts";
import { err, ok, type Result } from "../primitives/result.ts";
import { encodeRlpList, encodeRlpString } from "../primitives/rlp.ts";
import type { ForkSchedule } from "./forks.ts";

/**
 * Which rules a node has behind it and which it expects (EIP-2124, with times by EIP-6122): what two nodes tell each
 * other first, so that those who will not agree on a block part early.
 */
export interface ForkId {
  /** CRC-32 of the genesis hash and of every fork passed. */
  readonly checksum: number;
  /** Number or time of the next fork, 0 when none is known. */
  readonly next: bigint;
}

/** Where a chain stands, as far as forks go. */
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

export type ForkIdErrorCode = "remoteForksStale" | "localForksIncompatible";

/** All fork ids of a chain. */
export interface ForkIds {
  at(progress: ForkProgress): ForkId;
  /**
   * Judges what a remote node says of itself while we are at `progress`. Two codes: the remote has not heard of a fork
   * that we have passed, or it follows rules that we do not know.
   */
  check(progress: ForkProgress, remote: ForkId): Result<void, ForkIdErrorCode>;
}

/**
 * The fork points of a schedule. Those in force in the genesis block are part of the genesis hash already and left out,
 * and BFT transitions are no forks (p2p.md#status-and-fork-id).
 */
export function forkPoints(schedule: ForkSchedule, genesisTimestamp: bigint): ForkPoints {
  const blocks = schedule.activations.flatMap(({ at }) => ("block" in at && at.block > 0n ? [at.block] : []));
  const times = schedule.activations.flatMap(({ at }) =>
    "time" in at && at.time > genesisTimestamp ? [at.time] : [],
  );
  return { blocks: ascending(blocks), times: ascending(times) };
}

export function createForkIds(genesisHash: Hash, { blocks, times }: ForkPoints): ForkIds {
  const stages = stagesOf(genesisHash, [...blocks, ...times]);
  /** With all its forks by number behind it, a chain that has forks by time counts in seconds. */
  const isByTime = (stage: number): boolean => stage >= blocks.length && times.length > 0;

  /** The stage that has begun last; the value that the fork after it is compared with. */
  function stageAt({ number, timestamp }: ForkProgress): {
    readonly index: number;
    readonly reached: bigint;
  } {
    const reachedAt = (index: number): bigint => (isByTime(index) ? timestamp : number);
    const index = stages.findIndex(({ next }, stage) => next === 0n || reachedAt(stage) < next);
    return { index, reached: reachedAt(index) };
  }

  return {
    at: (progress) => expectDefined(stages[stageAt(progress).index], "a stage for every head"),
    check(progress, remote) {
      const { index, reached } = stageAt(progress);
      const theirs = stages.findIndex(({ checksum }) => checksum === remote.checksum);
      if (theirs < 0) return incompatible(`they follow forks that we do not know (${show(remote)})`);
      if (theirs > index) return ok(undefined);
      if (theirs < index) {
        return stages[theirs]?.next === remote.next
          ? ok(undefined)
          : refuse(
              "remoteForksStale",
              `they do not know our fork at ${stages[theirs]?.next} (${show(remote)})`,
            );
      }
      const hasPassed =
        reached >= remote.next || (isSurelyTime(remote.next) && progress.timestamp >= remote.next);
      return remote.next > 0n && hasPassed
        ? incompatible(`their next fork at ${remote.next} has passed here without effect`)
        : ok(undefined);
    },
  };
}

/** [checksum, next]: the last item of a Status message, and the entry `eth` of a node record holds it once more in a list. */
export function encodeForkId({ checksum, next }: ForkId): Uint8Array {
  return encodeRlpList([
    encodeRlpString(bigintToFixedBytes(BigInt(checksum), 4)),
    encodeRlpString(bigintToBytes(next)),
  ]);
}

/** A fork id from items already taken out of a larger RLP. */
export function forkIdFromItems(items: unknown): Result<ForkId, "malformedForkId"> {
  const [checksum, next, ...others]: readonly unknown[] = Array.isArray(items) ? items : [];
  if (!(checksum instanceof Uint8Array) || !(next instanceof Uint8Array) || others.length > 0)
    return malformed("a fork id is a list of a checksum and the next fork");
  if (checksum.length !== 4) return malformed("the checksum has 4 bytes");
  if (next.length > 8 || next[0] === 0)
    return malformed("the next fork is a whole number of at most 8 bytes");
  return ok({ checksum: Number(bytesToBigint(checksum)), next: bytesToBigint(next) });
}

/** The fork id before the first fork, after it, after the second… */
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
 * Numbers and times share a field. What is beyond main net's first second, 1438269973, is taken for a time also by a
 * chain whose own forks all have numbers, as the other clients do.
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
  return refuse("localForksIncompatible", message);
}

function refuse(code: ForkIdErrorCode, message: string): Result<never, ForkIdErrorCode> {
  return err({ code, fault: "peer", message });
}

function malformed(message: string): Result<never, "malformedForkId"> {
  return err({ code: "malformedForkId", fault: "peer", message });
}
