import type { CalleeEnd, Step } from "../execution/observer.ts";
import { toKey } from "../primitives/byteKey.ts";
import { wordDigits } from "./traceText.ts";

/**
 * The slots that struct logs show: those that a frame or its successful callees wrote in the account. A callee does not
 * show what its caller wrote before.
 */
export class WrittenStorage {
  private readonly frames: Frame[] = [];

  entered(): void {
    this.frames.push(new Map());
  }

  /** Must be called before the instruction is performed, which removes its operands. */
  begun({ instruction, state }: Step): void {
    if (instruction !== SSTORE || state.stack.length < 2) return;
    const account = this.accountOf(toKey(state.address));
    this.pending = { account, key: wordDigits(state.stack.at(0)), value: wordDigits(state.stack.at(1)) };
  }

  performed(step: Step): void {
    const { pending } = this;
    this.pending = undefined;
    if (pending === undefined || step.halt !== undefined) return;
    pending.account.slots.set(pending.key, pending.value);
    pending.account.text = undefined;
  }

  left({ halt, hasReverted }: CalleeEnd): void {
    const frame = this.frames.pop();
    const caller = this.frames.at(-1);
    if (frame === undefined || caller === undefined || hasReverted || halt !== undefined) return;
    for (const [address, { slots }] of frame) {
      const account = this.accountOf(address);
      for (const [key, value] of slots) account.slots.set(key, value);
      account.text = undefined;
    }
  }

  /** JSON of the slots that the frame has written in the account, sorted. */
  text(address: Uint8Array): string {
    const account = this.frames.at(-1)?.get(toKey(address));
    if (account === undefined) return "{}";
    account.text ??= `{${[...account.slots]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => `"${key}":"${value}"`)
      .join(",")}}`;
    return account.text;
  }

  private pending:
    | { readonly account: WrittenAccount; readonly key: string; readonly value: string }
    | undefined;

  private accountOf(address: string): WrittenAccount {
    const frame = this.frames.at(-1);
    let account = frame?.get(address);
    if (account === undefined) {
      account = { slots: new Map(), text: undefined };
      frame?.set(address, account);
    }
    return account;
  }
}

type Frame = Map<string, WrittenAccount>;

interface WrittenAccount {
  readonly slots: Map<string, string>;
  text: string | undefined;
}

const SSTORE = 0x55;
