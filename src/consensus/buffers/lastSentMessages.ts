import type { RoundId } from "../../ibft/roundId.ts";

/** A message as it is spelled. */
interface SentMessage {
  readonly code: number;
  readonly payload: Uint8Array;
}

/** What we said in the latest round in which we spoke: our wish for the round, and our part in it; four messages at most. */
export interface LastSentMessages {
  /** Words of an earlier place are forgotten by those of a later one. */
  add(place: RoundId, message: SentMessage): void;
  dropUpTo(height: bigint): void;
  readonly messages: readonly SentMessage[];
}

export function createLastSentMessages(): LastSentMessages {
  let place: RoundId = { height: 0n, round: 0 };
  let messages: readonly SentMessage[] = [];
  return {
    add({ height, round }, message) {
      const isSame = height === place.height && round === place.round;
      messages = isSame ? [...messages, message] : [message];
      place = { height, round };
    },
    dropUpTo(height) {
      if (place.height <= height) messages = [];
    },
    get messages() {
      return messages;
    },
  };
}
