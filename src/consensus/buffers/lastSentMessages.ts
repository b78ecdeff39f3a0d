import type { RoundId } from "../../ibft/message.ts";

/** An encoded message. */
interface SentMessage {
  readonly code: number;
  readonly payload: Uint8Array;
}

/** Our messages of the last round in which we sent any: at most a RoundChange, a Proposal, a Prepare and a Commit. */
export interface LastSentMessages {
  /** Drops the messages of another round. */
  add(id: RoundId, message: SentMessage): void;
  dropUpTo(height: bigint): void;
  readonly messages: readonly SentMessage[];
}

export function createLastSentMessages(): LastSentMessages {
  let last: RoundId = { height: 0n, round: 0 };
  let messages: readonly SentMessage[] = [];
  return {
    add({ height, round }, message) {
      const isSame = height === last.height && round === last.round;
      messages = isSame ? [...messages, message] : [message];
      last = { height, round };
    },
    dropUpTo(height) {
      if (last.height <= height) messages = [];
    },
    get messages() {
      return messages;
    },
  };
}
