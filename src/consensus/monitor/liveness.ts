import type { Authored } from "../../ibft/message.ts";
import type { Head } from "../../ibft/validatorSet.ts";
import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { equalBytes, includesBytes } from "../../primitives/hex.ts";

/**
 * Tracks which validators are present: when each was last heard, and how many proposals it missed. A validator sends little
 * in a good round, so it counts as present when it was heard since the start of the previous round or height. Above round 0
 * every validator sends at least a RoundChange, so one that does not is missing.
 */
export interface Liveness {
  /** Records a message with a valid signature as its author's heartbeat, if that is a validator. */
  heard(message: Authored, nowMs: number): void;
  /** Records the proposer of the new block as present, and keeps only the validators after it. */
  headAdvanced(head: Head, nowMs: number): void;
  roundBegan(round: number, nowMs: number): void;
  /** Records a round that ended without a proposal. */
  turnMissed(proposer: Address): void;
  isPresent(address: Address): boolean;
  members(): readonly Member[];
}

/** A validator as this node sees it. */
export interface Member {
  readonly address: Address;
  /** Undefined when it has not been heard since the start. */
  readonly lastHeard: Heartbeat | undefined;
  readonly isPresent: boolean;
  /** Consecutive rounds in which it was the proposer and proposed nothing. */
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
  const heartbeats = new Map<string, Heartbeat>();
  const missedTurns = new Map<string, number>();

  function note(address: Address, heartbeat: Heartbeat): void {
    if (includesBytes(validators, address)) heartbeats.set(toKey(address), heartbeat);
  }

  function begin(number: number, nowMs: number): void {
    round = number;
    countsFromMs = Math.min(beganAtMs, nowMs);
    beganAtMs = nowMs;
  }

  function isPresent(address: Address): boolean {
    if (equalBytes(address, self)) return true;
    const last = heartbeats.get(toKey(address));
    const minHeight = round === 0 ? height - 1n : height;
    return last !== undefined && last.height >= minHeight && last.atMs >= countsFromMs;
  }

  return {
    heard({ kind, signed }, nowMs) {
      const { payload } = signed;
      note(signed.author, { atMs: nowMs, kind, height: payload.height, round: payload.round });
      if (kind === "proposal") missedTurns.delete(toKey(signed.author));
    },
    headAdvanced({ header, tally }, nowMs) {
      validators = tally.validators;
      keepOnly(validators, heartbeats, missedTurns);
      height = header.number + 1n;
      begin(0, nowMs);
      if (header.number === 0n) return;
      missedTurns.delete(toKey(header.coinbase));
      const last = heartbeats.get(toKey(header.coinbase));
      if (last === undefined || last.height < header.number)
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
        lastHeard: heartbeats.get(toKey(address)),
        isPresent: isPresent(address),
        missedTurns: missedTurns.get(toKey(address)) ?? 0,
      })),
  };
}

/** Drops the entries of other addresses. */
function keepOnly(addresses: readonly Address[], ...maps: readonly Map<string, unknown>[]): void {
  const keys = new Set(addresses.map(toKey));
  for (const map of maps) for (const key of map.keys()) if (!keys.has(key)) map.delete(key);
}
