import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { Clock, Timer } from "../../primitives/clock.ts";
import { equalBytes } from "../../primitives/hex.ts";
import { IMPLIED_HEIGHT_DELAY_MS } from "./limits.ts";
import type { Peer } from "./peer.ts";
import type { EthChain } from "./ports.ts";

/**
 * Derives validators' heights from their consensus messages. A validator that sends messages for the height after next has
 * the next block, which is usually being committed here at the same moment: its height is raised only after a short delay.
 * Larger leads are believed at once.
 */
interface ImpliedHeights {
  note(validator: Address, number: bigint): void;
  close(): void;
}

export function createImpliedHeights(parts: {
  readonly clock: Clock;
  readonly chain: Pick<EthChain, "head">;
  readonly peers: () => readonly Peer[];
  readonly onPeersChanged: () => void;
}): ImpliedHeights {
  const { clock, chain } = parts;
  const headNumber = (): bigint => chain.head.header.number;
  /** Pending heights, one per validator: no more than are connected. */
  const waiting = new Map<string, { readonly validator: Address; readonly number: bigint }>();
  let timer: Timer | undefined;

  function raiseWaiting(): void {
    timer = undefined;
    const due = [...waiting.values()];
    waiting.clear();
    for (const { validator, number } of due) if (number > headNumber()) raise(validator, number);
  }

  function raise(validator: Address, number: bigint): void {
    for (const peer of parts.peers()) {
      if (peer.height === undefined || peer.height >= number) continue;
      if (!equalBytes(peer.address, validator)) continue;
      peer.raiseHeight(number, headNumber());
      parts.onPeersChanged();
    }
  }

  return {
    note(validator, number) {
      const ahead = number - headNumber();
      if (ahead > 1n) raise(validator, number);
      if (ahead !== 1n) return;
      waiting.set(toKey(validator), { validator, number });
      timer ??= clock.at(clock.nowMs() + IMPLIED_HEIGHT_DELAY_MS, raiseWaiting);
    },
    close: () => timer?.cancel(),
  };
}
