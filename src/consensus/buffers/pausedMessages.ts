import type { SignedMessage } from "../../ibft/message.ts";
import { findMessageError } from "../../ibft/messageRules.ts";
import type { Input, Rules, State } from "../../ibft/state.ts";
import { type Head, validatorSetAfter } from "../../ibft/validatorSet.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { equalBytes } from "../../primitives/hex.ts";

/**
 * Keeps the messages of the height in progress that arrive while this node is paused, or arrived before. They are sent only
 * once; without them the node would join the others only at the end of their round, which may be an hour long. Only valid
 * messages are kept, so that a forged one cannot replace another, and per author and kind only the one of the highest round.
 */
export class PausedMessages {
  private readonly rules: Pick<Rules, "self" | "withRound">;
  private readonly messages = new Map<string, SignedMessage>();

  constructor(rules: Pick<Rules, "self" | "withRound">) {
    this.rules = rules;
  }

  /** Must be called after each step. Returns the messages to process next, in order of arrival; none except after a pause. */
  stepped(before: State, after: State, input: Input): readonly SignedMessage[] {
    const { head } = after;
    if (head !== before.head) this.messages.clear();
    if (head === undefined) return [];
    if (input.kind === "resumed") return this.takeAll();
    if (!after.isPaused || after.height !== undefined) return [];
    if (before.height?.parent === head)
      for (const message of messagesOf(before.height)) this.keep(head, message);
    if (input.kind === "message") this.keep(head, input.message);
    return [];
  }

  private keep(head: Head, message: SignedMessage): void {
    const { author, payload } = message.signed;
    if (equalBytes(author, this.rules.self)) return;
    const key = `${toKey(author)} ${message.kind}`;
    const known = this.messages.get(key);
    if (known !== undefined && known.signed.payload.round >= payload.round) return;
    if (findMessageError(validatorSetAfter(head), this.rules.withRound, message) !== undefined) return;
    this.messages.delete(key);
    this.messages.set(key, message);
  }

  private takeAll(): readonly SignedMessage[] {
    const taken = [...this.messages.values()];
    this.messages.clear();
    return taken;
  }
}

function messagesOf({ messages, round }: NonNullable<State["height"]>): readonly SignedMessage[] {
  return round.validation === undefined ? messages : [round.validation.proposal, ...messages];
}
