import type { Random } from "./random.ts";

/**
 * The memory of one node's votes, as the store's port promises it: what is written survives the end of the process,
 * what is synced survives a power cut, and of what lies between the two nobody knows.
 */
export interface VoteDisk {
  write(record: Uint8Array): void;
  /** All that is written is durable from now on. */
  sync(): void;
  crash(): void;
  cutPower(): void;
  /** What a node that starts now finds. */
  read(): Uint8Array | undefined;
}

export function createVoteDisk(random: Random): VoteDisk {
  let written: Uint8Array | undefined;
  let durable: Uint8Array | undefined;
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
    read: () => written,
  };
}
