import type { IbftSchedule } from "../chainspec/ibftParameters.ts";
import { isEpochBlock, tallyAfter, tallyAfterEpoch, type VoteTally } from "../ibft/validatorVotes.ts";
import { expectDefined } from "../primitives/assert.ts";
import { dropOldest } from "../primitives/boundedCache.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Batch } from "../storage/batch.ts";
import type { Database } from "../storage/database.ts";
import type { NamedHeader } from "../types/block.ts";
import { decodeExtraData } from "../types/extraData.ts";
import type { Header } from "../types/header.ts";
import { isSnapshotBlock, putTallySnapshot, readTallySnapshot } from "./tallySnapshot.ts";

interface ValidatorSetParts {
  readonly database: Database;
  readonly schedule: IbftSchedule;
  header(number: bigint): NamedHeader | undefined;
}

/** Number of tallies kept in memory, newest last. */
const CACHED_TALLIES = 256;

/** Derives the validator set after any block, with the outstanding votes (ibft2.md#validator-set). */
export class ValidatorSets {
  private readonly parts: ValidatorSetParts;
  private readonly cache = new Map<string, VoteTally>();

  constructor(parts: ValidatorSetParts) {
    this.parts = parts;
  }

  /** `block` must be stored, or follow a stored one. */
  after(block: NamedHeader): VoteTally {
    const unknown: NamedHeader[] = [];
    let at = block;
    let tally = this.known(at);
    while (tally === undefined) {
      unknown.push(at);
      at = expectDefined(
        this.parts.header(at.header.number - 1n),
        `the header of block ${at.header.number - 1n}`,
      );
      tally = this.known(at);
    }
    for (const next of unknown.reverse()) {
      tally = this.remember(next, tallyAfter(tally, headerWithExtra(next.header), this.parts.schedule));
    }
    return tally;
  }

  /** Keeps the tally after a stored block, already derived by the caller. */
  remember(block: NamedHeader, tally: VoteTally): VoteTally {
    this.cache.set(toKey(block.hash), tally);
    dropOldest(this.cache, CACHED_TALLIES);
    return tally;
  }

  /** Adds a tally snapshot to the batch of each SNAPSHOT_PERIOD-th block, so that a start finds the set quickly. */
  writeSnapshot(batch: Batch, block: NamedHeader): void {
    const { number } = block.header;
    if (isSnapshotBlock(number)) putTallySnapshot(batch, { number, hash: block.hash }, this.after(block));
  }

  /** The tally after `block` if it is known without the parent's: cached, at an epoch block, or stored. */
  private known(block: NamedHeader): VoteTally | undefined {
    const cached = this.cache.get(toKey(block.hash));
    if (cached !== undefined) return cached;
    if (isEpochBlock(this.parts.schedule, block.header.number))
      return tallyAfterEpoch(headerWithExtra(block.header), this.parts.schedule);
    if (!isSnapshotBlock(block.header.number)) return undefined;
    return readTallySnapshot(this.parts.database, { number: block.header.number, hash: block.hash });
  }
}

function headerWithExtra(header: Header): Parameters<typeof tallyAfterEpoch>[0] {
  const extra = decodeExtraData(header.extraData);
  return {
    header,
    extra: expectDefined(extra.ok ? extra.value : undefined, "readable extra data of a committed block"),
  };
}
