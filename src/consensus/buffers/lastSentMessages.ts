import type { RoundId } from "../../ibft/message.ts";

/** An encoded message. */
interface SentMessage {
  readonly code: number;
  readonly payload: Uint8Array;
}

/** Our messages of the last round in which we sent any: at most a RoundChange, a Proposal, a Prepare and a Commit. */
export class LastSentMessages {
  private last: RoundId = { height: 0n, round: 0 };
  private sent: readonly SentMessage[] = [];

  /** Drops the messages of another round. */
  add({ height, round }: RoundId, message: SentMessage): void {
    const isSame = height === this.last.height && round === this.last.round;
    this.sent = isSame ? [...this.sent, message] : [message];
    this.last = { height, round };
  }

  dropUpTo(height: bigint): void {
    if (this.last.height <= height) this.sent = [];
  }

  get messages(): readonly SentMessage[] {
    return this.sent;
  }
}
