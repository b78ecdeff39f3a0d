import type { RoundId } from "../../ibft/roundId.ts";

/** A message as it is spelled. */
interface Word {
  readonly code: number;
  readonly payload: Uint8Array;
}

/** What we said in the latest round in which we spoke: our wish for the round, and our part in it; four messages at most. */
export interface OwnWords {
  /** Words of an earlier place are forgotten by those of a later one. */
  add(place: RoundId, word: Word): void;
  dropUpTo(height: bigint): void;
  readonly words: readonly Word[];
}

export function createOwnWords(): OwnWords {
  let place: RoundId = { height: 0n, round: 0 };
  let words: readonly Word[] = [];
  return {
    add({ height, round }, word) {
      const isSame = height === place.height && round === place.round;
      words = isSame ? [...words, word] : [word];
      place = { height, round };
    },
    dropUpTo(height) {
      if (place.height <= height) words = [];
    },
    get words() {
      return words;
    },
  };
}
