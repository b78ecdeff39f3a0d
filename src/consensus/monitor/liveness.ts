import type { Head } from "../../ibft/input.ts";
import type { Authored } from "../../ibft/message.ts";
import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { equalBytes, includesBytes } from "../../primitives/hex.ts";

/**
 * Which validators are there: when each was last heard, and how many of its turns came to nothing. A validator that has
 * nothing to say in a good round is silent, so whoever spoke since the round or height before this one is taken as
 * present; past round 0 each must speak, if only to ask for the next round, and is missing if it does not.
 */
export interface Liveness {
  /** A message whose signature is sound; the author's last sign of life, if it is a validator. */
  heard(message: Authored, nowMs: number): void;
  /** The proposer of the new block was there. Only the validators after it are remembered. */
  headAdvanced(head: Head, nowMs: number): void;
  roundBegan(round: number, nowMs: number): void;
  /** A round ended in which the validator whose turn it was proposed nothing. */
  turnMissed(proposer: Address): void;
  isPresent(address: Address): boolean;
  members(): readonly Member[];
}

/** A validator as this node sees it. */
export interface Member {
  readonly address: Address;
  /** Undefined when it was not heard since the start. */
  readonly lastHeard: Heartbeat | undefined;
  readonly isPresent: boolean;
  /** Turns in a row in which it proposed nothing. */
  readonly missedTurns: number;
}

export interface Heartbeat {
  readonly atMs: number;
  /** "block": it proposed a block that was committed. */
  readonly kind: Authored["kind"] | "block";
  readonly height: bigint;
  readonly round: number | undefined;
}

export function createLiveness(self: Address): Liveness {
  let validators: readonly Address[] = [];
  let height = 0n;
  let round = 0;
  let beganAtMs = Number.POSITIVE_INFINITY;
  /** When the round or height before this one began. */
  let countsFromMs = Number.POSITIVE_INFINITY;
  const signs = new Map<string, Heartbeat>();
  const missedTurns = new Map<string, number>();

  function note(address: Address, sign: Heartbeat): void {
    if (includesBytes(validators, address)) signs.set(toKey(address), sign);
  }

  function begin(number: number, nowMs: number): void {
    round = number;
    countsFromMs = Math.min(beganAtMs, nowMs);
    beganAtMs = nowMs;
  }

  function isPresent(address: Address): boolean {
    if (equalBytes(address, self)) return true;
    const sign = signs.get(toKey(address));
    const least = round === 0 ? height - 1n : height;
    return sign !== undefined && sign.height >= least && sign.atMs >= countsFromMs;
  }

  return {
    heard({ kind, signed }, nowMs) {
      const { height: at, round: number } = signed.payload;
      note(signed.author, { atMs: nowMs, kind, height: at, round: number });
      if (kind === "proposal") missedTurns.delete(toKey(signed.author));
    },
    headAdvanced({ header, tally }, nowMs) {
      validators = tally.validators;
      const keys = new Set(validators.map(toKey));
      for (const memory of [signs, missedTurns])
        for (const key of memory.keys()) if (!keys.has(key)) memory.delete(key);
      height = header.number + 1n;
      begin(0, nowMs);
      if (header.number === 0n) return;
      missedTurns.delete(toKey(header.coinbase));
      const sign = signs.get(toKey(header.coinbase));
      if (sign === undefined || sign.height < header.number)
        note(header.coinbase, { atMs: nowMs, kind: "block", height: header.number, round: undefined });
    },
    roundBegan: begin,
    turnMissed(proposer) {
      const key = toKey(proposer);
      missedTurns.set(key, (missedTurns.get(key) ?? 0) + 1);
    },
    isPresent,
    members: () =>
      validators.map((address) => ({
        address,
        lastHeard: signs.get(toKey(address)),
        isPresent: isPresent(address),
        missedTurns: missedTurns.get(toKey(address)) ?? 0,
      })),
  };
}
