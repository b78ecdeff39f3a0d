import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { Clock, Timer } from "../../primitives/clock.ts";
import { IMPLIED_HEIGHT_DELAY_MS } from "./limits.ts";

/**
 * What validators' words in consensus tell of blocks that we lack. Whoever speaks of the height after next has the next
 * block, which most of the time is just being committed here too: it is given the moment before anybody is asked for it.
 * Who is further ahead than that is believed at once.
 */
export interface ImpliedHeights {
  note(validator: Address, number: bigint): void;
  close(): void;
}

export function createImpliedHeights(parts: {
  readonly clock: Clock;
  readonly headNumber: () => bigint;
  readonly raise: (validator: Address, number: bigint) => void;
}): ImpliedHeights {
  const { clock, headNumber } = parts;
  /** One for each validator that spoke: no more than are connected. */
  const waiting = new Map<string, { readonly validator: Address; readonly number: bigint }>();
  let timer: Timer | undefined;

  function raiseWaiting(): void {
    timer = undefined;
    const waitingHeights = [...waiting.values()];
    waiting.clear();
    for (const { validator, number } of waitingHeights)
      if (number > headNumber()) parts.raise(validator, number);
  }

  return {
    note(validator, number) {
      const ahead = number - headNumber();
      if (ahead > 1n) parts.raise(validator, number);
      if (ahead !== 1n) return;
      waiting.set(toKey(validator), { validator, number });
      timer ??= clock.at(clock.nowMs() + IMPLIED_HEIGHT_DELAY_MS, raiseWaiting);
    },
    close: () => timer?.cancel(),
  };
}
