import type { IbftSchedule } from "../chainspec/ibftParameters.ts";
import { isEpochBlock, tallyAfter, tallyAfterEpoch, type VoteTally } from "../ibft/validatorVotes.ts";
import { expectDefined } from "../primitives/assert.ts";
import { dropOldest } from "../primitives/boundedCache.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Batch, Database } from "../storage/database.ts";
import type { NamedHeader } from "../types/block.ts";
import { decodeExtraData } from "../types/extraData.ts";
import type { Header } from "../types/header.ts";
import { isSnapshotBlock, putTallySnapshot, readTallySnapshot } from "./tallySnapshot.ts";

/** Derives the validator set after any block, with the outstanding votes (ibft2.md#validator-set). */
export interface ValidatorSets {
  /** `block` must be stored, or follow a stored one. */
  after(block: NamedHeader): VoteTally;
  /** Keeps the tally after a stored block that the caller derived already. */
  remember(block: NamedHeader, tally: VoteTally): void;
  /** Adds a tally snapshot to the batch of each SNAPSHOT_PERIOD-th block, so that a start finds the set quickly. */
  writeSnapshot(batch: Batch, block: NamedHeader): void;
}

export interface ValidatorSetParts {
  readonly database: Database;
  readonly schedule: IbftSchedule;
  header(number: bigint): NamedHeader | undefined;
}

/** Tallies kept in memory, newest last. */
const CACHED_TALLIES = 256;

export function createValidatorSets(parts: ValidatorSetParts): ValidatorSets {
  const cache = new Map<string, VoteTally>();

  function remember(block: NamedHeader, tally: VoteTally): VoteTally {
    cache.set(toKey(block.hash), tally);
    dropOldest(cache, CACHED_TALLIES);
    return tally;
  }

  /** The tally after `block` if it is known without the parent's: cached, at an epoch block, or stored. */
  function known(block: NamedHeader): VoteTally | undefined {
    const cached = cache.get(toKey(block.hash));
    if (cached !== undefined) return cached;
    if (isEpochBlock(parts.schedule, block.header.number))
      return tallyAfterEpoch(headerWithExtra(block.header), parts.schedule);
    if (!isSnapshotBlock(block.header.number)) return undefined;
    return readTallySnapshot(parts.database, { number: block.header.number, hash: block.hash });
  }

  function after(block: NamedHeader): VoteTally {
    const unknown: NamedHeader[] = [];
    let at = block;
    let tally = known(at);
    while (tally === undefined) {
      unknown.push(at);
      at = expectDefined(parts.header(at.header.number - 1n), `the header of block ${at.header.number - 1n}`);
      tally = known(at);
    }
    for (const next of unknown.reverse()) {
      tally = remember(next, tallyAfter(tally, headerWithExtra(next.header), parts.schedule));
    }
    return tally;
  }

  return {
    after,
    remember,
    writeSnapshot(batch, block) {
      const { number } = block.header;
      if (isSnapshotBlock(number)) putTallySnapshot(batch, { number, hash: block.hash }, after(block));
    },
  };
}

function headerWithExtra(header: Header): Parameters<typeof tallyAfterEpoch>[0] {
  const extra = decodeExtraData(header.extraData);
  return {
    header,
    extra: expectDefined(extra.ok ? extra.value : undefined, "readable extra data of a committed block"),
  };
}
