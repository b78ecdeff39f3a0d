import type { Random } from "./random.ts";

/**
 * The vote log of one node, with the guarantees of its port: written records survive the end of the process, synced
 * records survive a power cut, and records in between may or may not.
 */
export interface VoteDisk {
  write(record: Uint8Array): void;
  /** Makes all written records durable. */
  sync(): void;
  crash(): void;
  cutPower(): void;
  /** The record that a node finds when it starts now. */
  read(): Uint8Array | undefined;
  /** Puts another record in its place: an older one, or none. */
  replace(record: Uint8Array | undefined): void;
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
    replace(record) {
      written = record;
      durable = record;
    },
  };
}
