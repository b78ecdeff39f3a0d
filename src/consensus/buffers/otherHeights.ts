import { MESSAGE_CODES } from "../../ibft/codec/encoding.ts";
import type { Rules } from "../../ibft/state.ts";
import type { Head } from "../../ibft/validatorSet.ts";
import { isValidator } from "../../ibft/validatorVotes.ts";
import { FarFutureRoundChanges } from "./farFutureRoundChanges.ts";
import { type FutureLimits, FutureMessages, type RawMessage } from "./futureMessages.ts";

/** Undecoded messages of heights that have not begun, and those that arrive before the first head is known. */
export class OtherHeights<Message extends RawMessage> {
  private readonly onDropped: (count: number) => void;
  private newest: Head | undefined;
  private readonly future: FutureMessages<Message>;
  /** Validators send their last messages on connecting, which may be before the first head is known. */
  private readonly beforeStart: FutureMessages<Message>;
  private readonly farFuture = new FarFutureRoundChanges<Message>(FAR_FUTURE_LIMITS);

  /** `onDropped` is called with the number of messages of future heights that were refused or evicted. */
  constructor(
    schedule: Pick<Rules["schedule"], "futureMessagesLimit" | "futureMessagesMaxDistance">,
    onDropped: (count: number) => void = () => undefined,
  ) {
    this.onDropped = onDropped;
    const limits: FutureLimits = {
      messages: schedule.futureMessagesLimit,
      distance: schedule.futureMessagesMaxDistance,
      bytes: FUTURE_BYTES_LIMIT,
    };
    this.future = new FutureMessages<Message>(
      limits,
      (sender) => this.newest !== undefined && isValidator(this.newest.tally, sender),
    );
    this.beforeStart = new FutureMessages<Message>(limits);
  }

  /** Keeps a message that arrives before the first head. */
  addBeforeStart(message: Message): void {
    void this.beforeStart.add(message, 0n, 0n);
  }

  /** Removes and returns those that arrived before the first head. */
  takeBeforeStart(): readonly Message[] {
    return this.beforeStart.takeUpTo(0n);
  }

  /** Keeps a message of a height after the one in progress; returns the result. */
  add(message: Message, height: bigint, head: Head): "buffered" | "tooFarAhead" | "bufferFull" {
    this.newest = head;
    const before = this.future.count;
    const result = this.future.add(message, height, head.header.number + 1n);
    const dropped = before + 1 - this.future.count;
    if (dropped > 0) this.onDropped(dropped);
    const isRoundChange = message.code === MESSAGE_CODES.roundChange;
    if (result === "tooFarAhead" && isRoundChange && isValidator(head.tally, message.sender))
      this.farFuture.add(message, height);
    return result;
  }

  /** Removes and returns the messages of the height after `next`; far-future ones are kept only from its validators. */
  takeAfter({ header, tally }: Head): readonly Message[] {
    const height = header.number + 1n;
    const taken = [...this.farFuture.takeUpTo(height), ...this.future.takeUpTo(height)];
    this.farFuture.keepOnlyFrom(tally.validators);
    return taken;
  }

  /** Messages of future heights, their bytes, and the round changes of heights too far ahead for that buffer. */
  get waiting(): { readonly messages: number; readonly bytes: number; readonly farFuture: number } {
    return { messages: this.future.count, bytes: this.future.bytes, farFuture: this.farFuture.count };
  }
}

/** Bytes of messages of future heights: enough for dozens of full blocks. */
export const FUTURE_BYTES_LIMIT = 64 * 1024 * 1024;

/**
 * Limits for each connected validator, and for all of them. The last message of each is kept at any size, because a RoundChange
 * may include the prepared block.
 */
const FAR_FUTURE_LIMITS = { messagesPerSender: 4, bytesPerSender: 4 * 1024 * 1024, bytes: 64 * 1024 * 1024 };
