import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { Clock, Timer } from "../../primitives/clock.ts";
import { equalBytes } from "../../primitives/hex.ts";
import { IMPLIED_HEIGHT_DELAY_MS } from "./limits.ts";
import type { Peer } from "./peer.ts";
import type { EthChain } from "./ports.ts";

interface ImpliedHeightsParts {
  readonly clock: Clock;
  readonly chain: Pick<EthChain, "head">;
  readonly peers: () => readonly Peer[];
  readonly onPeersChanged: () => void;
}

/**
 * Derives validators' heights from their consensus messages. A validator that sends messages for the height after next has
 * the next block, which is usually being committed here at the same moment: its height is raised only after a short delay.
 * Larger leads are believed at once.
 */
export class ImpliedHeights {
  private readonly parts: ImpliedHeightsParts;
  /** Pending heights, one per validator: no more than are connected. */
  private readonly waiting = new Map<string, { readonly validator: Address; readonly number: bigint }>();
  private timer: Timer | undefined;

  constructor(parts: ImpliedHeightsParts) {
    this.parts = parts;
  }

  note(validator: Address, number: bigint): void {
    const ahead = number - this.headNumber();
    if (ahead > 1n) this.raise(validator, number);
    if (ahead !== 1n) return;
    this.waiting.set(toKey(validator), { validator, number });
    this.timer ??= this.parts.clock.at(this.parts.clock.nowMs() + IMPLIED_HEIGHT_DELAY_MS, () =>
      this.raiseWaiting(),
    );
  }

  close(): void {
    this.timer?.cancel();
  }

  private headNumber(): bigint {
    return this.parts.chain.head.header.number;
  }

  private raiseWaiting(): void {
    this.timer = undefined;
    const due = [...this.waiting.values()];
    this.waiting.clear();
    for (const { validator, number } of due) if (number > this.headNumber()) this.raise(validator, number);
  }

  private raise(validator: Address, number: bigint): void {
    for (const peer of this.parts.peers()) {
      if (peer.height === undefined || peer.height >= number) continue;
      if (!equalBytes(peer.address, validator)) continue;
      peer.raiseHeight(number, this.headNumber());
      this.parts.onPeersChanged();
    }
  }
}
