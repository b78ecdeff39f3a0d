import type { SignedMessage } from "../../ibft/message.ts";
import type { Head } from "../../ibft/validatorSet.ts";
import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { equalBytes, includesBytes } from "../../primitives/hex.ts";

/** A validator as this node sees it. */
export interface Member {
  readonly address: Address;
  /** Undefined when it has not been heard since the start. */
  readonly lastHeard: Heartbeat | undefined;
  readonly isPresent: boolean;
  /** Consecutive rounds in which it was the proposer and proposed nothing. */
  readonly missedTurns: number;
}

interface Heartbeat {
  readonly atMs: number;
  /** The kind of message; "block" when it proposed a block that was committed. */
  readonly kind: SignedMessage["kind"] | "block";
  readonly height: bigint;
  readonly round: number | undefined;
}

/**
 * Tracks which validators are present: when each was last heard, and how many proposals it missed. A validator sends little
 * in a good round, so it counts as present if it was heard since the start of the previous round or height. Above round 0
 * every validator sends at least a RoundChange, so one that does not is missing.
 */
export class Liveness {
  private readonly self: Address;
  private validators: readonly Address[] = [];
  private height = 0n;
  private round = 0;
  private beganAtMs = Number.POSITIVE_INFINITY;
  /** When the previous round or height began. */
  private countsFromMs = Number.POSITIVE_INFINITY;
  private readonly heartbeats = new Map<string, Heartbeat>();
  private readonly missedTurns = new Map<string, number>();

  constructor(self: Address) {
    this.self = self;
  }

  /** Records a message with a valid signature as its author's heartbeat, if that is a validator. */
  received({ kind, signed }: SignedMessage, nowMs: number): void {
    const { payload } = signed;
    this.note(signed.author, { atMs: nowMs, kind, height: payload.height, round: payload.round });
    if (kind === "proposal") this.missedTurns.delete(toKey(signed.author));
  }

  /** Records the proposer of the new block as present, and keeps only the validators after it. */
  headAdvanced({ header, tally }: Head, nowMs: number): void {
    this.validators = tally.validators;
    keepOnly(this.validators, this.heartbeats, this.missedTurns);
    this.height = header.number + 1n;
    this.roundBegan(0, nowMs);
    if (header.number === 0n) return;
    this.missedTurns.delete(toKey(header.coinbase));
    const last = this.heartbeats.get(toKey(header.coinbase));
    if (last === undefined || last.height < header.number)
      this.note(header.coinbase, { atMs: nowMs, kind: "block", height: header.number, round: undefined });
  }

  roundBegan(number: number, nowMs: number): void {
    this.round = number;
    this.countsFromMs = Math.min(this.beganAtMs, nowMs);
    this.beganAtMs = nowMs;
  }

  /** Records a round that ended without a proposal. */
  turnMissed(proposer: Address): void {
    const key = toKey(proposer);
    this.missedTurns.set(key, (this.missedTurns.get(key) ?? 0) + 1);
  }

  isPresent(address: Address): boolean {
    if (equalBytes(address, this.self)) return true;
    const last = this.heartbeats.get(toKey(address));
    const minHeight = this.round === 0 ? this.height - 1n : this.height;
    return last !== undefined && last.height >= minHeight && last.atMs >= this.countsFromMs;
  }

  members(): readonly Member[] {
    return this.validators.map((address) => ({
      address,
      lastHeard: this.heartbeats.get(toKey(address)),
      isPresent: this.isPresent(address),
      missedTurns: this.missedTurns.get(toKey(address)) ?? 0,
    }));
  }

  private note(address: Address, heartbeat: Heartbeat): void {
    if (includesBytes(this.validators, address)) this.heartbeats.set(toKey(address), heartbeat);
  }
}

/** Drops the entries of other addresses. */
function keepOnly(addresses: readonly Address[], ...maps: readonly Map<string, unknown>[]): void {
  const keys = new Set(addresses.map(toKey));
  for (const map of maps) for (const key of map.keys()) if (!keys.has(key)) map.delete(key);
}
