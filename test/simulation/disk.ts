import type { VoteRecord } from "../../src/ibft/voteRecord.ts";
import { decodeVoteRecord, encodeVoteRecord } from "../../src/ibft/voteRecord.ts";
import type { Random } from "./random.ts";

/**
 * The memory of one node's votes, as the store's port promises it: what is written survives the end of the process,
 * what is synced survives a power cut, and of what lies between the two nobody knows.
 */
export interface VoteDisk {
  write(record: VoteRecord): void;
  /** All that is written is durable from now on. */
  sync(): void;
  crash(): void;
  cutPower(): void;
  /** What a node that starts now finds, read from the bytes that it was stored in. */
  read(): VoteRecord | undefined;
}

export function createVoteDisk(random: Random): VoteDisk {
  let written: VoteRecord | undefined;
  let durable: VoteRecord | undefined;
  const sync = (): void => {
    durable = written;
  };
  return {
    write(record) {
      written = record;
    },
    sync,
    crash: sync,
    cutPower() {
      if (random.chance(0.5)) written = durable;
      else durable = written;
    },
    read() {
      if (written === undefined) return undefined;
      const record = decodeVoteRecord(encodeVoteRecord(written));
      if (!record.ok) throw new Error(record.rejection.message);
      return record.value;
    },
  };
}
