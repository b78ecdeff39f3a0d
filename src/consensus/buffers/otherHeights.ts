import { MESSAGE_CODES } from "../../ibft/codec/encoding.ts";
import type { Rules } from "../../ibft/state.ts";
import type { Head } from "../../ibft/validatorSet.ts";
import { isValidator } from "../../ibft/validatorVotes.ts";
import { createFarFutureRoundChanges } from "./farFutureRoundChanges.ts";
import { type FutureLimits, FutureMessages, type RawMessage } from "./futureMessages.ts";

/** Undecoded messages of heights that have not begun, and those that arrive before the first head is known. */
export interface OtherHeights<Message extends RawMessage> {
  /** Keeps a message that arrives before the first head. */
  addBeforeStart(message: Message): void;
  /** Keeps a message of a height after the one in progress; tells what became of it. */
  add(message: Message, height: bigint, head: Head): "kept" | "tooFar" | "full";
  /** Removes and returns the messages of the height after `next`; far-future ones are kept of its validators only. */
  takeAfter(next: Head): readonly Message[];
  /** Removes and returns those that arrived before the first head. */
  takeBeforeStart(): readonly Message[];
  /** Messages of future heights, their bytes, and the round changes of heights too far ahead for that buffer. */
  readonly waiting: { readonly messages: number; readonly bytes: number; readonly farFuture: number };
}

/** `onDropped` is called with the number of messages of future heights that were not kept, or evicted. */
export function createOtherHeights<Message extends RawMessage>(
  schedule: Pick<Rules["schedule"], "futureMessagesLimit" | "futureMessagesMaxDistance">,
  onDropped: (count: number) => void = () => undefined,
): OtherHeights<Message> {
  const limits: FutureLimits = {
    messages: schedule.futureMessagesLimit,
    distance: schedule.futureMessagesMaxDistance,
    bytes: FUTURE_BYTES_LIMIT,
  };
  let newest: Head | undefined;
  const future = new FutureMessages<Message>(
    limits,
    (sender) => newest !== undefined && isValidator(newest.tally, sender),
  );
  /** Validators send their last messages on connecting, which may be before the first head is known. */
  const beforeStart = new FutureMessages<Message>(limits);
  const farFuture = createFarFutureRoundChanges<Message>(FAR_FUTURE_LIMITS);
  return {
    addBeforeStart: (message) => void beforeStart.add(message, 0n, 0n),
    takeBeforeStart: () => beforeStart.takeUpTo(0n),
    add(message, height, head) {
      newest = head;
      const before = future.count;
      const result = future.add(message, height, head.header.number + 1n);
      const dropped = before + 1 - future.count;
      if (dropped > 0) onDropped(dropped);
      const isRoundChange = message.code === MESSAGE_CODES.roundChange;
      if (result === "tooFar" && isRoundChange && isValidator(head.tally, message.sender))
        farFuture.add(message, height);
      return result;
    },
    takeAfter({ header, tally }) {
      const height = header.number + 1n;
      const taken = [...farFuture.takeUpTo(height), ...future.takeUpTo(height)];
      farFuture.keepOnlyFrom(tally.validators);
      return taken;
    },
    get waiting() {
      return { messages: future.count, bytes: future.bytes, farFuture: farFuture.count };
    },
  };
}

/** Enough for dozens of full blocks. */
export const FUTURE_BYTES_LIMIT = 64 * 1024 * 1024;

/**
 * Per connected validator, and for all. The last message of each is kept at any size, because a RoundChange may include the
 * prepared block.
 */
const FAR_FUTURE_LIMITS = { messagesPerSender: 4, bytesPerSender: 4 * 1024 * 1024, bytes: 64 * 1024 * 1024 };
